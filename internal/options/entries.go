package options

import (
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/ncsa/clowder-ray/internal/text"
)

// MaxBytes is the size of the largest settings file.
const MaxBytes = 1 << 20

// Entry is one name of a source and its value.
type Entry struct {
	Name  string // with its group, as it was written
	At    Place  // of the last part of the name
	Width int    // of that part, in characters

	Value      Value
	ValueAt    Place
	ValueWidth int
}

// TooLarge is what is wrong with a file of more than MaxBytes.
func TooLarge() []Finding { return Fault(Place{}, "The file is larger than 1 MiB: shorten it.") }

// Read returns the entries of a settings file, by the ending of its name: JSON, literal Python, or else YAML. With an error among the findings
// the entries are not complete.
func Read(name, content string) ([]Entry, []Finding) {
	switch {
	case len(content) > MaxBytes:
		return nil, TooLarge()
	case !utf8.ValidString(content):
		return nil, Fault(Place{}, "The file is not UTF-8 text: save it in UTF-8.")
	}
	switch strings.ToLower(path.Ext(name)) {
	case ".json":
		return ReadJSON(content, true)
	case ".py":
		return readPython(content)
	default:
		return ReadYAML(content, true)
	}
}

// Lines returns the entries of a text of lines "name: value" or "name = value", where # begins a comment.
func Lines(content string) (entries []Entry, findings []Finding) {
	number := 0
	for line := range strings.Lines(content) {
		number++
		line, _, _ = strings.Cut(line, "#")
		if strings.TrimSpace(line) == "" {
			continue
		}
		at := strings.IndexAny(line, ":=")
		if at < 0 || strings.TrimSpace(line[:at]) == "" {
			findings = append(findings, Fault(Place{number, 1}, text.Excerpt(WithoutSecrets(line), 60)+
				" is not an option: write one in each line, for example training.seed: 7.")...)
			continue
		}
		value := strings.Trim(strings.TrimSpace(line[at+1:]), `"'`)
		indent := len(line) - len(strings.TrimLeft(line, " \t"))
		entries = append(entries, Entry{
			Name: strings.TrimSpace(line[:at]), At: Place{number, indent + 1}, Width: utf8.RuneCountInString(strings.TrimSpace(line[:at])),
			Value: Value{Text: strings.TrimSpace(value)}, ValueAt: PlaceOf(line, at+1), ValueWidth: utf8.RuneCountInString(value),
		})
		entries[len(entries)-1].ValueAt.Line = number
	}
	return entries, findings
}

// Setting is an option that a source sets.
type Setting struct {
	*Option
	Value any
	At    Place
}

// ofTheService is the name of a line that asks the service for automatic runs and is no option.
const ofTheService = "automatic"

// Check returns what entries set, and what the run ignores or refuses in them.
func (t Table) Check(entries []Entry) (settings []Setting, findings []Finding) {
	type counting struct {
		value any
		line  int
	}
	counts := make(map[string]counting)
	for _, e := range entries {
		plain := strings.ReplaceAll(strings.ToLower(strings.TrimSpace(e.Name)), "-", "_")
		if plain == ofTheService {
			continue
		}
		short := plain[strings.LastIndexByte(plain, '.')+1:]
		o := t.Named(short)
		if o == nil || plain != short && plain != o.Group+"."+short {
			if len(findings) >= MostFindings { // an error is kept in any case
				continue
			}
			f := t.unknown(e, o)
			if o == nil && !e.Value.IsEmpty() && !IsSecret(e.Name) && (e.Value.Shape == Text || e.Value.Shape == Truth) {
				f.option, f.value = short, WithoutSecrets(e.Value.Text)
			}
			findings = append(findings, f)
			continue
		}
		if e.Value.IsEmpty() {
			continue
		}
		value, err := o.Parse(e.Value)
		if err != nil {
			f := mistake(e.ValueAt, e.ValueWidth, fmt.Sprintf("%s %s, not %s.", o.Name, err, e.Value.Shown()))
			f.Instead = o.nearest(e.Value)
			findings = append(findings, f)
			continue
		}
		if before, twice := counts[short]; twice {
			if before.value != value {
				findings = append(findings, mistake(e.At, e.Width, fmt.Sprintf(
					"%s is set twice with different values, the first time in line %d: remove one of them.", o.Name, before.line)))
			}
			continue
		}
		counts[short] = counting{value, e.At.Line}
		settings = append(settings, Setting{o, value, e.At})
	}
	return settings, findings
}

// unknown is a warning about a name that is no option, or about an option that is in another group.
func (t Table) unknown(e Entry, o *Option) Finding {
	f := mistake(e.At, e.Width, "")
	f.Severity = Warning
	last := e.Name[strings.LastIndexByte(e.Name, '.')+1:]
	shown := text.Excerpt(last, 60)
	if o != nil {
		where := "at the top, in no group"
		if o.Group != "" {
			where = "in the group " + o.Group
		}
		f.Message = fmt.Sprintf("The option %s is %s, so it is ignored here.", o.Name, where)
		return f
	}
	if f.Instead = Nearest(strings.ToLower(last), t.Names()); f.Instead != "" {
		f.Message = fmt.Sprintf("There is no option %s: do you mean %s?", shown, f.Instead)
		return f
	}
	f.Message = fmt.Sprintf("There is no option %s: it is ignored.", shown)
	return f
}
