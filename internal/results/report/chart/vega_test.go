package chart

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
)

// vegaChart is what the tests read of a Vega-Lite specification.
type vegaChart struct {
	Schema, Title, Description string
	Width                      int
	Data                       struct{ Values []vegaValue }
	Layer                      []struct {
		Mark     json.RawMessage
		Data     struct{ Values []vegaValue }
		Encoding struct {
			X struct {
				Axis struct{ Values []float64 }
			}
			Color struct {
				Scale struct{ Domain, Range []any }
			}
		}
	}
}

type vegaValue struct {
	Series, Truth, Answer, Label string
	X, Y, Share                  float64
	Rows                         int
}

// lossVega is the loss chart as Clowder reads it.
func lossVega(t *testing.T, c Curves) vegaChart {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, WriteVega(&out, Loss(c)))
	return readVega(t, out.Bytes())
}

func readVega(t *testing.T, doc []byte) vegaChart {
	t.Helper()
	var v vegaChart
	require.NoError(t, json.Unmarshal(doc, &v))
	require.NotEmpty(t, v.Title)
	require.NotEmpty(t, v.Description)
	require.Equal(t, VegaWidth, v.Width)
	return v
}

// series counts the points of each line.
func (v vegaChart) series() map[string]int {
	n := map[string]int{}
	for _, value := range v.Data.Values {
		n[value.Series]++
	}
	return n
}

// rules are the places of the vertical lines with that label.
func (v vegaChart) rules(label string) []float64 {
	var at []float64
	for _, layer := range v.Layer {
		for _, value := range layer.Data.Values {
			if value.Label == label {
				at = append(at, value.X)
			}
		}
	}
	return at
}

func TestTheLossChartHasEachPointOfEachLineOnce(t *testing.T) {
	t.Parallel()
	steps := []Point{{0.5, 3}, {1, 2.5}, {1.5, 2}}
	train, valid := []Point{{1, 2.8}, {2, 2.1}}, []Point{{1, 2.9}, {2, 2.4}}
	for name, tc := range map[string]struct {
		curves Curves
		want   map[string]int
		best   []float64
		resume []float64
	}{
		"all lines":                {Curves{Steps: steps, TrainLoss: train, ValidationLoss: valid, Best: 2, Epochs: 2}, map[string]int{"each step": 3, "training": 2, "validation": 2}, []float64{2}, nil},
		"no evaluation yet":        {Curves{Steps: steps, Epochs: 2}, map[string]int{"training": 3}, nil, nil},
		"one point":                {Curves{ValidationLoss: valid[:1], Best: 1, Epochs: 1}, map[string]int{"validation": 1}, []float64{1}, nil},
		"two restarts":             {Curves{TrainLoss: train, Resumes: []float64{0.5, 1.25}, Epochs: 2}, map[string]int{"training": 2}, nil, []float64{0.5, 1.25}},
		"no best model is marked":  {Curves{TrainLoss: train, Best: 0, Epochs: 2}, map[string]int{"training": 2}, nil, nil},
		"best within its epoch":    {Curves{TrainLoss: train, Best: 1.33, Epochs: 2}, map[string]int{"training": 2}, []float64{1.33}, nil},
		"a loss below a hundredth": {Curves{TrainLoss: []Point{{1, 2e-5}, {2, 1e-5}}, Epochs: 2}, map[string]int{"training": 2}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := lossVega(t, tc.curves)
			require.Equal(t, tc.want, v.series())
			require.Equal(t, tc.best, v.rules("best"))
			require.Equal(t, tc.resume, v.rules("resumed"))
			require.Len(t, v.Layer[0].Encoding.Color.Scale.Range, len(v.Layer[0].Encoding.Color.Scale.Domain), "a colour for each line")
			require.Len(t, v.Layer[0].Encoding.Color.Scale.Domain, len(tc.want), "a line without points is not in the legend")
			for _, epoch := range v.Layer[0].Encoding.X.Axis.Values {
				require.Zero(t, epoch-math.Trunc(epoch))
			}
			losses := map[float64]bool{}
			for _, value := range v.Data.Values {
				losses[value.Y] = true
			}
			require.Equal(t, len(tc.want) > 0, len(losses) > 0)
			require.NotContains(t, losses, 0.0, "no loss of this table is 0")
		})
	}
}

func TestTheConfusionChartHasACellForEachPairOfClasses(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		classes, shown int
		texts          bool
	}{
		"one class":           {1, 1, true},
		"two classes":         {2, 2, true},
		"ten classes":         {10, 10, true},
		"eleven classes":      {11, 11, false},
		"as many as it shows": {MaxMatrixClasses, MaxMatrixClasses, false},
		"one more":            {MaxMatrixClasses + 1, MaxMatrixClasses + 1, false},
		"a thousand classes":  {1000, MaxMatrixClasses + 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &results.Result{}
			resultstest.ManyClasses(r, tc.classes, func(i int) string { return fmt.Sprintf("class %d", i) })
			m := NewMatrix(r)
			var out bytes.Buffer
			require.NoError(t, WriteConfusionVega(&out, m))
			v := readVega(t, out.Bytes())
			require.Len(t, v.Data.Values, tc.shown*tc.shown)
			require.Equal(t, tc.texts, strings.Contains(out.String(), `"mark": "text"`), "numbers where there is room for them")
			total, want := 0, 0
			cells := map[string]bool{}
			for _, cell := range v.Data.Values {
				total += cell.Rows
				cells[cell.Truth+"\x00"+cell.Answer] = true
				require.GreaterOrEqual(t, cell.Share, 0.0)
				require.LessOrEqual(t, cell.Share, 1.0)
			}
			for _, row := range r.Confusion {
				for _, n := range row {
					want += n
				}
			}
			require.Equal(t, want, total, "no row is lost")
			require.Len(t, cells, tc.shown*tc.shown, "no two cells lie on the same place")
		})
	}
}

// brokenDisk takes nothing.
type brokenDisk struct{}

var errDisk = errors.New("no space left on the disk")

func (brokenDisk) Write([]byte) (int, error) { return 0, errDisk }

func TestAChartThatCannotBeWrittenSaysSo(t *testing.T) {
	t.Parallel()
	r := goldenResult(t, results.ResultFile)
	c := Curves{TrainLoss: []Point{{1, 1}}, Epochs: 1}
	for name, write := range map[string]func(io.Writer) error{
		"the loss for Clowder":         func(w io.Writer) error { return WriteVega(w, Loss(c)) },
		"the confusion for Clowder":    func(w io.Writer) error { return WriteConfusionVega(w, NewMatrix(r)) },
		"the picture of the loss":      func(w io.Writer) error { return WritePNG(w, Loss(c)) },
		"the picture of the confusion": func(w io.Writer) error { return WriteConfusionPNG(w, NewMatrix(r)) },
		"the picture of the prediction": func(w io.Writer) error {
			return WritePNG(w, Predicted(&results.Regression{Points: [][]float64{{1, 2}}}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.ErrorIs(t, write(brokenDisk{}), errDisk)
		})
	}
}
