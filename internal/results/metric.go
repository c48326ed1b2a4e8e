package results

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ncsa/clowder-ray/internal/text"
)

// Metric is what a metric is, as the trainer says it: no other program knows the metrics of a kind of data.
type Metric struct {
	// Name is the key in metrics.json, Title the name inside of a sentence.
	Name      string    `json:"name" minLength:"1" maxLength:"200"`
	Title     string    `json:"title" minLength:"1" maxLength:"200"`
	Direction Direction `json:"direction" enum:"higher,lower"`
	// Unit is what the value counts, empty for a share and for other plain numbers.
	Unit string `json:"unit,omitempty" maxLength:"200"`
	// Judges says that the metric grades a model. Where none does, the one that chose the model grades it.
	Judges bool `json:"judges,omitempty"`
}

// Direction says which values of a metric are better.
type Direction string

// The directions.
const (
	Higher Direction = "higher"
	Lower  Direction = "lower"
)

const (
	// maxMetrics is how many metrics a result describes.
	maxMetrics = 64
	// maxTitle is how many characters of a title are shown.
	maxTitle = 60
)

// MetricList is the metrics of a result, the most important one first.
type MetricList []Metric

// Named returns the metric of that name. One that the trainer did not describe is what results before schema 3 meant by the name, or is
// called by its name; then higher values are better.
func (l MetricList) Named(name string) Metric {
	for _, list := range []MetricList{l, earlierMetrics} {
		if i := slices.IndexFunc(list, func(m Metric) bool { return m.Name == name }); i >= 0 {
			return list[i]
		}
	}
	return Metric{Name: name, Title: strings.ReplaceAll(name, "_", " "), Direction: Higher}
}

// Compare orders the names of metrics by their importance. Those that the list lacks come last.
func (l MetricList) Compare(a, b string) int {
	place := func(name string) int {
		if i := slices.IndexFunc(l, func(m Metric) bool { return m.Name == name }); i >= 0 {
			return i
		}
		return len(l)
	}
	return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a, b))
}

// Named describes a metric where no list is known: see MetricList.Named.
func Named(name string) Metric { return MetricList(nil).Named(name) }

// Stored describes a metric from what the registry keeps of it. A version that was registered before schema 3 has only its name.
func Stored(name, title, direction, unit string) Metric {
	if title == "" {
		return Named(name)
	}
	return Metric{Name: name, Title: title, Direction: Direction(direction), Unit: unit}
}

// Named describes a metric of the result.
func (r *Result) Named(name string) Metric { return r.Described.Named(name) }

// Words is the metric as people write it inside of a sentence.
func (m Metric) Words() string {
	return text.Shorten(Plain(m.Title, Plain(m.Name, "metric")), maxTitle)
}

// Head is Words at the beginning of a sentence.
func (m Metric) Head() string { return text.Capital(m.Words()) }

// LowerIsBetter reports whether lower values are better.
func (m Metric) LowerIsBetter() bool { return m.Direction == Lower }

// IsBetter reports whether a is a better value than b.
func (m Metric) IsBetter(a, b float64) bool {
	if m.LowerIsBetter() {
		return a < b
	}
	return a > b
}

// Figure writes a value: plain numbers with three digits behind the point, those with a unit with four digits in all.
func (m Metric) Figure(v float64) string { return figure(v, m.Unit != "") }

// Interval writes an interval.
func (m Metric) Interval(low, high float64) string { return Interval(low, high, m.Figure) }

// Share writes a share or another plain number.
func Share(v float64) string { return figure(v, false) }

// Interval writes an interval whose ends are written by words.
func Interval(low, high float64, words func(float64) string) string {
	if low < 0 {
		return words(low) + " to " + words(high) // a dash would read as one more minus
	}
	return words(low) + "–" + words(high)
}

func figure(v float64, hasUnit bool) string {
	size := math.Abs(v)
	digits := 3
	if hasUnit || size >= 1000 {
		if size == 0 {
			return "0"
		}
		if size < 1e-3 || size >= 1e9 {
			return strconv.FormatFloat(v, 'g', 4, 64)
		}
		digits = max(0, 3-int(math.Floor(math.Log10(size))))
	}
	if digits == 0 {
		return text.Number(int64(math.Round(v)))
	}
	words := strconv.FormatFloat(v, 'f', digits, 64)
	if strings.Trim(words, "-0.") == "" {
		return strings.TrimPrefix(words, "-") // nothing is below nothing
	}
	return words
}

// FirstScore is the score that a person asks for first in scores: the first one in the order of the metrics.
func (r *Result) FirstScore(scores Scores) (string, Score, bool) {
	for _, m := range r.Described {
		if s, ok := scores[m.Name]; ok && s.N > 0 {
			return m.Name, s, true
		}
	}
	return "", Score{}, false
}
