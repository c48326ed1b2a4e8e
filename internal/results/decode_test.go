package results_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
	"github.com/ncsa/clowder-ray/internal/results/section"
)

func TestDecodeRefusesWhatCannotBe(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		golden string
		change func(r *results.Result)
		text   string
	}{
		"a kind that nobody knows":      {results.ResultFile, func(r *results.Result) { r.Kind = "party" }, "kind"},
		"a check of another level":      {results.ResultFile, func(r *results.Result) { r.Checks[0].Level = "panic" }, "level"},
		"too many settings":             {results.ResultFile, func(r *results.Result) { r.Settings = make([]results.Setting, maxList+1) }, "settings"},
		"a model of another kind":       {results.ResultFile, func(r *results.Result) { r.Model.Kind = "Sound!" }, "kind"},
		"a name without an end":         {results.ResultFile, func(r *results.Result) { r.Model.Base = strings.Repeat("x", maxName+1) }, "model"},
		"a negative count":              {results.ResultFile, func(r *results.Result) { r.Data.Labels["negative"] = -1 }, "label"},
		"rows that overflow":            {results.ResultFile, func(r *results.Result) { r.Confusion[0][0] = section.MaxCount + 1 }, "confusion.0.0: the number is impossible"},
		"a histogram without its edges": {results.ResultFile, func(r *results.Result) { r.Data.Lengths.Edges = r.Data.Lengths.Edges[1:] }, "histogram"},
		"edges that go back":            {results.ResultFile, func(r *results.Result) { r.Data.Lengths.Edges[0] = 1e9 }, "histogram"},
		"a share above one":             {results.ResultFile, func(r *results.Result) { r.Calibration.Bins[0].Accuracy = 1.5 }, "calibration.bins.0.accuracy: maximum"},
		"a curve with a lonely number":  {results.ResultFile, func(r *results.Result) { r.Binary.ROC[0] = []float64{1} }, ": 1 numbers are too few, there must be 2"},
		"an interval upside down":       {results.ResultFile, func(r *results.Result) { *r.Metrics.Baselines[1].Test["accuracy"].Low = 1 }, "baseline"},
		"a champion without a name":     {results.ResultFile, func(r *results.Result) { r.Champion.Name = "" }, "champion"},
		"a search that chose no trial":  {"result-regression.json", func(r *results.Result) { r.Search.Chosen = 70 }, "does not have"},
		"trials in no order":            {"result-regression.json", func(r *results.Result) { r.Search.Trials[2].Number = 0 }, "order"},
		"a trial of an unknown state":   {"result-regression.json", func(r *results.Result) { r.Search.Trials[1].State = "lost" }, "state"},
		"a curve of a trial with a gap": {"result-regression.json", func(r *results.Result) { r.Search.Curves[0].Points[1] = []float64{1, 2} }, "point"},
		"too many trials":               {"result-regression.json", func(r *results.Result) { r.Search.Trials = make([]results.Trial, maxList+1) }, "trials"},
		"a worker of negative time":     {results.ResultFile, func(r *results.Result) { r.Training.PerWorker[0].CPUSeconds = -1 }, "worker"},
		"too many mistakes":             {results.ResultFile, func(r *results.Result) { r.Mistakes = make([]results.Example, maxShown+1) }, "mistakes"},
		"a picture that is none": {"result-image.json", func(r *results.Result) {
			r.Unsure[0].Image = base64.StdEncoding.EncodeToString([]byte("<svg onload=x>"))
		}, "PNG"},
		"a picture with a tail":          {"result-image.json", func(r *results.Result) { r.Unsure[0].Image += `" onload="x` }, "PNG"},
		"a picture with a line end":      {"result-image.json", func(r *results.Result) { r.Unsure[0].Image = "\n" + r.Unsure[0].Image }, "PNG"},
		"a picture that is huge":         {"result-image.json", func(r *results.Result) { r.Unsure[0].Image = strings.Repeat("A", 64<<10) }, "large"},
		"a point beyond all numbers":     {"result-regression.json", func(r *results.Result) { r.Regression.Points[0][0] = 1e308 }, "point"},
		"a target beyond all numbers":    {"result-regression.json", func(r *results.Result) { r.Data.Target.Max = 1e308 }, "target"},
		"a prediction of nothing":        {"result-prediction.json", func(r *results.Result) { r.Prediction = nil }, "prediction"},
		"a prediction without its file":  {"result-prediction.json", func(r *results.Result) { r.Outputs = []results.Output{} }, "predictions.csv"},
		"a prediction of negative rows":  {"result-prediction.json", func(r *results.Result) { r.Prediction.Rows = -1 }, "rows"},
		"an answer without an end":       {"result-prediction.json", func(r *results.Result) { r.Prediction.PerFile = make([]results.FileAnswer, 10_001) }, "prediction.per_file"},
		"a check of no rows":             {"result-check.json", func(r *results.Result) { r.Data.Rows.Train = 0 }, "rows"},
		"a list that is missing":         {results.ResultFile, func(r *results.Result) { r.Checks = nil }, "checks: got null, want array"},
		"a setting from nowhere":         {results.ResultFile, func(r *results.Result) { r.Settings[0].Source = "dream" }, "settings.0.source"},
		"a code that is a sentence":      {results.ResultFile, func(r *results.Result) { r.Checks[0].Code = "It is bad" }, "checks.0.code"},
		"an end for no known reason":     {results.ResultFile, func(r *results.Result) { r.Training.Stopped = "bored" }, "training.stopped"},
		"no workers":                     {results.ResultFile, func(r *results.Result) { r.Training.Workers = 0 }, "training is missing"},
		"no model":                       {results.ResultFile, func(r *results.Result) { r.Model = results.Model{} }, "model is missing"},
		"scores of another epoch":        {results.ResultFile, func(r *results.Result) { r.Metrics.BestEpoch++ }, "another epoch"},
		"a score beyond all numbers":     {results.ResultFile, func(r *results.Result) { r.Metrics.Test["accuracy"] = results.Score{Value: 1e308} }, "metrics.test.accuracy.value: maximum"},
		"a weights hash that is none":    {results.ResultFile, func(r *results.Result) { r.Model.WeightsSHA256 = "abc" }, "model.weights_sha256"},
		"a number of GPUs below nothing": {results.ResultFile, func(r *results.Result) { r.Hardware.GPUs = -1 }, "hardware.gpus"},
		"too many points of a curve":     {results.ResultFile, func(r *results.Result) { r.Binary.PR = make([][]float64, 10_001) }, "binary.pr: 10,001 are too many"},
		"a champion of version 0":        {results.ResultFile, func(r *results.Result) { r.Champion.Version = 0 }, "champion.version"},
		"no rows to train on":            {results.ResultFile, func(r *results.Result) { r.Data.Rows.Train = 0 }, "rows"},
		"a share of a confidence":        {"result-prediction.json", func(r *results.Result) { r.Prediction.MinConfidence = 7 }, "prediction.min_confidence"},
		"a loss of a candidate": {results.ResultFile, func(r *results.Result) {
			r.Candidates = []results.Candidate{{Name: "a", Title: "A", Sort: results.SortNetwork, Chosen: true, Validation: results.Figures{"loss": 1e305}}}
		}, "candidates.0.validation.loss: maximum"},
		"a sample with an answer":       {results.ResultFile, func(r *results.Result) { r.Data.Samples[0].Predicted = "x" }, "data.samples.0: additional"},
		"a doubt of no mistake":         {results.ResultFile, func(r *results.Result) { r.Unsure[0].LabelDoubted = true }, "unsure.0: additional"},
		"a script of nothing":           {"result-script.json", func(r *results.Result) { r.Script = nil }, "script is missing"},
		"a script in a training":        {results.ResultFile, func(r *results.Result) { r.Script = &results.Script{} }, "only a script"},
		"a part of a training":          {results.ResultFile, func(r *results.Result) { r.Partial = true }, "only a script"},
		"a script without a name":       {"result-script.json", func(r *results.Result) { r.Script.Entry = "" }, "script"},
		"a script of no processes":      {"result-script.json", func(r *results.Result) { r.Script.Processes = 0 }, "processes"},
		"a sandbox that nobody knows":   {"result-script.json", func(r *results.Result) { r.Script.Sandbox.Name = "castle" }, "script.sandbox.name"},
		"an end that nobody knows":      {"result-script.json", func(r *results.Result) { r.Script.Stopped = new("bored") }, "script.stopped"},
		"a number from nowhere":         {"result-script.json", func(r *results.Result) { r.Script.Numbers["x"] = results.ScriptNumber{Value: 1} }, "source"},
		"a number beyond all numbers":   {"result-script.json", func(r *results.Result) { r.Script.Numbers["x"] = results.ScriptNumber{Value: 1e308, Source: "log"} }, "number"},
		"a metric without a name":       {"result-script.json", func(r *results.Result) { r.Script.Metric.Name = "" }, "metric"},
		"a series with a lonely number": {"result-script.json", func(r *results.Result) { r.Script.Series["val_loss"][0] = []float64{1} }, ": 1 numbers are too few, there must be 2"},
		"a series beyond all numbers":   {"result-script.json", func(r *results.Result) { r.Script.Series["val_loss"][0] = []float64{1, 1e305} }, "val_loss"},
		"a series without an end":       {"result-script.json", func(r *results.Result) { r.Script.Series["x\ny"] = make([][]float64, 2001) }, "script.series.x y: 2,001 are too many"},
		"too many series": {"result-script.json", func(r *results.Result) {
			for i := range 65 {
				r.Script.Series[strings.Repeat("x", i)] = [][]float64{}
			}
		}, "series"},
		"too many findings":              {"result-script.json", func(r *results.Result) { r.Script.Findings = make([]results.Finding, maxList+1) }, "findings"},
		"a finding of another severity":  {"result-script.json", func(r *results.Result) { r.Script.Findings[0].Severity = "panic" }, "severity"},
		"a file that leaves its folder":  {"result-script.json", func(r *results.Result) { r.Outputs[0].Path = "out/../../x" }, "not allowed"},
		"code without a hash":            {"result-script.json", func(r *results.Result) { r.Script.Code[0].SHA256 = "" }, "sha256"},
		"a limit that nobody knows":      {"result-script.json", func(r *results.Result) { r.Script.Exit.Exceeded = "patience" }, "exceeded"},
		"a check that takes no time yet": {"result-check.json", func(r *results.Result) { r.Seconds = -3 }, "seconds"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := results.DecodeResult(resultstest.Golden(t, tc.golden))
			require.NoError(t, err)
			tc.change(r)
			doc, err := json.Marshal(r)
			require.NoError(t, err)
			_, err = results.DecodeResult(doc)
			require.ErrorContains(t, err, tc.text)
			require.NotContains(t, err.Error(), "\n", "users read it as one line")
			require.Less(t, len(err.Error()), 1000)
		})
	}
}

