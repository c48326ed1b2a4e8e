package results_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
)

func TestSentence(t *testing.T) {
	t.Parallel()
	loss, value := 0.6931, 0.84
	for name, tc := range map[string]struct {
		progress results.Progress
		want     string
	}{
		"nothing is known": {results.Progress{}, ""},
		"before training":  {results.Progress{Phase: "prepare", Text: "Reading the data."}, "Reading the data."},
		"a model that reads texts before the training": {
			results.Progress{Phase: "prepare", Text: "org/small reads 900 texts.", Fraction: 0.5, ETA: 20 * time.Second},
			"org/small reads 900 texts, 50 %, 20 s left",
		},
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
		"the default settings of a search": {
			results.Progress{Phase: "train", Fraction: 0.05, Trial: &results.TrialProgress{Trials: 10}},
			"Default settings, the first of 10 trials, 5 %",
		},
		"a trial of a search": {
			results.Progress{Phase: "train", Fraction: 0.41, ETA: 2 * time.Minute, Trial: &results.TrialProgress{
				Number: 7, Trials: 10, Settings: "learning_rate 0.002", Value: &value,
			}},
			"Trial 7 of 10, 41 %, about 2 min left: best so far 0.84 with learning_rate 0.002",
		},
		"after a search": {
			results.Progress{Phase: "test", Text: "Measuring the best model.", Trial: &results.TrialProgress{Number: 9, Trials: 10}},
			"Measuring the best model.",
		},
		"a prediction": {
			results.Progress{Phase: "predict", Text: "Predicting 900 rows.", Epoch: 1, Epochs: 1, Fraction: 0.5, ETA: 20 * time.Second},
			"Predicting 900 rows, 50 %, 20 s left",
		},
		"a script that begins": {results.Progress{Phase: results.PhaseScript, Script: &results.ScriptProgress{Start: 1}}, "the script runs"},
		"a script that tells its epochs": {
			results.Progress{
				Phase: results.PhaseScript, Epoch: 2, Epochs: 3, Fraction: 0.41, ETA: 2 * time.Minute, Loss: &loss,
				Script: &results.ScriptProgress{Start: 1, Name: "val_loss", Value: 1.4697},
			},
			"the script runs: epoch 2 of 3, 41 %, about 2 min left, val_loss 1.47",
		},
		"a script that tells its steps": {
			results.Progress{Phase: results.PhaseScript, Step: 1200, Steps: 5000, Loss: &loss, Script: &results.ScriptProgress{Start: 1}},
			"the script runs: step 1,200 of 5,000, loss 0.693",
		},
		"a script that goes on": {
			results.Progress{Phase: results.PhaseScript, Step: 250, Script: &results.ScriptProgress{Start: 2, ResumedFrom: "out/ckpt.pt"}},
			"the script goes on from out/ckpt.pt: step 250",
		},
		"a script that begins again": {
			results.Progress{Phase: results.PhaseScript, Script: &results.ScriptProgress{Start: 2}}, "the script begins again",
		},
		"after a script": {
			results.Progress{Phase: "export", Text: "Collecting the files.", Script: &results.ScriptProgress{Start: 1}}, "Collecting the files.",
		},
		"a prediction that begins": {results.Progress{Phase: "predict", Text: "Predicting 900 rows."}, "Predicting 900 rows."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, tc.progress.Sentence())
		})
	}
}
