package labels

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/text"
)

// form is how the labels of a list are written: one class, a number, or several labels.
type form struct {
	results.LabelForm
	// comma says that the labels of the dataset are numbers with a decimal comma. A training reads all of them in one way.
	comma bool
}

// largestNumber is the first number that a training does not read any more.
const largestNumber = 1e100

// formOf is the form of the labels of a prediction. A training wrote said, so anything that is no form is one class.
func formOf(said *results.LabelForm, inputs []job.Input) form {
	if said == nil {
		return form{}
	}
	f := form{LabelForm: *said}
	if f.Number {
		commas, points := 0, 0
		for _, in := range inputs {
			_, comma := number(in.Label, true)
			_, point := number(in.Label, false)
			switch {
			case comma && !point:
				commas++
			case point && !comma:
				points++
			}
		}
		f.Separator, f.None, f.comma = "", "", commas > points
	}
	return f
}

// number reads a number with a decimal point, or with a comma.
func number(written string, comma bool) (float64, bool) {
	if written = strings.TrimSpace(written); comma {
		if strings.Contains(written, ".") {
			return 0, false
		}
		written = strings.Replace(written, ",", ".", 1)
	}
	found, err := strconv.ParseFloat(written, 64)
	return found, err == nil && math.Abs(found) < largestNumber // which nothing is that is no number
}

// same is a label as it is shown and compared, in one way for all ways to write it; empty for none.
func (f form) same(label string) string {
	label = text.OneLine(strings.TrimSpace(label))
	switch {
	case f.Number:
		for _, comma := range []bool{f.comma, false} {
			if found, ok := number(label, comma); ok {
				return f.numeral(found)
			}
		}
		return label
	case f.Separator != "" && label != f.None:
		return f.joined(f.parts(label))
	default:
		return label
	}
}

// numeral is a number as the labels of the dataset are written.
func (f form) numeral(value float64) string {
	said := strconv.FormatFloat(value, 'f', -1, 64)
	if f.comma {
		return strings.Replace(said, ".", ",", 1)
	}
	return said
}

// parts are the labels of a set, each once and in order.
func (f form) parts(label string) []string {
	var found []string
	for part := range strings.SplitSeq(label, f.Separator) {
		if part = text.OneLine(strings.TrimSpace(part)); part != "" && part != f.None {
			found = append(found, part)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// joined is a set as a text.
func (f form) joined(parts []string) string {
	between := f.Separator + " "
	if f.Separator == "|" {
		between = " | "
	}
	return strings.Join(parts, between)
}

// read returns a label as it is compared and as it is written into metadata, or why it can be neither. A set is a list, which a training reads with
// semicolons between its labels; where the labels of the dataset have another separator, it is a text like them.
func (f form) read(label string) (same string, content any, err error) {
	same = f.same(label)
	switch {
	case f.Number && same != "":
		value, ok := number(same, f.comma)
		if !ok {
			return "", nil, refused("The label is no number.", "Write digits with a decimal point, such as 12.5, and without a unit.")
		}
		if f.comma {
			return same, same, nil
		}
		return same, value, nil
	case f.Separator != "" && same == "":
		return "", nil, refused("There is no label.", "Choose one or more of the labels"+f.orNone()+".")
	}
	if same, err = checked("label", same, maxLabel); err != nil {
		return "", nil, err
	}
	if f.Separator == ";" && same != f.None {
		return same, f.parts(same), nil
	}
	return same, same, nil
}

func (f form) orNone() string {
	if f.None == "" {
		return ""
	}
	return ", or none of them"
}
