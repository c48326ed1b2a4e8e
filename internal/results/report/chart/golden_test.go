package chart

import (
	"bytes"
	"encoding/json"
	"image/png"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
	"github.com/ncsa/clowder-ray/internal/results/resultstest/golden"
)

func goldenResult(t *testing.T, name string) *results.Result {
	t.Helper()
	r, err := results.DecodeResult(resultstest.Golden(t, name))
	require.NoError(t, err)
	return r
}

func TestChartsOfTheGoldenResults(t *testing.T) {
	t.Parallel()
	for _, name := range []string{results.ResultFile, "result-regression.json", "result-image.json"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := goldenResult(t, name)
			c := NewCurves(resultstest.LikelyEvents(t, r), r)
			short := strings.TrimSuffix(name, ".json")
			var loss, confusion bytes.Buffer
			require.NoError(t, WriteVega(&loss, Loss(c)))
			golden.Require(t, "loss-"+short+".vl.json", loss.Bytes())
			if m := NewMatrix(r); m != nil {
				require.NoError(t, WriteConfusionVega(&confusion, m))
				golden.Require(t, "confusion-"+short+".vl.json", confusion.Bytes())
			}
			var drawn []SVG
			for _, ch := range []*Chart{Loss(c), Metric(c), Rate(c), Histogram("Text length", r.Data.Lengths)} {
				if ch != nil {
					drawn = append(drawn, ch.SVG())
				}
			}
			doc, err := json.MarshalIndent(drawn, "", " ")
			require.NoError(t, err)
			golden.Require(t, "svg-"+short+".json", append(doc, '\n'))
		})
	}
}

func TestEveryPartOfAChartLiesInsideIt(t *testing.T) {
	t.Parallel()
	for _, name := range []string{results.ResultFile, "result-regression.json", "result-image.json"} {
		r := goldenResult(t, name)
		c := NewCurves(resultstest.LikelyEvents(t, r), r)
		charts := []*Chart{Loss(c), Metric(c), Rate(c), Histogram("x", r.Data.Lengths)}
		if r.Binary != nil {
			charts = append(charts, ROC(r.Binary, ""), PrecisionRecall(r.Binary))
		}
		if r.Calibration != nil {
			charts = append(charts, Calibration(r.Calibration))
		}
		if r.Regression != nil {
			charts = append(charts, Predicted(r.Regression), Histogram("Errors", &r.Regression.Residuals))
		}
		for _, ch := range charts {
			if ch == nil {
				continue
			}
			requireInside(t, ch)
		}
	}
}

func TestChartsOfNothingAreNotDrawn(t *testing.T) {
	t.Parallel()
	require.Nil(t, Loss(Curves{}))
	require.Nil(t, Metric(Curves{MetricName: "accuracy"}))
	require.Nil(t, Metric(Curves{MetricName: "loss", Metric: []Point{{1, 1}}}), "the loss has a chart already")
	require.Nil(t, Rate(Curves{Rate: []Point{{1, 1}}}), "one value is no line")
	require.Nil(t, Histogram("x", nil))
	require.Nil(t, Histogram("x", &results.Histogram{}))
	require.Nil(t, Calibration(&results.Calibration{Bins: make([]results.CalibrationBin, 3)}))
	require.Nil(t, Predicted(&results.Regression{}))
	require.Nil(t, Predicted(nil))
	require.Nil(t, NewMatrix(&results.Result{}))
}

func TestTicksAreRoundAndFew(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		low, high float64
		n         int
		want      []float64
	}{
		"a share":           {0, 1, 5, []float64{0, 0.2, 0.4, 0.6, 0.8, 1}},
		"below nothing":     {-3, 3, 5, []float64{-2, 0, 2}},
		"far from nothing":  {1001, 1009, 4, []float64{1002, 1004, 1006, 1008}},
		"a very small span": {0, 2e-6, 4, []float64{0, 5e-7, 1e-6, 1.5e-6, 2e-6}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.InDeltaSlice(t, tc.want, niceTicks(tc.low, tc.high, tc.n), 1e-9*(tc.high-tc.low))
		})
	}
	require.Equal(t, []float64{0}, epochTicks(0.5))
	require.Equal(t, []float64{0, 1, 2, 3}, epochTicks(3), "epochs are whole")
}

func TestALongLineIsThinnedToItsMeans(t *testing.T) {
	t.Parallel()
	var line []Point
	for i := range 1000 {
		line = append(line, Point{float64(i), float64(i % 2)})
	}
	got := thin(line)
	require.LessOrEqual(t, len(got), 300)
	require.Less(t, got[len(got)-1].X, 1000.0)
	for i := 1; i < len(got); i++ {
		require.Greater(t, got[i].X, got[i-1].X)
	}
	require.Equal(t, line[:10], thin(line[:10]), "a short line stays")
}

func TestARareClassIsCountedAmongTheOthers(t *testing.T) {
	t.Parallel()
	r := &results.Result{}
	resultstest.ManyClasses(r, 40, func(i int) string { return strings.Repeat("k", 1+i) })
	m := NewMatrix(r)
	require.Len(t, m.Rows, MaxMatrixClasses+1)
	require.True(t, strings.HasPrefix(m.Rows[MaxMatrixClasses].Label, "20 others"), m.Rows[MaxMatrixClasses].Label)
	total := 0
	for _, row := range m.Rows {
		share := 0.0
		for _, c := range row.Cells {
			total += c.N
			share += c.Share
		}
		require.InDelta(t, 1, share, 1e-9)
	}
	require.Equal(t, 40*39/2+40, total, "no row is lost")
}

func TestPicturesAreTheSameEachTime(t *testing.T) {
	t.Parallel()
	r := goldenResult(t, "result-regression.json")
	c := NewCurves(resultstest.LikelyEvents(t, r), r)
	for name, write := range map[string]func(w *bytes.Buffer) error{
		"loss":      func(w *bytes.Buffer) error { return WritePNG(w, Loss(c)) },
		"predicted": func(w *bytes.Buffer) error { return WritePNG(w, Predicted(r.Regression)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var first, second bytes.Buffer
			require.NoError(t, write(&first))
			require.NoError(t, write(&second))
			require.Equal(t, first.Bytes(), second.Bytes())
			picture, err := png.DecodeConfig(&first)
			require.NoError(t, err)
			require.Equal(t, []int{PNGWidth, PNGHeight}, []int{picture.Width, picture.Height})
		})
	}
}
