package chart

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
)

// pixels is how many pixels of a picture have each colour.
type pixels map[color.RGBA]int

func (p pixels) of(hex string) int {
	colour := color.RGBA{A: 0xff}
	if _, err := fmt.Sscanf(hex, "#%02x%02x%02x", &colour.R, &colour.G, &colour.B); err != nil {
		panic(err)
	}
	return p[colour]
}

// picture decodes what was written, checks its size and counts its colours.
func picture(t *testing.T, write func(w *bytes.Buffer) error) pixels {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, write(&out))
	decoded, err := png.Decode(&out)
	require.NoError(t, err)
	require.Equal(t, image.Pt(PNGWidth, PNGHeight), decoded.Bounds().Size())
	flat := image.NewRGBA(decoded.Bounds())
	draw.Draw(flat, flat.Bounds(), decoded, image.Point{}, draw.Src)
	counts := map[uint32]int{}
	for i := 0; i < len(flat.Pix); i += 4 {
		counts[binary.BigEndian.Uint32(flat.Pix[i:])]++
	}
	got := pixels{}
	for v, n := range counts {
		got[color.RGBA{R: byte(v >> 24), G: byte(v >> 16), B: byte(v >> 8), A: byte(v)}] = n
	}
	return got
}

func TestThePictureOfTheLossHasItsLines(t *testing.T) {
	t.Parallel()
	steps, train, valid := []Point{{0.5, 3}, {1, 2}}, []Point{{1, 2}, {2, 1}}, []Point{{1, 2.5}, {2, 2}}
	for name, tc := range map[string]struct {
		curves Curves
		drawn  []string
	}{
		"steps":              {Curves{Steps: steps, Epochs: 1}, []string{colourTrain}},
		"training":           {Curves{TrainLoss: train, Epochs: 2}, []string{colourTrain}},
		"steps and training": {Curves{Steps: []Point{{0.5, 3}, {1.5, 3}}, TrainLoss: train, Epochs: 2}, []string{colourSteps, colourTrain}},
		"validation":         {Curves{ValidationLoss: valid, Epochs: 2}, []string{colourValidation}},
		"one point":          {Curves{ValidationLoss: valid[:1], Epochs: 1}, []string{colourValidation}},
		"the best model":     {Curves{TrainLoss: train, Best: 1.5, Epochs: 2}, []string{colourTrain, colourBest}},
		"a restart":          {Curves{TrainLoss: train, Resumes: []float64{1.25, 1.75}, Epochs: 2}, []string{colourTrain, colourResume}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := picture(t, func(w *bytes.Buffer) error { return WritePNG(w, Loss(tc.curves)) })
			drawn := map[string]bool{}
			for _, colour := range tc.drawn {
				drawn[colour] = true
			}
			for _, colour := range []string{colourSteps, colourTrain, colourValidation, colourBest, colourResume} {
				require.Equal(t, drawn[colour], got.of(colour) > 20, colour)
			}
			require.Positive(t, got.of("#ffffff"), "the ground is white")
		})
	}
}

func TestThePictureOfPredictionsHasADotForEachRow(t *testing.T) {
	t.Parallel()
	draw := func(pairs [][]float64) pixels {
		return picture(t, func(w *bytes.Buffer) error { return WritePNG(w, Predicted(&results.Regression{Points: pairs})) })
	}
	few, many := draw([][]float64{{1, 1}, {2, 3}}), draw(manyPairs(50))
	require.Greater(t, few.of(colourTrain), 100)
	require.Greater(t, many.of(colourTrain), 4*few.of(colourTrain))
	for _, p := range []pixels{few, many} {
		require.Positive(t, p.of(colourBest), "the line on which predictions are correct")
	}
}