// TestTheSchemaSeesWhatTheDecoderTook: the decoder also takes names in other capitals, and of two the last.
func TestTheSchemaSeesWhatTheDecoderTook(t *testing.T) {
	t.Parallel()
	doc := string(resultstest.Golden(t, results.ResultFile))
	for name, tc := range map[string]struct{ extra, text string }{
		"a name in capitals":           {`"SECONDS": -1`, "seconds: minimum"},
		"a name twice":                 {`"seconds": -1`, "seconds: minimum"},
		"a part in capitals":           {`"Hardware": {"GPUS": -4}`, "hardware.gpus: minimum"},
		"what a newer trainer may add": {`"mood": {"good": true}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := results.DecodeResult([]byte(strings.TrimSuffix(strings.TrimSpace(doc), "}") + "," + tc.extra + "}"))
			if tc.text == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tc.text)
		})
	}
}

func TestAResultThatWouldFillTheMemoryIsNotDecoded(t *testing.T) {
	t.Parallel()
	for name, doc := range map[string]string{
		"many objects": `{"settings":[` + strings.Repeat("{},", 250_000) + `{}]}`,
		"many values":  `{"confusion":[[` + strings.Repeat("0,", 5_000_001) + `0]]}`,
		"huge numbers": `{"schema":2,"seconds":1e999999999}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := results.DecodeResult([]byte(doc))
			require.Error(t, err)
			require.Less(t, len(err.Error()), 1000)
		})
	}
}

