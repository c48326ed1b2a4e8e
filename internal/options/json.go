package options

import (
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/ncsa/clowder-ray/internal/text"
)

// ReadJSON reads a text as JSON. Without settings only its syntax is checked.
func ReadJSON(source string, settings bool) ([]Entry, []Finding) {
	mark := len(source) - len(strings.TrimPrefix(source, "\ufeff"))
	var whole json.RawMessage
	if err := json.Unmarshal([]byte(source[mark:]), &whole); err != nil {
		at := len(source)
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			at = mark + int(syntax.Offset) - 1
			if at >= len(source)-1 && strings.HasPrefix(err.Error(), "unexpected end") {
				at = len(source)
			}
		}
		return nil, Fault(PlaceOf(source, at), text.Capital(text.Excerpt(err.Error(), 200))+".")
	}
	if !settings {
		return nil, nil
	}
	w := walker{source: source, at: mark, decoder: json.NewDecoder(strings.NewReader(source[mark:])), mark: mark}
	w.decoder.UseNumber()
	if token, _ := w.next(); token != json.Delim('{') {
		return nil, Fault(Place{1, 1}, "This is not an object with options: write {\"epochs\": 5}.")
	}
	w.object("")
	return w.entries, w.repeated
}

// walker reads the names and values of a valid JSON text with their places.
type walker struct {
	source   string
	decoder  *json.Decoder
	mark     int // bytes before the JSON
	at       int // the begin of the last token
	counted  int // bytes up to which line and column are counted
	line     int
	column   int
	entries  []Entry
	repeated []Finding
}

// next returns the next token and where it begins. The text is valid, so there is one.
func (w *walker) next() (json.Token, Place) {
	before := w.mark + int(w.decoder.InputOffset())
	token, err := w.decoder.Token()
	if err != nil {
		return nil, w.place(max(before, w.counted))
	}
	for before < len(w.source) && strings.ContainsRune(" \t\r\n,:", rune(w.source[before])) {
		before++
	}
	w.at = before
	return token, w.place(before)
}

// place returns the position of a byte that is not before the last one that was asked for, so that the text is counted once.
func (w *walker) place(offset int) Place {
	for _, r := range w.source[w.counted:offset] {
		if w.column++; r == '\n' {
			w.line, w.column = w.line+1, 0
		}
	}
	w.counted = offset
	return Place{w.line + 1, w.column + 1}
}

// object reads the rest of an object: its names with their values.
func (w *walker) object(outer string) {
	seen := make(map[string]bool)
	for w.decoder.More() {
		token, at := w.next()
		name, _ := token.(string)
		e := Entry{Name: name, At: at, Width: w.width()}
		if seen[name] && len(w.repeated) < MostFindings {
			w.repeated = append(w.repeated, mistake(at, e.Width, text.Excerpt(name, 60)+" appears twice: remove one of them."))
		}
		seen[name] = true
		first, place := w.next()
		if first == json.Delim('{') && outer == "" {
			w.object(name)
			continue
		}
		e.ValueAt, e.ValueWidth = place, w.width()
		if e.Value = ValueOf(first); e.Value.Shape == Group { // a token that opens a list or an object
			e.Value, e.ValueWidth = Value{Shape: List}, 1
			if first == json.Delim('{') {
				e.Value.Shape = Group
			}
			w.skip()
		}
		if outer != "" {
			e.Name = outer + "." + name
		}
		w.entries = append(w.entries, e)
	}
	w.next() // the end of the object
}

// skip reads to the end of a list or an object that has begun.
func (w *walker) skip() {
	for depth := 1; depth > 0; {
		token, err := w.decoder.Token()
		if err != nil {
			return
		}
		switch token {
		case json.Delim('['), json.Delim('{'):
			depth++
		case json.Delim(']'), json.Delim('}'):
			depth--
		}
	}
}

// width returns the characters of the last token.
func (w *walker) width() int {
	return utf8.RuneCountInString(w.source[w.at : w.mark+int(w.decoder.InputOffset())])
}
