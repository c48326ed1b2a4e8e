package results_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
)

// folded is the progress after events of the first attempt.
func folded(events ...results.Event) results.Progress {
	var p results.Progress
	for _, e := range events {
		e.Attempt = max(1, e.Attempt)
		p.Fold(e)
	}
	return p
}

func TestTheNumberOfAScriptThatTellsMostIsShown(t *testing.T) {
	t.Parallel()
	scalar := func(name string, value float64) results.Event {
		return results.Event{Kind: results.KindScalar, Name: name, Value: value}
	}
	started := results.Event{Kind: results.KindStarted, Start: 1}
	for name, tc := range map[string]struct {
		events []results.Event
		want   results.ScriptProgress
	}{
		"none yet":                        {[]results.Event{started}, results.ScriptProgress{Start: 1}},
		"any number is better than none":  {[]results.Event{started, scalar("lr", 0.1)}, results.ScriptProgress{Start: 1, Name: "lr", Value: 0.1}},
		"the newest of the same name":     {[]results.Event{started, scalar("lr", 2), scalar("lr", 1)}, results.ScriptProgress{Start: 1, Name: "lr", Value: 1}},
		"a loss before a learning rate":   {[]results.Event{started, scalar("loss", 2), scalar("lr", 1)}, results.ScriptProgress{Start: 1, Name: "loss", Value: 2}},
		"a score before a loss":           {[]results.Event{started, scalar("Accuracy", 0.5), scalar("loss", 2)}, results.ScriptProgress{Start: 1, Name: "Accuracy", Value: 0.5}},
		"other data before the same data": {[]results.Event{started, scalar("eval/loss", 3), scalar("f1", 0.9)}, results.ScriptProgress{Start: 1, Name: "eval/loss", Value: 3}},
		"a loss of the validation in capitals": {
			[]results.Event{started, scalar("train_acc", 1), scalar("VAL_LOSS", 2)}, results.ScriptProgress{Start: 1, Name: "VAL_LOSS", Value: 2},
		},
		"perplexity is a loss":               {[]results.Event{started, scalar("ppl", 20), scalar("gradient", 7)}, results.ScriptProgress{Start: 1, Name: "ppl", Value: 20}},
		"a name without meaning is replaced": {[]results.Event{started, scalar("a", 1), scalar("b", 2)}, results.ScriptProgress{Start: 1, Name: "b", Value: 2}},
		"the next start has no number": {
			[]results.Event{started, scalar("val", 1), {Kind: results.KindStarted, Start: 2, ResumedFrom: "out/last.pt"}},
			results.ScriptProgress{Start: 2, ResumedFrom: "out/last.pt"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := folded(tc.events...)
			require.Equal(t, &tc.want, p.Script)
			require.Equal(t, results.PhaseScript, p.Phase)
		})
	}
	p := folded(scalar("loss", 1))
	require.Nil(t, p.Script, "a number before the script has started is of no script")
}