func TestOneViolationIsNamedAndAlwaysTheSame(t *testing.T) {
	t.Parallel()
	r, err := results.DecodeResult(resultstest.Golden(t, results.ResultFile))
	require.NoError(t, err)
	r.Seconds, r.Hardware.Cores, r.Training.Seconds = -1, -1, -1
	r.Data.Labels["a\nhostile\u202elabel"] = -1
	doc, err := json.Marshal(r)
	require.NoError(t, err)
	for range 20 {
		_, err = results.DecodeResult(doc)
		require.EqualError(t, err, "data.labels.a hostilelabel: minimum: got -1, want 0")
	}
}

func TestFailuresThatSayTooLittleAreRefused(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ doc, text string }{
		"another schema":   {`{"schema":2,"run":"ft-1","attempt":1,"code":"x","what":"a","do":"b"}`, "schema 2 is not known"},
		"no run":           {`{"schema":1,"attempt":1,"code":"x","what":"a","do":"b"}`, "run: minLength"},
		"no attempt":       {`{"schema":1,"run":"ft-1","code":"x","what":"a","do":"b"}`, "attempt: minimum"},
		"no code":          {`{"schema":1,"run":"ft-1","attempt":1,"what":"a","do":"b"}`, "code: "},
		"nothing to do":    {`{"schema":1,"run":"ft-1","attempt":1,"code":"x","what":"a"}`, "do: minLength"},
		"a code in words":  {`{"schema":1,"run":"ft-1","attempt":1,"code":"It broke","what":"a","do":"b"}`, "code:"},
		"not JSON":         {`{"schema":1`, "decode"},
		"a list":           {`[]`, "decode"},
		"a text as number": {`{"schema":1,"run":"ft-1","attempt":"1","code":"x","what":"a","do":"b"}`, "decode"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := results.DecodeFailure([]byte(tc.doc))
			require.ErrorContains(t, err, tc.text)
			require.NotContains(t, err.Error(), "\n")
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
		_, err := results.DecodeEvent([]byte(`{"time":"2026-11-21T05:03:41Z","attempt":1,` + fields + `}`))
		require.ErrorIs(t, err, results.ErrEvent, fields)
	}
}
