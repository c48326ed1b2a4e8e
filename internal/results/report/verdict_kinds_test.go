package report

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
)

func TestALanguageModelIsJudgedByItsBaseAndByTheTableOfNGrams(t *testing.T) {
	t.Parallel()
	bits := func(v float64) results.Scores { return results.Scores{"bits_per_byte": {Value: v, N: 20}} }
	for name, c := range map[string]struct {
		baselines []results.Baseline
		grade     Grade
		word      string
	}{
		"far better than before": {[]results.Baseline{{Name: "base", Role: results.RoleBefore, Test: bits(2.9)}}, GradeGood, "Clearly better than before the training"},
		"within the interval":    {[]results.Baseline{{Name: "base", Role: results.RoleBefore, Test: bits(2.6)}}, GradeWeak, "A little better than before the training"},
		"worse than before":      {[]results.Baseline{{Name: "base", Role: results.RoleBefore, Test: bits(2.5)}}, GradeBad, "No better than before the training"},
		"behind the table": {
			[]results.Baseline{{Name: "ngram", Title: "table of n-grams", Role: results.RoleFloor, Test: bits(2.41)}},
			GradeBad,
			"A table of n-grams is better (bits per byte 2.410 against 2.580)",
		},
		"from random weights": {nil, GradeWeak, "Trained"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := results.DecodeResult(resultstest.Golden(t, "result-language.json"))
			require.NoError(t, err)
			low, high := 2.5, 2.65
			score := results.Score{Value: 2.58, Low: &low, High: &high, N: 20}
			r.Metrics.Test, r.Described = results.Scores{"bits_per_byte": score}, results.MetricList{results.Named("bits_per_byte")}
			r.Metrics.Baselines = c.baselines
			grade, word := grade(r)
			require.Equal(t, c.grade, grade)
			require.Equal(t, c.word, word)
		})
	}
}

func TestLinksAreJudgedByTheirRankAndBesideTheSimpleRules(t *testing.T) {
	t.Parallel()
	score := func(v, low, high float64) results.Score {
		return results.Score{Value: v, Low: &low, High: &high, N: 527}
	}
	for name, tc := range map[string]struct {
		change func(*results.Result)
		want   Verdict
	}{
		"better than every rule": {func(*results.Result) {}, Verdict{Grade: GradeGood, Word: "Clearly better than guessing", Sentence: "MRR 0.342 (95 % interval 0.315 to 0.369) on 527 held-out edges" +
			", AUC 0.953; the best simple model (logistic regression on the heuristics) scores 0.319, a difference within the 95 % interval"}},
		"behind a rule": {func(r *results.Result) { r.Metrics.Baselines[1].Test["mrr"] = score(0.4, 0.37, 0.43) }, Verdict{
			Grade: GradeWeak, Word: "The best simple model (resource allocation) does better", Help: "What may help: more edges.",
			Sentence: "The best simple model (resource allocation) does better: MRR 0.342 (95 % interval 0.315 to 0.369) on 527 held-out edges, AUC 0.953; " +
				"the best simple model (resource allocation) scores 0.400",
		}},
		"a rule that is delivered": {func(r *results.Result) {
			r.Candidates[0].Chosen, r.Candidates[3].Chosen = false, true
			r.Metrics.Test["mrr"] = score(0.336, 0.31, 0.36)
		}, Verdict{
			Grade: GradeGood, Word: "Clearly better than guessing",
			Sentence: "MRR 0.336 (95 % interval 0.310 to 0.360) on 527 held-out edges, AUC 0.953; " +
				"the best simple model (logistic regression on the heuristics) scores 0.319, a difference within the 95 % interval; a simple rule is delivered (resource allocation); the network has MRR 0.307",
		}},
		"as a random order": {func(r *results.Result) {
			r.Metrics.Baselines = r.Metrics.Baselines[len(r.Metrics.Baselines)-1:]
			r.Metrics.Test = results.Scores{"mrr": score(0.008, 0.005, 0.01), "auc": score(0.51, 0.48, 0.54)}
		}, Verdict{
			Grade: GradeBad, Word: "No better than guessing",
			Sentence: "No better than guessing: MRR 0.008 (95 % interval 0.005 to 0.010) on 527 held-out edges, AUC 0.510",
		}},
		"few test edges": {func(r *results.Result) {
			r.Metrics.Baselines = r.Metrics.Baselines[len(r.Metrics.Baselines)-1:]
			r.Metrics.Test["mrr"] = score(0.342, 0.2, 0.5)
		}, Verdict{
			Grade: GradeWeak, Word: "Promising, but tested on few edges",
			Sentence: "MRR 0.342 (95 % interval 0.200 to 0.500) on 527 held-out edges, AUC 0.953",
		}},
		"no test edges": {func(r *results.Result) { r.Metrics.Test = nil }, Verdict{
			Grade: GradeWeak, Word: "Trained, but not tested",
			Sentence: "MRR 0.335 (95 % interval 0.308 to 0.362) on 527 validation edges",
		}},
		"a feature that is the label": {func(r *results.Result) {
			r.Metrics.Baselines = r.Metrics.Baselines[len(r.Metrics.Baselines)-1:]
			r.Checks = append(r.Checks, results.Check{Code: "feature_is_label", Level: results.LevelWarning, Text: "The column group tells the label."})
		}, Verdict{
			Grade: GradeWeak, Word: tooGood, Help: "Before you rely on it: The column group tells the label.",
			Sentence: tooGood + ": MRR 0.342 (95 % interval 0.315 to 0.369) on 527 held-out edges, AUC 0.953",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := results.DecodeResult(resultstest.Golden(t, "result-graph.json"))
			require.NoError(t, err)
			tc.change(r)
			v := NewVerdict(r)
			v.Figures, v.Champion = "", ""
			require.Equal(t, tc.want, v)
		})
	}
}