func TestProgressTakesFromAnEventWhatItTells(t *testing.T) {
	t.Parallel()
	loss, rate, eta, best := 0.5, 20.0, 90.0, 0.84
	for name, tc := range map[string]struct {
		events []results.Event
		want   results.Progress
	}{
		"progress": {
			[]results.Event{{Kind: results.KindProgress, Epoch: 2, Epochs: 3, Step: 7, Steps: 9, Fraction: 0.4, Loss: &loss, ETASeconds: &eta, SamplesPerSecond: rate}},
			results.Progress{Attempt: 1, Epoch: 2, Epochs: 3, Step: 7, Steps: 9, Fraction: 0.4, Loss: &loss, ETA: 90 * time.Second, SamplesPerSecond: rate},
		},
		"a later progress without loss and speed keeps the earlier ones": {
			[]results.Event{
				{Kind: results.KindProgress, Epoch: 1, Epochs: 3, Loss: &loss, SamplesPerSecond: rate, ETASeconds: &eta},
				{Kind: results.KindProgress, Epoch: 2, Epochs: 3},
			},
			results.Progress{Attempt: 1, Epoch: 2, Epochs: 3, Loss: &loss, SamplesPerSecond: rate},
		},
		"an evaluation on the training rows is not shown": {
			[]results.Event{{Kind: results.KindEval, Split: results.SplitTrain, Metrics: map[string]float64{"loss": 1}}},
			results.Progress{Attempt: 1},
		},
		"a trial": {
			[]results.Event{{Kind: results.KindTrial, Trial: 3, Trials: 9, Fraction: 0.3, BestSettings: "epochs 5", BestValue: &best, ETASeconds: &eta}},
			results.Progress{
				Attempt: 1, Fraction: 0.3, ETA: 90 * time.Second,
				Trial: &results.TrialProgress{Number: 3, Trials: 9, Settings: "epochs 5", Value: &best},
			},
		},
		"the machine": {
			[]results.Event{{Kind: results.KindResource, Device: "cuda", Workers: 4}},
			results.Progress{Attempt: 1, Device: "cuda", Workers: 4},
		},
		"a decision in words": {
			[]results.Event{{Kind: results.KindDecision, What: "test rows", Choice: []byte(`["a.csv","b.csv"]`), Why: "Their names say so."}},
			results.Progress{Attempt: 1, Decisions: []results.Decision{{What: "test rows", Choice: "a.csv and b.csv", Why: "Their names say so."}}},
		},
		"what a newer trainer adds": {
			[]results.Event{{Kind: "mood", Text: "good"}, {Kind: results.KindCheckpoint, Path: "x"}, {Kind: results.KindError, What: "x"}},
			results.Progress{Attempt: 1},
		},
		"the end": {[]results.Event{{Kind: results.KindDone}}, results.Progress{Attempt: 1, Done: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, folded(tc.events...))
		})
	}
}

func TestAnEvaluationStaysAsItWas(t *testing.T) {
	t.Parallel()
	metrics := map[string]float64{"accuracy": 0.5}
	p := folded(results.Event{Kind: results.KindEval, Split: results.SplitValidation, Epoch: 1.5, Step: 8, Metrics: metrics})
	metrics["accuracy"] = 0
	require.Equal(t, &results.Evaluation{Epoch: 1.5, Step: 8, Metrics: map[string]float64{"accuracy": 0.5}}, p.Validation)
}

func TestProgressKeepsOnlySomeNotesAndEachOnce(t *testing.T) {
	t.Parallel()
	var p results.Progress
	for range 2 { // a log may be read again from its beginning
		for i := range results.MaxNotes + 50 {
			p.Fold(results.Event{Attempt: 1, Kind: results.KindWarning, Code: "long", Text: strconv.Itoa(i)})
			p.Fold(results.Event{Attempt: 1, Kind: results.KindDecision, What: strconv.Itoa(i)})
		}
	}
	require.Len(t, p.Warnings, results.MaxNotes)
	require.Len(t, p.Decisions, results.MaxNotes)
	for i := range results.MaxNotes {
		require.Equal(t, results.Warning{Code: "long", Text: strconv.Itoa(i)}, p.Warnings[i], "the first ones stay")
		require.Equal(t, strconv.Itoa(i), p.Decisions[i].What)
	}
}

func TestProgressNamesTheFirstMetricThatIsThere(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		metrics map[string]float64
		best    *results.Best
		want    string
	}{
		"F1 where there is no accuracy":       {map[string]float64{"loss": 1, "f1_macro": 0.5, "f1": 0.4}, nil, "f1_macro"},
		"F1 of two classes":                   {map[string]float64{"loss": 1, "f1": 0.4}, nil, "f1"},
		"the loss where there is no share":    {map[string]float64{"loss": 1}, nil, "loss"},
		"a best metric that was not measured": {map[string]float64{"loss": 1}, &results.Best{Metric: "mrr"}, "loss"},
		"nothing that is known":               {map[string]float64{"mood": 1}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := results.Progress{Validation: &results.Evaluation{Metrics: tc.metrics}, Best: tc.best}
			metric, value, ok := p.Metric()
			require.Equal(t, tc.want, metric)
			require.Equal(t, tc.want != "", ok)
			require.InDelta(t, tc.metrics[tc.want], value, 0)
		})
	}
}