func TestThePictureOfAMatrixIsDarkWhereItsRowsAre(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 5, 6, 21, 1000} {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			t.Parallel()
			r := &results.Result{}
			resultstest.ManyClasses(r, n, func(i int) string { return fmt.Sprintf("class %d", i) })
			for i := range r.Confusion { // every row is predicted right
				clear(r.Confusion[i])
				r.Confusion[i][i] = 1 + i
			}
			got := picture(t, func(w *bytes.Buffer) error { return WriteConfusionPNG(w, NewMatrix(r)) })
			dark, light := got.of(shades[10]), got.of(shades[0])
			require.Positive(t, dark)
			shown := min(n, MaxMatrixClasses+1)
			require.InDelta(t, float64(shown-1), float64(light)/float64(dark), 0.5*float64(shown), "one cell of each line is dark")
		})
	}
}

func TestThePictureOfAMatrixWithoutRowsIsLight(t *testing.T) {
	t.Parallel()
	r := &results.Result{Model: results.Model{Labels: []string{"a", "b"}}, Confusion: [][]int{{0, 0}, {0, 0}}}
	m := NewMatrix(r)
	for _, row := range m.Rows {
		for _, cell := range row.Cells {
			require.Equal(t, []any{"0", 0.0, 0}, []any{cell.Count, cell.Share, cell.Shade})
		}
	}
	got := picture(t, func(w *bytes.Buffer) error { return WriteConfusionPNG(w, m) })
	require.Positive(t, got.of(shades[0]))
	require.Zero(t, got.of(shades[10]))
}

func TestACellOfAMatrixSaysItsShare(t *testing.T) {
	t.Parallel()
	r := &results.Result{Model: results.Model{Labels: []string{"cat", "dog"}}, Confusion: [][]int{{1995, 5}, {1, 2}}}
	m := NewMatrix(r)
	require.False(t, m.Wide)
	require.Equal(t, []string{"cat", "dog"}, m.Heads)
	for name, tc := range map[string]struct {
		got   cell
		want  cell
		title string
	}{
		"nearly all":  {m.Rows[0].Cells[0], cell{Count: "1,995", N: 1995, Share: 0.9975, Shade: 10, Percent: "100 %", Hit: true}, "cat predicted as cat: 100 %"},
		"nearly none": {m.Rows[0].Cells[1], cell{Count: "5", N: 5, Share: 0.0025, Percent: "0 %"}, "cat predicted as dog: 0 %"},
		"a third":     {m.Rows[1].Cells[0], cell{Count: "1", N: 1, Share: 1.0 / 3, Shade: 3, Percent: "33 %"}, "dog predicted as cat: 33 %"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.want.Title = tc.title
			require.Equal(t, tc.want, tc.got)
		})
	}
}

func TestTheColumnsOfAMatrixHaveNamesThatFit(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		labels []string
		heads  []string
		rows   []string
	}{
		"short names of many classes": {[]string{"a", "b", "c", "d", "e", "f"}, []string{"a", "b", "c", "d", "e", "f"}, []string{"a", "b", "c", "d", "e", "f"}},
		"long names of many classes":  {[]string{"alpha", "b", "c", "d", "e", "f"}, []string{"1", "2", "3", "4", "5", "6"}, []string{"alpha · 1", "b · 2", "c · 3", "d · 4", "e · 5", "f · 6"}},
		"long names of two":           {[]string{"first class", "second class"}, []string{"first class", "second class"}, []string{"first class", "second class"}},
		"names that become the same":  {[]string{"a\u202eb", "ab"}, []string{"1", "2"}, []string{"ab · 1", "ab · 2"}},
		"two names that are empty":    {[]string{"", " "}, []string{"1", "2"}, []string{" · 1", " · 2"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &results.Result{}
			resultstest.ManyClasses(r, len(tc.labels), func(i int) string { return tc.labels[i] })
			m := NewMatrix(r)
			require.Equal(t, tc.heads, m.Heads)
			var rows []string
			for _, row := range m.Rows {
				rows = append(rows, row.Label)
			}
			require.Equal(t, tc.rows, rows)
		})
	}
}
