package results

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDecodeRefusesWhatCannotBe(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		golden string
		change func(r *Result)
		text   string
	}{
		"a kind that nobody knows":       {ResultFile, func(r *Result) { r.Kind = "party" }, "kind"},
		"a check of another level":       {ResultFile, func(r *Result) { r.Checks[0].Level = "panic" }, "level"},
		"too many settings":              {ResultFile, func(r *Result) { r.Settings = make([]Setting, maxList+1) }, "settings"},
		"a model of another kind":        {ResultFile, func(r *Result) { r.Model.Kind = "sound" }, "kind"},
		"a name without an end":          {ResultFile, func(r *Result) { r.Model.Base = strings.Repeat("x", maxName+1) }, "model"},
		"a negative count":               {ResultFile, func(r *Result) { r.Data.Labels["negative"] = -1 }, "label"},
		"rows that overflow":             {ResultFile, func(r *Result) { r.Confusion[0][0] = maxCount + 1 }, "confusion"},
		"a histogram without its edges":  {ResultFile, func(r *Result) { r.Data.Lengths.Edges = r.Data.Lengths.Edges[1:] }, "histogram"},
		"edges that go back":             {ResultFile, func(r *Result) { r.Data.Lengths.Edges[0] = 1e9 }, "histogram"},
		"a share above one":              {ResultFile, func(r *Result) { r.Calibration.Bins[0].Accuracy = 1.5 }, "share"},
		"a curve with a lonely number":   {ResultFile, func(r *Result) { r.Binary.ROC[0] = []float64{1} }, "point"},
		"an interval upside down":        {ResultFile, func(r *Result) { *r.Metrics.Baselines[1].Test["accuracy"].Low = 1 }, "baseline"},
		"a champion without a name":      {ResultFile, func(r *Result) { r.Champion.Name = "" }, "champion"},
		"a worker of negative time":      {ResultFile, func(r *Result) { r.Training.PerWorker[0].CPUSeconds = -1 }, "worker"},
		"too many mistakes":              {ResultFile, func(r *Result) { r.Mistakes = make([]Example, maxShown+1) }, "mistakes"},
		"a picture that is none":         {"result-image.json", func(r *Result) { r.Unsure[0].Image = base64.StdEncoding.EncodeToString([]byte("<svg onload=x>")) }, "PNG"},
		"a picture with a tail":          {"result-image.json", func(r *Result) { r.Unsure[0].Image += `" onload="x` }, "PNG"},
		"a picture with a line end":      {"result-image.json", func(r *Result) { r.Unsure[0].Image = "\n" + r.Unsure[0].Image }, "PNG"},
		"a picture that is huge":         {"result-image.json", func(r *Result) { r.Unsure[0].Image = strings.Repeat("A", 2*maxImage) }, "large"},
		"a point beyond all numbers":     {"result-regression.json", func(r *Result) { r.Regression.Points[0][0] = 1e308 }, "point"},
		"a target beyond all numbers":    {"result-regression.json", func(r *Result) { r.Data.Target.Max = 1e308 }, "target"},
		"a prediction of nothing":        {"result-prediction.json", func(r *Result) { r.Prediction = nil }, "prediction"},
		"a prediction without its file":  {"result-prediction.json", func(r *Result) { r.Outputs = nil }, "predictions.csv"},
		"a prediction of negative rows":  {"result-prediction.json", func(r *Result) { r.Prediction.Rows = -1 }, "rows"},
		"an answer without an end":       {"result-prediction.json", func(r *Result) { r.Prediction.PerFile = make([]FileAnswer, maxAnswers+1) }, "answers"},
		"a check of no rows":             {"result-check.json", func(r *Result) { r.Data.Rows.Train = 0 }, "rows"},
		"a check that takes no time yet": {"result-check.json", func(r *Result) { r.Seconds = -3 }, "time"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := DecodeResult(readGolden(t, tc.golden))
			require.NoError(t, err)
			tc.change(r)
			doc, err := json.Marshal(r)
			require.NoError(t, err)
			_, err = DecodeResult(doc)
			require.ErrorContains(t, err, tc.text)
			require.NotContains(t, err.Error(), "\n", "users read it as one line")
			require.Less(t, len(err.Error()), 1000)
		})
	}
}

func TestEventsThatCannotBeDrawnAreNone(t *testing.T) {
	t.Parallel()
	for _, fields := range []string{
		`"kind":"progress","epoch":1.5,"epochs":2,"step":1,"steps":2,"fraction":0.5`,
		`"kind":"progress","epoch":1,"epochs":2,"step":1,"steps":2,"fraction":0.5,"loss":1e308`,
		`"kind":"eval","epoch":1e9,"step":1,"split":"train","metrics":{"loss":1}`,
		`"kind":"eval","epoch":1,"step":1,"split":"train","metrics":{"loss":-1e305}`,
		`"kind":"resume","epoch":-1,"step":1,"text":"x"`,
	} {
		_, err := DecodeEvent([]byte(`{"time":"2026-11-21T05:03:41Z","attempt":1,` + fields + `}`))
		require.ErrorIs(t, err, errEvent, fields)
	}
}
