package results

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ncsa/clowder-ray/internal/results/section"
)

// The contract of result.json is written from the types of this package: see TestTheSchemasAreWrittenFromTheTypes. The tag of a field says
// what its value may be. This file has the lists and maps whose elements no tag can describe; what is said here is theirs.

const (
	// maxLabels is how many labels there are at most, and so rows and columns of a confusion matrix.
	maxLabels = 10_000
	// maxSeriesPoints is how many points a series of a script has at most.
	maxSeriesPoints = 2_000
)

// Counts maps a name to a number of rows.
type Counts map[string]int

// Figures maps the name of a metric to its value.
type Figures map[string]float64

// Options maps the name of an option to its value.
type Options map[string]any

// Confusion counts rows by true label and predicted label.
type Confusion [][]int

// Pairs are points of two numbers.
type Pairs [][]float64

// Curve has points of two shares.
type Curve [][]float64

// Losses are points of an epoch, a training loss and a validation loss.
type Losses [][]float64

// ScriptSeries maps a name to pairs of step and value.
type ScriptSeries map[string][][]float64

// Samples are rows of the data.
type Samples []Example

// Mistakes are test rows that the model got wrong. Their labels can be doubted.
type Mistakes []Example

// Unsure are test rows with the least sure answers.
type Unsure []Example

// Answered are rows of a prediction, which need no label.
type Answered []Example

// Schema says what a count is.
func (Counts) Schema(huma.Registry) *huma.Schema { return mapOf(count()) }

// Schema says what a value is.
func (Figures) Schema(huma.Registry) *huma.Schema { return mapOf(number()) }

// Schema says what an option can be.
func (Options) Schema(huma.Registry) *huma.Schema {
	return mapOf(&huma.Schema{Extensions: map[string]any{"type": []string{huma.TypeNumber, huma.TypeString, huma.TypeBoolean}}})
}

// Schema says what a row is.
func (Confusion) Schema(huma.Registry) *huma.Schema {
	return listOf(&huma.Schema{Type: huma.TypeArray, Items: count(), MaxItems: new(maxLabels)})
}

// Schema says what a point is.
func (Pairs) Schema(huma.Registry) *huma.Schema { return listOf(point(2, number())) }

// Schema says what a point is.
func (Curve) Schema(huma.Registry) *huma.Schema { return listOf(point(2, share())) }

// Schema says what a point is.
func (Losses) Schema(huma.Registry) *huma.Schema { return listOf(point(3, number())) }

// Schema says what a series is.
func (ScriptSeries) Schema(huma.Registry) *huma.Schema {
	series := listOf(point(2, number()))
	series.MaxItems = new(maxSeriesPoints)
	return mapOf(series)
}

// Schema says that a sample has a label and no answer.
func (Samples) Schema(r huma.Registry) *huma.Schema {
	return examples(r, []string{"label"}, "predicted", "confidence", "label_doubted")
}

// Schema says that a mistake has a label and an answer.
func (Mistakes) Schema(r huma.Registry) *huma.Schema {
	return examples(r, []string{"label", "predicted"})
}

// Schema says that such a row has a label and an answer, and that no label is doubted.
func (Unsure) Schema(r huma.Registry) *huma.Schema {
	return examples(r, []string{"label", "predicted"}, "label_doubted")
}

// Schema says that such a row has an answer.
func (Answered) Schema(r huma.Registry) *huma.Schema {
	return examples(r, []string{"predicted"}, "label_doubted")
}

// examples is the schema of a list of examples that have some properties more than all, and lack others.
func examples(r huma.Registry, required []string, without ...string) *huma.Schema {
	example := huma.SchemaFromType(r, reflect.TypeFor[Example]())
	example.Required = append(example.Required, required...)
	for _, name := range without {
		delete(example.Properties, name)
	}
	return listOf(example)
}

func listOf(items *huma.Schema) *huma.Schema { return &huma.Schema{Type: huma.TypeArray, Items: items} }

func mapOf(values *huma.Schema) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: values}
}

func point(size int, of *huma.Schema) *huma.Schema {
	return &huma.Schema{Type: huma.TypeArray, Items: of, MinItems: &size, MaxItems: &size}
}

func count() *huma.Schema {
	return &huma.Schema{Type: huma.TypeInteger, Minimum: new(0.0), Maximum: new(float64(section.MaxCount))}
}

func number() *huma.Schema {
	return &huma.Schema{Type: huma.TypeNumber, Minimum: new(-section.MaxNumber), Maximum: new(section.MaxNumber)}
}

// share is 0 to 1, with some room for rounding.
func share() *huma.Schema {
	return &huma.Schema{Type: huma.TypeNumber, Minimum: new(-1e-6), Maximum: new(1.000001)}
}

// requiredOf are the properties of a result of each kind.
var requiredOf = map[ResultKind][]string{
	ResultTraining:   {"metric", "best_epoch", "best_step", "metrics", "model", "data", "training"},
	ResultPrediction: {"prediction"},
	ResultCheck:      {"data"},
	ResultScript:     {"script"},
}

// TransformSchema adds which properties a result of each kind has.
func (*Result) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	var rules []map[string]any
	for _, kind := range []ResultKind{ResultTraining, ResultPrediction, ResultCheck, ResultScript} {
		rules = append(rules, map[string]any{
			"if":   map[string]any{"properties": map[string]any{"kind": map[string]any{"const": kind}}},
			"then": map[string]any{"required": requiredOf[kind]},
		})
	}
	s.Extensions = map[string]any{"allOf": rules}
	return s
}

// TransformSchema says that nobody need have ended a script early.
func (*Script) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Properties["stopped"].Enum = append(s.Properties["stopped"].Enum, nil)
	return s
}
