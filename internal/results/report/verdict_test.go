package report

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
)

func TestVerdictOfATraining(t *testing.T) {
	t.Parallel()
	score := func(value, low, high float64, n int) results.Score {
		return results.Score{Value: value, Low: &low, High: &high, N: n}
	}
	for name, tc := range map[string]struct {
		change   func(r *results.Result)
		grade    Grade
		word     string
		sentence string
	}{
		"a good model": {
			grade:    GradeGood,
			sentence: `Accuracy 0.842 (95 % interval 0.824 to 0.858) on 1,821 held-out rows; always predicting "positive" scores 0.499, a bag of words 0.800`,
		},
		"no better than the most frequent class": {
			change: func(r *results.Result) { r.Metrics.Test["accuracy"] = score(0.5, 0.47, 0.53, 1821) },
			grade:  GradeBad, word: "No better than guessing, and a bag of words does better",
		},
		"better, but weak": {
			change: func(r *results.Result) {
				r.Metrics.Test["accuracy"] = score(0.62, 0.6, 0.64, 1821)
				r.Metrics.Baselines = r.Metrics.Baselines[:1]
			},
			grade: GradeWeak, word: "Better than guessing, but weak",
		},
		"tested on few rows": {
			change: func(r *results.Result) { r.Metrics.Test["accuracy"] = score(0.9, 0.7, 0.97, 20) },
			grade:  GradeWeak, word: "Promising, but tested on few rows",
		},
		"no test rows": {
			change: func(r *results.Result) { r.Metrics.Test = nil },
			grade:  GradeWeak, word: "Trained, but not tested", sentence: `Accuracy 0.835 on 872 validation rows`,
		},
		"no accuracy": {
			change: func(r *results.Result) {
				r.Metrics.Test, r.Metric = results.Scores{"f1_macro": {Value: 0.8, N: 10}}, "f1_macro"
			},
			grade: GradeWeak, word: "Trained", sentence: "F1 0.800 on 10 held-out rows",
		},
		"as good as a simple model": {
			change: func(r *results.Result) {
				r.Metrics.Baselines[1].Test["accuracy"] = results.Score{Value: 0.842, N: 1821}
			},
			grade: GradeWeak, word: "A bag of words does as well",
			sentence: `A bag of words does as well: accuracy 0.842 (95 % interval 0.824 to 0.858) on 1,821 held-out rows; ` +
				`always predicting "positive" scores 0.499, a bag of words 0.842`,
		},
		"a simple model that chance may have made the better one": {
			change: func(r *results.Result) { r.Metrics.Baselines[1].Test["accuracy"] = results.Score{Value: 0.85, N: 1821} },
			grade:  GradeWeak, word: "A bag of words does about as well",
		},
		"a simple model that chance may have made the worse one": {
			change: func(r *results.Result) { r.Metrics.Baselines[1].Test["accuracy"] = results.Score{Value: 0.83, N: 1821} },
			grade:  GradeGood, word: "Clearly better than guessing",
			sentence: `Accuracy 0.842 (95 % interval 0.824 to 0.858) on 1,821 held-out rows; ` +
				`always predicting "positive" scores 0.499, a bag of words 0.830, a difference within the 95 % interval`,
		},
		"a rare class that is found all the same": {
			change: func(r *results.Result) {
				r.Metric = "f1_macro"
				r.Metrics.Test = results.Scores{"accuracy": score(0.984, 0.942, 0.995, 122), "f1_macro": score(0.9, 0.84, 0.96, 122)}
				r.Metrics.Baselines = []results.Baseline{{Name: "constant", Title: "most frequent class", Role: results.RoleConstant, Test: results.Scores{
					"accuracy": score(0.943, 0.887, 0.972, 122), "f1_macro": score(0.324, 0.31, 0.33, 122),
				}}}
			},
			grade: GradeGood, word: "Clearly better than guessing",
			sentence: `Accuracy 0.984 (95 % interval 0.942 to 0.995) on 122 held-out rows, F1 0.900 (constant baseline 0.324); ` +
				`always predicting "positive" scores 0.943`,
		},
		"metrics whose constant baselines are equal": {
			change: func(r *results.Result) {
				r.Metric = "ap"
				r.Described = results.MetricList{{Name: "ap", Title: "AP50:95"}, {Name: "ap50", Title: "AP50", Judges: true}}
				r.Metrics.Test = results.Scores{"ap": score(0.842, 0.818, 0.87, 15), "ap50": {Value: 1, N: 15}}
				r.Metrics.Baselines = []results.Baseline{{Name: "constant", Title: "one box", Role: results.RoleConstant, Test: results.Scores{"ap": {N: 15}, "ap50": {N: 15}}}}
			},
			grade: GradeGood, word: "Clearly better than guessing",
			sentence: `AP50:95 0.842 (95 % interval 0.818 to 0.870) on 15 held-out rows, AP50 1.000; always predicting one box scores 0.000`,
		},
		"a label that is given away": {
			change: func(r *results.Result) {
				r.Checks = []results.Check{{Code: "label_leak", Level: results.LevelWarning, Text: "code gives the label away."}}
			},
			grade: GradeWeak, word: "The score may be too good to be true",
		},
		"a label that is computed from what is read": {
			change: func(r *results.Result) {
				r.Checks = []results.Check{
					{Code: "label_formula", Level: results.LevelWarning, Text: "The label total is the sum of a and b."},
					{Code: "label_leak", Level: results.LevelOK, Text: "No other column reveals the label."},
				}
			},
			grade: GradeWeak, word: "The answer is computed from what the model reads",
		},
		"a label that is not known in full": {
			change: func(r *results.Result) {
				r.Checks = []results.Check{{Code: "follow_up", Level: results.LevelWarning, Text: "Rows were followed for different times."}}
			},
			grade: GradeWeak, word: "The answers of some rows are not known in full",
		},
		"a label that is given away, and still nothing is learnt": {
			change: func(r *results.Result) {
				r.Checks = []results.Check{{Code: "label_leak", Level: results.LevelWarning, Text: "code gives the label away."}}
				r.Metrics.Test["accuracy"] = score(0.5, 0.47, 0.53, 1821)
			},
			grade: GradeBad,
		},
		"worse than a simple model by the metric that counts": {
			change: func(r *results.Result) {
				r.Metric = "f1_macro"
				r.Metrics.Baselines[1].Test["f1_macro"] = results.Score{Value: 0.9, N: 1821}
			},
			grade: GradeWeak, word: "A bag of words does better",
			sentence: `A bag of words does better: accuracy 0.842 (95 % interval 0.824 to 0.858) on 1,821 held-out rows, F1 0.841; ` +
				`always predicting "positive" scores 0.499, a bag of words 0.800; its F1 is 0.900, and that of this model is 0.841`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := resultstest.New(t)
			if tc.change != nil {
				tc.change(&f.Result)
			}
			v := NewVerdict(&f.Result)
			require.Equal(t, tc.grade, v.Grade)
			if tc.word != "" {
				require.Equal(t, tc.word, v.Word)
			}
			if tc.sentence != "" {
				require.Equal(t, tc.sentence, v.Sentence)
			}
		})
	}
}

