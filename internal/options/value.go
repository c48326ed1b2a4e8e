package options

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/ncsa/clowder-ray/internal/text"
)

// MaxText is the length in characters of the longest text of an option.
const MaxText = 10_000

// Shape is what kind of value stands beside a name.
type Shape int

// Numbers are texts as they were written.
const (
	Text Shape = iota
	Truth
	Nothing
	List
	Group
)

// Value is a value as a source has it.
type Value struct {
	Shape Shape
	Text  string
	// Bare says that YAML has the text without quotes: yes and no are truths there, and whole numbers may have other bases.
	Bare bool
}

// IsEmpty reports whether the value leaves the option to the next source.
func (v Value) IsEmpty() bool { return v.Shape == Nothing || v.Shape == Text && v.Text == "" }

// ValueOf returns a value of JSON, or one that Parse returned.
func ValueOf(raw any) Value {
	switch v := raw.(type) {
	case nil:
		return Value{Shape: Nothing}
	case string:
		return Value{Text: strings.TrimSpace(v)}
	case bool:
		return Value{Shape: Truth, Text: strconv.FormatBool(v)}
	case json.Number:
		return Value{Text: v.String()}
	case float64:
		return Value{Text: written(v)}
	case int64:
		return Value{Text: strconv.FormatInt(v, 10)}
	case int:
		return Value{Text: strconv.Itoa(v)}
	case []any:
		return Value{Shape: List}
	default:
		return Value{Shape: Group}
	}
}

// Parse returns the value as the type of the option: a string, bool, int64 or float64. The error ends a sentence that begins with the name of
// the option: "must be a number from 0 to 1".
func (o *Option) Parse(v Value) (any, error) {
	switch {
	case v.Shape == List || v.Shape == Group:
		return nil, errors.New("must be a single value")
	case len(o.Choices) > 0:
		return o.choice(v)
	case o.Type == Boolean:
		return truth(v)
	case o.Type == String:
		return plain(v)
	default:
		return o.number(v)
	}
}

func plain(v Value) (any, error) {
	switch {
	case v.Shape == Truth:
		return nil, errors.New("must be text")
	case text.Shorten(v.Text, MaxText) != v.Text:
		return nil, fmt.Errorf("must not be longer than %d characters", MaxText)
	default:
		return v.Text, nil
	}
}

// mostChoices is how many choices a sentence lists.
const mostChoices = 20

// choice returns the choice in the letters of the table. A truth is yes or no, as YAML means them.
func (o *Option) choice(v Value) (any, error) {
	word := v.Text
	if v.Shape == Truth || v.Bare && truthYAML[v.Text] {
		word = map[bool]string{true: "yes", false: "no"}[isTrue(v.Text)]
	}
	for _, c := range o.Choices {
		if strings.EqualFold(c, word) {
			return c, nil
		}
	}
	if len(o.Choices) == 1 {
		return nil, fmt.Errorf("must be %s, which is the only choice here", o.Choices[0])
	}
	if rest := len(o.Choices) - mostChoices; rest > 0 {
		return nil, fmt.Errorf("must be one of %s or %s", strings.Join(o.Choices[:mostChoices], ", "), text.Count(rest, "other"))
	}
	return nil, fmt.Errorf("must be one of %s", strings.Join(o.Choices, ", "))
}

// truthYAML has the words that YAML 1.1 takes for a truth where no quotes are around them.
var truthYAML = func() map[string]bool {
	words := make(map[string]bool)
	for _, word := range []string{"yes", "no", "true", "false", "on", "off"} {
		words[word], words[strings.ToUpper(word)], words[text.Capital(word)] = true, true, true
	}
	return words
}()

func isTrue(word string) bool {
	word = strings.ToLower(word)
	return word == "true" || word == "yes" || word == "on"
}

func truth(v Value) (any, error) {
	switch strings.ToLower(v.Text) {
	case "true", "yes", "on", "1":
		return true, nil
	case "false", "no", "off", "0":
		return false, nil
	}
	if n, ok := number(v); ok && (n == 0 || n == 1) {
		return n == 1, nil
	}
	return nil, errors.New("must be true or false")
}

func (o *Option) number(v Value) (any, error) {
	n, ok := number(v)
	if !ok || o.Minimum != nil && n < *o.Minimum || o.Maximum != nil && n > *o.Maximum {
		return nil, errors.New("must be " + o.limits())
	}
	if o.Type == Number {
		return n, nil
	}
	// Beyond 2^53 a float64 cannot represent all whole numbers, so the value would differ from what was written.
	if n != math.Trunc(n) || math.Abs(n) > 1<<53 {
		return nil, errors.New("must be " + o.limits())
	}
	return int64(n), nil
}

func (o *Option) limits() string {
	kind := "a number"
	if o.Type == Integer {
		kind = "a whole number"
	}
	switch {
	case o.Minimum != nil && o.Maximum != nil:
		return fmt.Sprintf("%s from %s to %s", kind, written(*o.Minimum), written(*o.Maximum))
	case o.Minimum != nil:
		return fmt.Sprintf("%s of at least %s", kind, written(*o.Minimum))
	case o.Maximum != nil:
		return fmt.Sprintf("%s of at most %s", kind, written(*o.Maximum))
	default:
		return kind
	}
}

var (
	// otherBase is a whole number that YAML 1.1 has in another base than ten.
	otherBase = regexp.MustCompile(`^([-+]?)0(b[01]+|x[0-9a-fA-F]+|[0-7]+)$`)
	// betweenDigits are the underscores that may stand in a number.
	betweenDigits = regexp.MustCompile(`([0-9a-fA-F])_([0-9a-fA-F])`)
)

// number reads a finite number.
func number(v Value) (float64, bool) {
	if v.Shape != Text {
		return 0, false
	}
	digits := betweenDigits.ReplaceAllString(betweenDigits.ReplaceAllString(v.Text, "$1$2"), "$1$2") // matches do not overlap: 1_2_3
	if v.Bare && otherBase.MatchString(digits) {
		n, err := strconv.ParseInt(digits, 0, 64) // it reads a leading zero as base eight, too
		return float64(n), err == nil
	}
	if strings.ContainsAny(digits, "xX_") { // Go's fractions in base sixteen
		return 0, false
	}
	n, err := strconv.ParseFloat(digits, 64)
	return n, err == nil && !math.IsNaN(n) && !math.IsInf(n, 0)
}

// written is a number without an exponent, unless it would be very long.
func written(n float64) string {
	format := byte('f')
	if size := math.Abs(n); size >= 1e15 || size < 1e-6 && size > 0 {
		format = 'e'
	}
	return strconv.FormatFloat(n, format, -1, 64)
}

// Shown is a wrong value as a sentence repeats it.
func (v Value) Shown() string {
	switch v.Shape {
	case List:
		return "a list"
	case Group:
		return "a group of options"
	case Nothing:
		return "nothing"
	case Text, Truth:
	}
	return text.Excerpt(v.Text, 40)
}
