package results

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestVerdictOfATraining(t *testing.T) {
	t.Parallel()
	score := func(value, low, high float64, n int) Score { return Score{Value: value, Low: &low, High: &high, N: n} }
	for name, tc := range map[string]struct {
		change   func(r *Result)
		grade    Grade
		word     string
		sentence string
	}{
		"a good model": {
			grade:    GradeGood,
			sentence: `Accuracy 0.842 (95 % interval 0.824 to 0.858) on 1,821 held-out rows; always answering "positive" would get 0.499, a bag of words 0.800`,
		},
		"no better than the most frequent class": {
			change: func(r *Result) { r.Metrics.Test["accuracy"] = score(0.5, 0.47, 0.53, 1821) },
			grade:  GradeBad, word: "No better than guessing, and a bag of words does better",
		},
		"better, but weak": {
			change: func(r *Result) {
				r.Metrics.Test["accuracy"] = score(0.62, 0.6, 0.64, 1821)
				r.Metrics.Baselines = r.Metrics.Baselines[:1]
			},
			grade: GradeWeak, word: "Better than guessing, but weak",
		},
		"tested on few rows": {
			change: func(r *Result) { r.Metrics.Test["accuracy"] = score(0.9, 0.7, 0.97, 20) },
			grade:  GradeWeak, word: "Promising, but tested on few rows",
		},
		"no test rows": {
			change: func(r *Result) { r.Metrics.Test = nil },
			grade:  GradeWeak, word: "Trained, but not tested", sentence: `Accuracy 0.835 on 872 validation rows`,
		},
		"no accuracy": {
			change: func(r *Result) {
				r.Metrics.Test, r.Metric = Scores{"f1_macro": {Value: 0.8, N: 10}}, "f1_macro"
			},
			grade: GradeWeak, word: "Trained", sentence: "F1 0.800 on 10 held-out rows",
		},
		"as good as a simple model": {
			change: func(r *Result) { r.Metrics.Baselines[1].Test["accuracy"] = Score{Value: 0.842, N: 1821} },
			grade:  GradeWeak, word: "A bag of words does as well",
			sentence: `A bag of words does as well: accuracy 0.842 (95 % interval 0.824 to 0.858) on 1,821 held-out rows; ` +
				`always answering "positive" would get 0.499, a bag of words 0.842`,
		},
		"worse than a simple model by the metric that counts": {
			change: func(r *Result) {
				r.Metric = "f1_macro"
				r.Metrics.Baselines[1].Test["f1_macro"] = Score{Value: 0.9, N: 1821}
			},
			grade: GradeWeak, word: "A bag of words does better",
			sentence: `A bag of words does better: accuracy 0.842 (95 % interval 0.824 to 0.858) on 1,821 held-out rows, F1 0.841; ` +
				`always answering "positive" would get 0.499, a bag of words 0.800; by F1 it has 0.900 and this model 0.841`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := setup(t)
			if tc.change != nil {
				tc.change(&f.result)
			}
			v := NewVerdict(&f.result)
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
		ResultFile: {
			Grade: GradeGood, Word: "Clearly better than guessing",
			Sentence: `Accuracy 0.910 (95 % interval 0.872 to 0.937) on 300 held-out rows; always answering "negative" would get 0.500, a bag of words 0.870`,
			Champion: "Better than reviews/2 on the same test rows: accuracy 0.910 against 0.890, a difference that chance may explain.",
		},
		"result-regression.json": {
			Grade: GradeWeak, Word: "A linear model does better",
			Sentence: "A linear model does better: RMSE 51.4 (95 % interval 44.9 to 57.6) on 89 held-out rows, R2 0.502; " +
				"always answering the mean would get 72.9, a linear model 50.9",
			Help:     "What would help: more rows. The simple model is delivered too, as baseline.zip.",
			Champion: "It could not be compared with diabetes/1: Version 1 reads the column glucose, which these rows do not have.",
		},
		"result-image.json": {
			Grade: GradeGood, Word: "Clearly better than guessing",
			Sentence: `Accuracy 0.930 (95 % interval 0.886 to 0.958) on 200 held-out rows; always answering "galaxy" would get 0.250, a linear model 0.810`,
		},
		"result-prediction.json": {
			Grade: GradeWeak, Word: "Predicted, but not as well as in training",
			Sentence: "1,234 rows of 2 files predicted with reviews/3: 700 positive, 534 negative; 81 answers below the confidence of 0.6; " +
				"accuracy 0.850 (95 % interval 0.829 to 0.869) on 1,234 labelled rows (0.910 on the test rows of its training, 0.060 lower)",
		},
		"result-check.json": {
			Grade: GradeWeak, Word: "Ready to train, with 2 warnings",
			Sentence: "Nothing was trained: 2 warnings on 1,500 rows, the training would take about 5 min",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := DecodeResult(readGolden(t, name))
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
		require.Equal(t, want, answerCounts(&Prediction{Counts: counts}))
	}
}
