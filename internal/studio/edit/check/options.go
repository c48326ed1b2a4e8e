package check

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/ncsa/clowder-ray/internal/text"
)

//go:embed options.json
var table []byte

// Option is an option of a training as a settings file names it.
type Option struct {
	Name string `json:"name"`
	// Group is its section; the name is unique without it.
	Group string `json:"group"`
	// Type is string, boolean, integer or number.
	Type    string   `json:"type"`
	Default any      `json:"default"`
	Choices []string `json:"enum,omitempty"`
	Minimum *float64 `json:"minimum,omitempty"`
	Maximum *float64 `json:"maximum,omitempty"`
	Help    string   `json:"description"`
}

// Options returns all options of a training.
func Options() []Option {
	var options []Option
	if err := json.Unmarshal(table, &options); err != nil {
		panic(err) // built in, and held by a test
	}
	return options
}

// entry is one name of a settings file and what stands beside it.
type entry struct {
	name  string // with its group, as it was written
	at    place  // of the last part of the name
	width int    // of that part, in characters
	value value
}

type kind int

const (
	textual kind = iota // a text, or a number or a truth as it was written
	truth
	nothing
	list
	group
)

type value struct {
	kind  kind
	text  string
	at    place
	width int
}

// checkOptions finds what the trainer ignores or refuses in the entries of a settings file.
func checkOptions(entries []entry) []Finding {
	options := make(map[string]Option)
	for _, o := range Options() {
		options[o.Name] = o
	}
	var findings []Finding
	given := make(map[string]entry)
	for _, e := range entries {
		if len(findings) >= maxFindings {
			break
		}
		plain := strings.ReplaceAll(strings.ToLower(strings.TrimSpace(e.name)), "-", "_")
		if plain == ofTheService {
			continue
		}
		short := plain[strings.LastIndexByte(plain, '.')+1:]
		o, known := options[short]
		if !known || plain != short && plain != o.Group+"."+short {
			findings = append(findings, unknown(e, o, known, options))
			continue
		}
		if e.value.kind == nothing || e.value.kind == textual && e.value.text == "" {
			continue
		}
		if before, twice := given[short]; twice && before.value.text != e.value.text {
			findings = append(findings, Finding{
				Line: e.at.line, Column: e.at.column, EndColumn: e.at.column + e.width, Severity: Error,
				Message: fmt.Sprintf("%s is set twice with different values, the first time in line %d: remove one of them.", o.Name, before.at.line),
			})
			continue
		}
		given[short] = e
		if must := o.refuses(e.value); must != "" {
			findings = append(findings, Finding{
				Line: e.value.at.line, Column: e.value.at.column, EndColumn: e.value.at.column + e.value.width, Severity: Error,
				Message: fmt.Sprintf("%s must be %s, not %s.", o.Name, must, e.value.shown()), Instead: o.nearest(e.value),
			})
		}
	}
	return findings
}

// ofTheService is the name of a line that the service reads and the trainer does not.
const ofTheService = "automatic"

func unknown(e entry, o Option, known bool, options map[string]Option) Finding {
	f := Finding{Line: e.at.line, Column: e.at.column, EndColumn: e.at.column + e.width, Severity: Warning}
	last := e.name[strings.LastIndexByte(e.name, '.')+1:]
	shown := text.Excerpt(last, 60)
	if known { // in the wrong group
		where := "at the top, in no group"
		if o.Group != "" {
			where = "in the group " + o.Group
		}
		f.Message = fmt.Sprintf("The option %s is %s, so it is ignored here.", o.Name, where)
		return f
	}
	names := make([]string, 0, len(options))
	for name := range options {
		names = append(names, name)
	}
	if f.Instead = nearest(strings.ToLower(last), names); f.Instead != "" {
		f.Message = fmt.Sprintf("There is no option %s: do you mean %s?", shown, f.Instead)
		return f
	}
	f.Message = fmt.Sprintf("There is no option %s: it is ignored.", shown)
	return f
}

// refuses returns what the value must be, empty if it is right. It follows the trainer.
func (o *Option) refuses(v value) string {
	switch {
	case v.kind == list || v.kind == group:
		return "a single value"
	case len(o.Choices) > 0:
		if o.choice(v) == "" {
			return "one of " + strings.Join(o.Choices, ", ")
		}
	case o.Type == "boolean":
		switch strings.ToLower(v.text) {
		case "true", "yes", "on", "1", "false", "no", "off", "0":
		default:
			return "true or false"
		}
	case o.Type == "integer" || o.Type == "number":
		n, ok := number(v)
		if !ok || o.Minimum == nil || o.Maximum == nil || n < *o.Minimum || n > *o.Maximum || o.Type == "integer" && n != math.Trunc(n) {
			return o.limits()
		}
	}
	return ""
}

func (o *Option) choice(v value) string {
	written := strings.ToLower(v.text)
	if v.kind == truth { // YAML reads yes and no as truths
		written = map[bool]string{true: "yes", false: "no"}[isTrue(written)]
	}
	for _, c := range o.Choices {
		if strings.EqualFold(c, written) {
			return c
		}
	}
	return ""
}

func isTrue(word string) bool { return word == "true" || word == "yes" || word == "on" }

func (o *Option) limits() string {
	kind := "a number"
	if o.Type == "integer" {
		kind = "a whole number"
	}
	if o.Minimum == nil || o.Maximum == nil {
		return kind
	}
	return fmt.Sprintf("%s from %s to %s", kind, written(*o.Minimum), written(*o.Maximum))
}

func written(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// wholeYAML is a whole number that YAML 1.1, which the trainer reads, writes with another base than ten.
var wholeYAML = regexp.MustCompile(`^([-+]?)0(b[01]+|x[0-9a-fA-F]+|[0-7]+)$`)

// number reads a number as the trainer does: by YAML 1.1, or else by Python's float.
func number(v value) (float64, bool) {
	if v.kind == truth {
		return 0, false
	}
	plain := strings.ReplaceAll(strings.TrimSpace(v.text), "_", "")
	if wholeYAML.MatchString(plain) {
		n, err := strconv.ParseInt(plain, 0, 64) // it reads a leading zero as base eight, too
		return float64(n), err == nil
	}
	if strings.ContainsAny(plain, "xX") { // Go's fractions in base sixteen
		return 0, false
	}
	n, err := strconv.ParseFloat(plain, 64)
	return n, err == nil && !math.IsNaN(n) && !math.IsInf(n, 0)
}

// nearest returns the choice that a wrong value is nearest to, or the nearer limit of a number.
func (o *Option) nearest(v value) string {
	if v.kind == list || v.kind == group {
		return ""
	}
	if len(o.Choices) > 0 {
		return nearest(strings.ToLower(v.text), o.Choices)
	}
	n, ok := number(v)
	switch {
	case !ok || o.Minimum == nil || o.Maximum == nil:
		return ""
	case n < *o.Minimum:
		return written(*o.Minimum)
	case n > *o.Maximum:
		return written(*o.Maximum)
	}
	return ""
}

func (v value) shown() string {
	switch v.kind {
	case list:
		return "a list"
	case group:
		return "a group of options"
	case textual, truth, nothing:
	}
	return text.Excerpt(v.text, 40)
}

// nearest returns the word with the fewest changed letters, if they are few; two letters that changed places count as one.
func nearest(written string, words []string) string {
	best, least := "", len(written)/3+1
	if len(written) > 64 {
		return ""
	}
	for _, word := range words {
		if d := distance(written, word); d < least || d == least && (best == "" || word < best) {
			best, least = word, d
		}
	}
	return best
}

// distance counts the letters to insert, remove, replace or swap with their neighbour.
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
