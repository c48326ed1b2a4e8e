package resultstest

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/manifest"
)

// GoldenResults are the golden results of all kinds.
var GoldenResults = []string{results.ResultFile, "result-regression.json", "result-image.json", "result-prediction.json", "result-check.json", "result-graph.json", "result-graph-prediction.json", "result-script.json", "result-script-partial.json"}

// LikelyMeta is what the service knows of such a run.
func LikelyMeta(r *results.Result) manifest.Meta {
	m := manifest.Meta{
		Run: r.Run, JobID: "6740", DatasetID: "ds1", DatasetName: "Product reviews, autumn", Extractor: "ncsa.ray.finetune", Version: "1.0.0",
		Started: time.Date(2026, 11, 21, 5, 3, 0, 0, time.UTC),
		Inputs:  []job.Input{{Name: "raw/train.csv", Size: 158112, SHA256: strings.Repeat("2", 64)}, {Name: "test.csv", Size: 40218, SHA256: strings.Repeat("1", 64)}},
	}
	if c := r.Champion; r.Kind == results.ResultTraining && c != nil {
		m.Model = manifest.ModelVersion{Name: c.Name, Version: c.Version + 1, Champion: fmt.Sprintf("%s/%d", c.Name, c.Version+1), BestSoFar: true}
	}
	return m
}

// LikelyEvents are what a run with this result says.
func LikelyEvents(tb testing.TB, r *results.Result) []results.Event {
	tb.Helper()
	var events []results.Event
	at := time.Date(2026, 11, 21, 5, 3, 10, 0, time.UTC)
	add := func(after float64, format string, args ...any) {
		at = at.Add(results.Seconds(after))
		e, err := results.DecodeEvent([]byte(fmt.Sprintf(`{"time":%q,"attempt":%d,`, at.Format(time.RFC3339Nano), r.Attempt) + fmt.Sprintf(format, args...) + "}"))
		require.NoError(tb, err)
		events = append(events, e)
	}
	add(0, `"kind":"phase","phase":"start","text":"The program is running."`)
	add(1.2, `"kind":"phase","phase":"prepare","text":"Reading the data."`)
	if r.Unit() == "edge" {
		add(0.1, `"kind":"decision","what":"task","choice":"link-prediction","why":"citing and cited in citations.csv are ids of papers.csv, and no column is a label."`)
	} else {
		add(0.1, `"kind":"decision","what":"label_column","choice":"sentiment","why":"sentiment is taken as the label because of its name; it has 2 values: negative and positive."`)
		add(0.1, `"kind":"decision","what":"text_columns","choice":["review"],"why":"review is taken as the text because of its name; it has 23 words on average."`)
	}
	if r.Kind == results.ResultPrediction {
		add(2, `"kind":"phase","phase":"predict","text":"Predicting."`)
	}
	if r.Kind != results.ResultTraining {
		add(3, `"kind":"phase","phase":"export","text":"Writing."`)
		add(0.4, `"kind":"done","seconds":8`)
		return events
	}
	add(4, `"kind":"phase","phase":"train","text":"Training."`)
	epochs := int(math.Ceil(r.Training.Epochs))
	steps := max(1, r.Training.Steps)
	worse := -0.2
	if r.Named(r.Metric).LowerIsBetter() {
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

// ManyClasses gives a result n classes.
func ManyClasses(r *results.Result, n int, label func(i int) string) {
	r.Model.Labels, r.Confusion, r.Data.Labels, r.Binary = nil, nil, map[string]int{}, nil
	for i := range n {
		r.Model.Labels = append(r.Model.Labels, label(i))
		r.Data.Labels[label(i)] = 1 + i
		row := make([]int, n)
		row[i], row[(i+1)%n] = i, 1
		r.Confusion = append(r.Confusion, row)
	}
}

// Hostile are texts that break pages which do not escape.
func Hostile() []string {
	return []string{
		`<img src=x onerror=alert(1)>`, `</style><script>alert(1)</script>`, `"><svg onload=alert(1)>`, `' onmouseover='alert(1)`,
		`</title></svg><iframe src=//evil>`, `{{.Title}}`, `<!--`, `]]>`, `javascript:alert(1)`, "a\x00b", "line\nend", "\u202eturned",
		"\xff\xfe not UTF-8", `&lt;b&gt;`, strings.Repeat("<b>", 20_000), "</div></div>", "expression(alert(1))", `url(//evil)`,
	}
}
