package results

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
)

// goldenResults are the golden results of all kinds.
var goldenResults = []string{ResultFile, "result-regression.json", "result-image.json", "result-prediction.json", "result-check.json"}

// renderResult makes the report of a result, with the events that such a run writes.
func renderResult(tb testing.TB, r *Result) string {
	tb.Helper()
	var out bytes.Buffer
	require.NoError(tb, writeReport(&out, likelyEvents(tb, r), r, likelyMeta(r)))
	return out.String()
}

// likelyMeta is what the service knows of such a run.
func likelyMeta(r *Result) Meta {
	m := Meta{
		Run: r.Run, JobID: "6740", DatasetID: "ds1", DatasetName: "Product reviews, autumn", Extractor: "ncsa.ray.finetune", Version: "1.0.0",
		Started: time.Date(2026, 11, 21, 5, 3, 0, 0, time.UTC),
		Inputs:  []job.Input{{Name: "raw/train.csv", Size: 158112, SHA256: strings.Repeat("2", 64)}, {Name: "test.csv", Size: 40218, SHA256: strings.Repeat("1", 64)}},
	}
	if c := r.Champion; r.Kind == ResultTraining && c != nil {
		m.Model = ModelVersion{Name: c.Name, Version: c.Version + 1, Champion: fmt.Sprintf("%s/%d", c.Name, c.Version+1), BestSoFar: true}
	}
	return m
}

// likelyEvents are what a run with this result says.
func likelyEvents(tb testing.TB, r *Result) []Event {
	tb.Helper()
	var events []Event
	at := time.Date(2026, 11, 21, 5, 3, 10, 0, time.UTC)
	add := func(after float64, format string, args ...any) {
		at = at.Add(seconds(after))
		e, err := DecodeEvent([]byte(fmt.Sprintf(`{"time":%q,"attempt":%d,`, at.Format(time.RFC3339Nano), r.Attempt) + fmt.Sprintf(format, args...) + "}"))
		require.NoError(tb, err)
		events = append(events, e)
	}
	add(0, `"kind":"phase","phase":"start","text":"The program is running."`)
	add(1.2, `"kind":"phase","phase":"prepare","text":"Reading the data."`)
	add(0.1, `"kind":"decision","what":"label_column","choice":"sentiment","why":"sentiment is taken as the label because of its name; it has 2 values: negative and positive."`)
	add(0.1, `"kind":"decision","what":"text_columns","choice":["review"],"why":"review is taken as the text because of its name; it has 23 words on average."`)
	if r.Kind == ResultPrediction {
		add(2, `"kind":"phase","phase":"predict","text":"Predicting."`)
	}
	if r.Kind != ResultTraining {
		add(3, `"kind":"phase","phase":"export","text":"Writing."`)
		add(0.4, `"kind":"done","seconds":8`)
		return events
	}
	add(4, `"kind":"phase","phase":"train","text":"Training."`)
	epochs := int(math.Ceil(r.Training.Epochs))
	steps := max(1, r.Training.Steps)
	worse := -0.2
	if lowerIsBetter(r.Metric) {
		worse = 0.4
	}
	best := r.Metrics.Validation[r.Metric].Value
	for epoch := 1; epoch <= epochs; epoch++ {
		for part := range 10 {
			x := (float64(epoch-1) + float64(part+1)/10) / float64(epochs)
			add(r.Training.Seconds/float64(10*epochs), `"kind":"progress","epoch":%d,"epochs":%d,"step":%d,"steps":%d,"fraction":%.4f,"loss":%.4f,"learning_rate":%.6g`,
				epoch, epochs, int(x*float64(steps)), steps, x, 0.15+0.6*math.Exp(-3*x)+0.02*math.Sin(40*x), r.Training.LearningRate*min(x/0.1, (1-x)/0.9))
		}
		away := math.Abs(float64(epoch)-r.BestEpoch) / float64(epochs)
		add(0.1, `"kind":"eval","epoch":%d,"step":%d,"split":"train","metrics":{"loss":%.4f}`, epoch, epoch*steps/epochs, 0.15+0.6*math.Exp(-3*float64(epoch)/float64(epochs)))
		add(0.1, `"kind":"eval","epoch":%d,"step":%d,"split":"validation","metrics":{"loss":%.4f,%q:%.4f}`, epoch, epoch*steps/epochs, 0.31+0.5*away*away, r.Metric, best*(1+worse*away))
	}
	if r.Training.Resumed > 0 {
		add(0, `"kind":"resume","epoch":%.2f,"step":51,"text":"Going on from step 51."`, 0.5*r.Training.Epochs)
	}
	add(0.2, `"kind":"phase","phase":"test","text":"Testing."`)
	add(1.1, `"kind":"phase","phase":"export","text":"Writing."`)
	add(0.6, `"kind":"done","seconds":16.4`)
	return events
}

// manyClasses gives a result n classes.
func manyClasses(r *Result, n int, label func(i int) string) {
	r.Model.Labels, r.Confusion, r.Data.Labels, r.Binary = nil, nil, map[string]int{}, nil
	for i := range n {
		r.Model.Labels = append(r.Model.Labels, label(i))
		r.Data.Labels[label(i)] = 1 + i
		row := make([]int, n)
		row[i], row[(i+1)%n] = i, 1
		r.Confusion = append(r.Confusion, row)
	}
}

func TestReportsOfTheGoldenResults(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{
		ResultFile: {
			"Clearly better than guessing", "the terms of the data", "Better than reviews/2", "bag of words", "cut at 39", "resumed", "Learning rate", "ROC, area 0.964", "0.031 (ECE)",
			"Wrong and most sure of it", "Not bad at all", "label wrong?", "reviews/3", "reviews@champion", "1.81 cores", "estimated before:", "settings file", "--from manifest.json", "finetune.yaml", "seed: 42", "which is the small figure", "The figures of each evaluation",
			"the same row is also a test row", "from transformers import",
		},
		"result-regression.json": {
			"A linear model does at least as well", "What would help", "glucose", "Predicted by true value", "Errors (true minus predicted)", "The largest errors",
			"from 25 to 346, mean 152.4", "baseline.zip", "safetensors.numpy", "11 %",
		},
		"result-image.json":      {"galaxy", "data:image/png;base64,", "image-classification", "NVIDIA L4", "the name of the folder", "do not decode"},
		"result-prediction.json": {"Prediction report", "reviews/3", "700 positive, 534 negative", "Test rows of the training", "6 rows could not be read", "predictions.csv"},
		"result-check.json":      {"nothing was trained", "Ready to train, with 2 warnings", "about 5 min", "accuracy says little", "945"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := DecodeResult(readGolden(t, name))
			require.NoError(t, err)
			page := renderResult(t, r)
			for _, text := range want {
				require.Contains(t, page, text)
			}
			require.NotContains(t, page, "NaN")
			require.NotContains(t, page, "ZgotmplZ", "a value that html/template refused")
			require.Less(t, len(page), 300<<10)
			requireSelfContained(t, page)
		})
	}
}
