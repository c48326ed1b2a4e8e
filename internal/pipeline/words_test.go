package pipeline

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
)

func TestSentence(t *testing.T) {
	t.Parallel()
	loss := 0.6931
	for name, tc := range map[string]struct {
		progress results.Progress
		want     string
	}{
		"nothing is known": {results.Progress{}, ""},
		"before training":  {results.Progress{Phase: "prepare", Text: "Reading the data."}, "Reading the data."},
		"no evaluation yet": {
			results.Progress{Phase: "train", Epoch: 1, Epochs: 3, Fraction: 0.051, ETA: 40 * time.Second, Loss: &loss},
			"epoch 1 of 3, 5 %, 40 s left, loss 0.69",
		},
		"in the middle": {
			results.Progress{
				Phase: "train", Epoch: 2, Epochs: 3, Fraction: 0.41, ETA: 2 * time.Minute, Loss: &loss,
				Validation: &results.Evaluation{Epoch: 1, Step: 9, Metrics: map[string]float64{"accuracy": 0.834, "loss": 0.4}},
				Best:       &results.Best{Step: 9, Metric: "accuracy", Value: 0.834},
			},
			"epoch 2 of 3, 41 %, about 2 min left, validation accuracy 0.834 (best)",
		},
		"by another metric": {
			results.Progress{
				Phase: "train", Epoch: 2, Epochs: 2, Fraction: 1, Best: &results.Best{Step: 3, Metric: "f1_macro"},
				Validation: &results.Evaluation{Step: 5, Metrics: map[string]float64{"accuracy": 0.8, "f1_macro": 0.5}},
			},
			"epoch 2 of 2, 100 %, validation F1 0.500",
		},
		"a prediction": {
			results.Progress{Phase: "predict", Text: "Predicting 900 rows.", Epoch: 1, Epochs: 1, Fraction: 0.5, ETA: 20 * time.Second},
			"Predicting 900 rows, 50 %, 20 s left",
		},
		"a prediction that begins": {results.Progress{Phase: "predict", Text: "Predicting 900 rows."}, "Predicting 900 rows."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, Sentence(tc.progress))
		})
	}
}

func TestWaitingLine(t *testing.T) {
	t.Parallel()
	until := time.Date(2026, time.May, 4, 23, 59, 30, 0, time.FixedZone("", -3600))
	for name, tc := range map[string]struct {
		what   string
		waited time.Duration
		want   string
	}{
		"at first":                {"waiting for 2 of 4 workers: no node has 1 GPU free", 59 * time.Second, "waiting for 2 of 4 workers: no node has 1 GPU free"},
		"at first, for no reason": {"", 0, "waiting for Ray to start the job"},
		"after a while": {
			"waiting for 2 of 4 workers: no node has 1 GPU free", time.Minute,
			"waiting for 2 of 4 workers: no node has 1 GPU free; if that lasts until 5 May 00:59 UTC, this job is given up",
		},
		"after a while, for no reason": {
			"", time.Hour, "waiting for Ray to start the job; if that lasts until 5 May 00:59 UTC, this job is given up",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, waitingLine(tc.what, tc.waited, until))
		})
	}
}

func TestAWaitTellsItsEndOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, func(c *Config) { c.PendingTimeout = time.Hour })
		b.waitsAndTrains(t, 10*time.Minute, 11*time.Minute)
		b.accept(t, run, nil)
		b.runUntilOver(t)
		require.Equal(t, []string{
			"Waiting for 1 CPU", "Waiting for 1 CPU; if that lasts until 1 Jan 01:00 UTC, this job is given up",
		}, b.texts(run, "Waiting"))
	})
}

func TestDuration(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		-time.Second: "0 s", 0: "0 s", 89 * time.Second: "89 s", 100 * time.Second: "about 2 min",
		59 * time.Minute: "about 59 min", 80 * time.Minute: "about 1 h 20 min", 26 * time.Hour: "about 26 h 0 min",
	} {
		require.Equal(t, want, duration(d), d)
	}
}

func TestCapital(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"": "", "a": "A", "éa": "Éa", "Done": "Done", "3 rows": "3 rows", "\xff": "\ufffd"} {
		require.Equal(t, want, capital(text), "%q", text)
	}
}
