package results_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
)

const (
	predicted = "result-prediction.json"
	scripted  = "result-script.json"
	regressed = "result-regression.json"
)

// TestListsOfEachKindOfRunAreBounded: a report shows every list, so each has its own limit.
func TestListsOfEachKindOfRunAreBounded(t *testing.T) {
	t.Parallel()
	const many = results.MaxList + 1
	names := make([]string, 10_001)
	for name, tc := range map[string]struct {
		golden string
		change func(r *results.Result)
		text   string
	}{
		"packages":             {results.ResultFile, func(r *results.Result) { r.Versions = numbered(many, "1") }, "1001 versions are too many"},
		"labels of the data":   {results.ResultFile, func(r *results.Result) { r.Data.Labels = numbered(10_001, 1) }, "10001 labels are too many"},
		"columns of the model": {results.ResultFile, func(r *results.Result) { r.Model.Columns = names }, "10001 columns are too many"},
		"metrics of the validation": {
			results.ResultFile, func(r *results.Result) { r.Metrics.Validation = numbered(many, results.Score{}) },
			"1001 metrics are too many",
		},
		"metrics of a simple model": {
			results.ResultFile, func(r *results.Result) { r.Metrics.Baselines[0].Test = numbered(many, results.Score{}) }, "1001 metrics are too many",
		},
		"metrics of the champion": {
			results.ResultFile, func(r *results.Result) { r.Champion.Test = numbered(many, results.Score{}) },
			"1001 metrics are too many",
		},
		"points of a ROC curve": {results.ResultFile, func(r *results.Result) { r.Binary.ROC = make([][]float64, 10_001) }, "10001 points are too many"},
		"edges without counts": {
			results.ResultFile, func(r *results.Result) { r.Data.Lengths.Edges = make([]float64, many+1) }, "a histogram has too many counts",
		},
		"metrics of the default settings": {
			regressed, func(r *results.Result) { r.Search.DefaultTest = numbered(many, results.Score{}) }, "1001 metrics are too many",
		},
		"residuals": {
			regressed, func(r *results.Result) { r.Regression.Residuals.Counts = make([]int, many) }, "a histogram has too many counts",
		},
		"labels that were predicted": {predicted, func(r *results.Result) { r.Prediction.Counts = numbered(10_001, 1) }, "10001 labels are too many"},
		"labels of the model":        {predicted, func(r *results.Result) { r.Prediction.Model.Labels = names }, "10001 labels are too many"},
		"columns that were read":     {predicted, func(r *results.Result) { r.Prediction.InputColumns = names }, "10001 columns are too many"},
		"predictions that are shown": {
			predicted, func(r *results.Result) { r.Prediction.Samples = make([]results.Example, results.MaxShown+1) },
			"101 samples are too many",
		},
		"metrics of the predicted rows": {
			predicted, func(r *results.Result) { r.Prediction.Scores = numbered(many, results.Score{}) },
			"1001 metrics are too many",
		},
		"the spread of the answers": {
			predicted, func(r *results.Result) { r.Prediction.Values = &results.Histogram{Counts: make([]int, many)} }, "a histogram has too many counts",
		},
		"words of a command": {scripted, func(r *results.Result) { r.Script.Command = make([]string, many) }, "1001 words of a command are too many"},
		"starts":             {scripted, func(r *results.Result) { r.Script.Starts = make([]results.ScriptStart, many) }, "1001 starts are too many"},
		"files of code":      {scripted, func(r *results.Result) { r.Script.Code = make([]results.Output, 10_001) }, "10001 files of code are too many"},
		"requirements":       {scripted, func(r *results.Result) { r.Script.Requirements = make([]string, many) }, "1001 requirements are too many"},
		"numbers": {
			scripted, func(r *results.Result) { r.Script.Numbers = numbered(many, results.ScriptNumber{}) },
			"1001 numbers are too many",
		},
		"files that are no use": {
			scripted, func(r *results.Result) { r.Script.LeftOut = make([]results.LeftOut, 10_001) },
			"10001 files that were left out are too many",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requireRefused(t, tc.golden, tc.change, tc.text)
		})
	}
}

