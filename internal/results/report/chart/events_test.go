package chart

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
)

// eventsOf decodes lines of an event log; each gets a time, and attempt 1 where it has none.
func eventsOf(tb testing.TB, lines ...string) []results.Event {
	tb.Helper()
	events := make([]results.Event, len(lines))
	for i, line := range lines {
		if !strings.Contains(line, `"attempt"`) {
			line = `"attempt":1,` + line
		}
		e, err := results.DecodeEvent([]byte(`{"time":"2026-11-21T05:03:41Z",` + line + `}`))
		require.NoError(tb, err, line)
		events[i] = e
	}
	return events
}

// step is a progress event of a training of two epochs and 100 steps.
func step(n int, loss string) string {
	return fmt.Sprintf(`"kind":"progress","epoch":%d,"epochs":2,"step":%d,"steps":100,"fraction":%g,"loss":%s`, (n+49)/50, n, float64(n)/100, loss)
}

func TestCurvesAreReadFromTheEvents(t *testing.T) {
	t.Parallel()
	evaluation := func(split string, epoch float64, step int, metrics string) string {
		return fmt.Sprintf(`"kind":"eval","split":%q,"epoch":%g,"step":%d,"metrics":{%s}`, split, epoch, step, metrics)
	}
	for name, tc := range map[string]struct {
		events []string
		want   Curves
	}{
		"no events": {nil, Curves{Epochs: 2}},
		"steps": {
			[]string{step(25, "3"), step(50, "2"), step(100, "1")},
			Curves{Epochs: 2, Steps: []Point{{0.5, 3}, {1, 2}, {2, 1}}},
		},
		"a step without a loss is a gap": {
			[]string{step(25, "3"), step(50, "null"), step(100, "1")},
			Curves{Epochs: 2, Steps: []Point{{0.5, 3}, {2, 1}}},
		},
		"a learning rate": {
			[]string{step(25, "null") + `,"learning_rate":0.1`, step(50, "null") + `,"learning_rate":0`},
			Curves{Epochs: 2, Rate: []Point{{0.5, 0.1}, {1, 0}}},
		},
		"before the number of epochs is known": {
			[]string{`"kind":"progress","epoch":0,"epochs":0,"step":1,"steps":0,"fraction":0,"loss":5,"learning_rate":1`},
			Curves{Epochs: 2},
		},
		"evaluations at the ends of epochs": {
			[]string{evaluation("train", 1, 0, `"loss":0.9`), evaluation("validation", 1, 0, `"loss":0.8,"accuracy":0.5`), evaluation("validation", 2, 0, `"loss":0.7,"accuracy":0.75`)},
			Curves{Epochs: 2, TrainLoss: []Point{{1, 0.9}}, ValidationLoss: []Point{{1, 0.8}, {2, 0.7}}, Metric: []Point{{1, 0.5}, {2, 0.75}}},
		},
		"an evaluation inside of an epoch, told by its step": {
			[]string{step(50, "null"), evaluation("validation", 2, 75, `"loss":0.7`)},
			Curves{Epochs: 2, ValidationLoss: []Point{{1.5, 0.7}}},
		},
		"an evaluation inside of an epoch, told by a fraction": {
			[]string{step(50, "null"), evaluation("validation", 1.25, 99, `"loss":0.7`)},
			Curves{Epochs: 2, ValidationLoss: []Point{{1.25, 0.7}}},
		},
		"a step that belongs to another epoch": {
			[]string{step(50, "null"), evaluation("validation", 2, 10, `"loss":0.7`)},
			Curves{Epochs: 2, ValidationLoss: []Point{{2, 0.7}}},
		},
		"the test rows are no line": {
			[]string{evaluation("test", 2, 100, `"loss":0.7,"accuracy":0.9`)},
			Curves{Epochs: 2},
		},
		"a metric that is not the one": {
			[]string{evaluation("validation", 1, 0, `"f1_macro":0.7`)},
			Curves{Epochs: 2},
		},
		"more epochs than the result tells": {
			[]string{evaluation("train", 5, 0, `"loss":1`)},
			Curves{Epochs: 5, TrainLoss: []Point{{5, 1}}},
		},
		"a restart": {
			[]string{`"kind":"resume","epoch":1.5,"step":75,"text":"Going on."`},
			Curves{Epochs: 2, Resumes: []float64{1.5}},
		},
		"events of a later attempt": {
			[]string{`"attempt":2,` + step(50, "9"), `"attempt":2,"kind":"resume","epoch":1`},
			Curves{Epochs: 2},
		},
		"an evaluation that is made again": {
			[]string{evaluation("train", 1, 0, `"loss":3`), evaluation("train", 2, 0, `"loss":2`), evaluation("train", 1, 0, `"loss":1`)},
			Curves{Epochs: 2, TrainLoss: []Point{{1, 1}}},
		},
		"few steps beside the means of the epochs": {
			[]string{step(50, "3"), step(100, "2"), evaluation("train", 1, 0, `"loss":3`), evaluation("train", 2, 0, `"loss":2`)},
			Curves{Epochs: 2, TrainLoss: []Point{{1, 3}, {2, 2}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &results.Result{Attempt: 1, Metric: "accuracy"}
			r.Training.Epochs = 2
			tc.want.MetricName = "accuracy"
			require.Equal(t, tc.want, NewCurves(eventsOf(t, tc.events...), r))
		})
	}
}

func TestManyRestartsAreMarkedUpToALimit(t *testing.T) {
	t.Parallel()
	var lines []string
	for i := range 10 * maxResumes {
		lines = append(lines, fmt.Sprintf(`"kind":"resume","epoch":%g`, float64(i)/100))
	}
	c := NewCurves(eventsOf(t, append(lines, step(50, "1"), step(100, "2"))...), &results.Result{Attempt: 1})
	require.Len(t, c.Resumes, maxResumes)
	ch := Loss(c).SVG()
	require.Len(t, ch.Rules, maxResumes)
	labelled := 0
	for _, rule := range ch.Rules {
		if rule.Label != "" {
			labelled++
		}
	}
	require.Equal(t, 1, labelled, "one word explains all the marks")
}

func TestALongTrainingIsDrawnFromItsBeginningToItsEnd(t *testing.T) {
	t.Parallel()
	var lines []string
	for n := 1; n <= 5000; n++ {
		lines = append(lines, fmt.Sprintf(`"kind":"progress","epoch":1,"epochs":2,"step":%d,"steps":5000,"fraction":%g,"loss":%d,"learning_rate":1`, n, float64(n)/5000, 5001-n))
	}
	c := NewCurves(eventsOf(t, lines...), &results.Result{Attempt: 1})
	for _, line := range [][]Point{c.Steps, c.Rate} {
		require.LessOrEqual(t, len(line), maxPoints)
		require.Greater(t, len(line), maxPoints/2)
		require.Less(t, line[0].X, 0.02)
		require.Greater(t, line[len(line)-1].X, 1.98)
	}
	for i := 1; i < len(c.Steps); i++ {
		require.Less(t, c.Steps[i].Y, c.Steps[i-1].Y, "a loss that falls is drawn falling")
	}
	require.InDelta(t, 2, c.Epochs, 0.02)
}

func FuzzCurves(f *testing.F) {
	for _, lines := range [][]string{
		{step(25, "3"), step(50, "2"), `"kind":"eval","split":"train","epoch":1,"step":50,"metrics":{"loss":1}`},
		{`"kind":"eval","split":"validation","epoch":1.5,"step":3,"metrics":{"loss":-1e300,"accuracy":1e300}`, `"kind":"resume","epoch":1000000`},
		{`"attempt":2,` + step(100, "1e-300"), step(1, "1e300"), `"kind":"eval","split":"validation","epoch":0,"metrics":{"loss":0}`},
	} {
		doc, err := json.Marshal(lines)
		require.NoError(f, err)
		f.Add(doc, 2.0)
	}
	f.Fuzz(func(t *testing.T, doc []byte, best float64) {
		var lines []string
		if json.Unmarshal(doc, &lines) != nil || !(best >= 0 && best < 1e6) {
			return
		}
		var events []results.Event
		for _, line := range lines {
			if e, err := results.DecodeEvent([]byte(`{"time":"2026-11-21T05:03:41Z","attempt":1,` + line + `}`)); err == nil {
				events = append(events, e)
			}
		}
		c := NewCurves(events, &results.Result{Attempt: 1, Metric: "accuracy", BestEpoch: best})
		for _, line := range [][]Point{c.Steps, c.Rate, c.TrainLoss, c.ValidationLoss, c.Metric} {
			for i := 1; i < len(line); i++ {
				require.Greater(t, line[i].X, line[i-1].X, "a line never goes back")
			}
		}
		for _, ch := range []*Chart{Loss(c), Metric(c), Rate(c)} {
			if ch != nil {
				requireInside(t, ch)
			}
		}
		lossVega(t, c)
	})
}