func TestNodesAreJudgedBesideTheBestSimpleModelThatIsNotDelivered(t *testing.T) {
	t.Parallel()
	score := func(v float64) results.Scores {
		low, high := v-0.02, v+0.02
		return results.Scores{"accuracy": {Value: v, Low: &low, High: &high, N: 1000}}
	}
	for name, tc := range map[string]struct {
		delivered, word, sentence string
	}{
		"a network behind one":      {"sage", "The best simple model (labels that spread) does about as well", "The best simple model (labels that spread) does about as well: accuracy 0.800 (95 % interval 0.780 to 0.820) on 1,000 held-out nodes; always predicting \"Theory\" scores 0.300, the best simple model (labels that spread) 0.810, a difference within the 95 % interval"},
		"the one that is delivered": {"propagation", "Clearly better than guessing", "Accuracy 0.800 (95 % interval 0.780 to 0.820) on 1,000 held-out nodes; always predicting \"Theory\" scores 0.300, a linear model 0.700"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := results.DecodeResult(resultstest.Golden(t, "result-graph.json"))
			require.NoError(t, err)
			r.Task, r.UnitName, r.Described = "node-classification", "node", nil
			r.Metric, r.Model.Labels, r.Data.Labels = "accuracy", []string{"Theory"}, map[string]int{"Theory": 9}
			r.Metrics.Test, r.Champion = score(0.8), nil
			r.Candidates = []results.Candidate{{Name: tc.delivered, Sort: results.SortNetwork, Chosen: true}}
			r.Metrics.Baselines = []results.Baseline{
				{Name: "constant", Role: results.RoleConstant, Title: "most frequent class", Test: score(0.3)},
				{Name: "linear", Role: results.RoleSimple, Title: "linear model", Test: score(0.7)},
				{Name: "propagation", Title: "labels that spread", Role: results.RoleSimple, Test: score(0.81)},
			}
			v := NewVerdict(r)
			require.Equal(t, tc.word, v.Word)
			require.Equal(t, tc.sentence, v.Sentence)
		})
	}
}