func TestAnIntervalUpsideDownIsNamed(t *testing.T) {
	t.Parallel()
	wrong := func(metric string) results.Scores {
		return results.Scores{metric: {Value: 0.5, Low: new(0.6), High: new(0.4), N: 9}}
	}
	for name, tc := range map[string]struct {
		golden string
		change func(r *results.Result)
		text   string
	}{
		"the training rows": {
			results.ResultFile, func(r *results.Result) { r.Metrics.Train = wrong("f1_macro") },
			"the interval of the f1_macro of the train rows is impossible",
		},
		"the test rows": {
			results.ResultFile, func(r *results.Result) { r.Metrics.Test = wrong("accuracy") }, "the interval of the accuracy of the test rows is impossible",
		},
		"a low end above the value": {
			results.ResultFile, func(r *results.Result) { r.Metrics.Test["mcc"] = results.Score{Value: 0.1, Low: new(0.2)} },
			"the interval of the mcc of the test rows is impossible",
		},
		"a high end below the value": {
			results.ResultFile, func(r *results.Result) { r.Metrics.Test["mcc"] = results.Score{Value: 0.1, High: new(0.05)} },
			"the interval of the mcc of the test rows is impossible",
		},
		"the earlier version": {
			results.ResultFile, func(r *results.Result) { r.Champion.Test = wrong("accuracy") },
			"the interval of the accuracy of the champion's rows is impossible",
		},
		"the default settings": {
			regressed, func(r *results.Result) { r.Search.DefaultTest = wrong("rmse") },
			"the interval of the rmse of the default settings' test rows is impossible",
		},
		"the predicted rows": {
			predicted, func(r *results.Result) { r.Prediction.Scores = wrong("accuracy") }, "the interval of the accuracy of the predicted rows is impossible",
		},
		"the test rows of the model that predicts": {
			predicted, func(r *results.Result) { r.Prediction.TrainedScores = wrong("accuracy") },
			"the interval of the accuracy of the model's test rows is impossible",
		},
		"a metric of a hostile name": {
			results.ResultFile, func(r *results.Result) { r.Metrics.Test = wrong("a\n" + strings.Repeat("x", 99)) }, "the interval of the a xxx",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requireRefused(t, tc.golden, tc.change, tc.text)
		})
	}
}

func TestAHistogramThatDoesNotFitTogetherIsNamed(t *testing.T) {
	t.Parallel()
	for name, h := range map[string]results.Histogram{
		"no counts":          {Edges: []float64{0}, Counts: []int{}},
		"an edge less":       {Edges: []float64{0}, Counts: []int{1}},
		"an edge more":       {Edges: []float64{0, 1, 2}, Counts: []int{1}},
		"edges that go back": {Edges: []float64{0, 2, 1}, Counts: []int{1, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requireRefused(t, results.ResultFile, func(r *results.Result) { r.Data.Lengths = &h }, "lengths: a histogram does not fit together")
			requireRefused(t, regressed, func(r *results.Result) { r.Regression.Residuals = h }, "residuals: a histogram does not fit together")
			requireRefused(t, predicted, func(r *results.Result) { r.Prediction.Values = &h }, "values: a histogram does not fit together")
		})
	}
}

func TestAPictureForAPageIsAPNGAndNothingElse(t *testing.T) {
	t.Parallel()
	const header = "\x89PNG\r\n\x1a\n"
	encode := base64.StdEncoding.EncodeToString
	const none, large = "a picture is no PNG in base64", "a picture is too large"
	for name, tc := range map[string]struct{ image, text string }{
		"no picture":                        {"", ""},
		"a picture":                         {encode([]byte(header + "rest")), ""},
		"as large as is shown":              {encode([]byte(header + strings.Repeat("x", results.MaxImage-len(header)))), ""},
		"three bytes more":                  {encode([]byte(header + strings.Repeat("x", results.MaxImage-len(header)+3))), large},
		"a JPEG":                            {encode([]byte("\xff\xd8\xff\xe0")), none},
		"a half header":                     {encode([]byte(header[:7])), none},
		"the header behind something":       {encode([]byte(" " + header)), none},
		"an address":                        {"https://example.org/a.png", none},
		"an address with the data in it":    {"data:image/png;base64," + encode([]byte(header)), none},
		"the alphabet of addresses":         {base64.URLEncoding.EncodeToString([]byte(header + "\xff\xfe\xfd\xfb\xff")), none},
		"no padding":                        {strings.TrimRight(encode([]byte(header)), "="), none},
		"a line end in the middle":          {encode([]byte(header))[:4] + "\n" + encode([]byte(header))[4:], none},
		"a carriage return at the end":      {encode([]byte(header)) + "\r", none},
		"bits that another decoder may see": {strings.TrimRight(encode([]byte(header+"a"+"b")), "=")[:13] + "B==", none},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := results.CheckImage(tc.image)
			if tc.text == "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, tc.text)
		})
	}
}