// TestVerdictOfTheGoldenResults keeps the sentences that users read.
func TestVerdictOfTheGoldenResults(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]Verdict{
		results.ResultFile: {
			Grade: GradeGood, Word: "Clearly better than guessing",
			Sentence: `Accuracy 0.910 (95 % interval 0.872 to 0.937) on 300 held-out rows; always predicting "negative" scores 0.500, a bag of words 0.870`,
			Champion: "Better than reviews/2 on the same test rows: accuracy 0.910 against 0.890, a difference within the 95 % interval.",
		},
		"result-regression.json": {
			Grade: GradeWeak, Word: "A linear model does about as well",
			Sentence: "A linear model does about as well: RMSE 51.40 (95 % interval 44.90 to 57.60) on 89 held-out rows, R² 0.502; " +
				"always predicting the mean scores 72.90, a linear model 50.90, a difference within the 95 % interval",
			Help:     "What may help: more rows. The baseline is delivered as baseline.zip.",
			Champion: "It could not be compared with diabetes/1: Version 1 reads the column glucose, which these rows do not have.",
		},
		"result-image.json": {
			Grade: GradeGood, Word: "Clearly better than guessing",
			Sentence: `Accuracy 0.930 (95 % interval 0.886 to 0.958) on 200 held-out rows; always predicting "galaxy" scores 0.250, a linear model 0.810`,
		},
		"result-prediction.json": {
			Grade: GradeWeak, Word: "Predicted, but scores are lower than in training",
			Sentence: "1,234 rows of 2 files predicted with reviews/3: 700 positive, 534 negative; 81 predictions below a confidence of 0.6; " +
				"accuracy 0.850 (95 % interval 0.829 to 0.869) on 1,234 labelled rows (0.910 on the test rows of training, 0.060 lower)",
		},
		"result-check.json": {
			Grade: GradeWeak, Word: "Ready to train, with 2 warnings",
			Sentence: "Data check without training: 2 warnings on 1,500 rows; training would take about 5 min",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := results.DecodeResult(resultstest.Golden(t, name))
			require.NoError(t, err)
			v := NewVerdict(r)
			v.Figures = ""
			require.Equal(t, tc, v)
		})
	}
}

func TestAnswerCountsReadAsWords(t *testing.T) {
	t.Parallel()
	for want, counts := range map[string]map[string]int{
		`6 "7", 2 "0"`:                       {"7": 6, "0": 2, "1": 0},
		"9 a, 8 b, 7 c, 7 of 2 other labels": {"a": 9, "b": 8, "c": 7, "d": 6, "e": 1},
		`1,000 "(empty)"`:                    {"": 1000},
	} {
		require.Equal(t, want, answerCounts(&results.Prediction{Counts: counts}))
	}
}
