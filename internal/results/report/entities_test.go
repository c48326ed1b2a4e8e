package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
)

func tagged(t *testing.T) *results.Result {
	t.Helper()
	r, err := results.DecodeResult(resultstest.Golden(t, results.ResultFile))
	require.NoError(t, err)
	low, high := 0.71, 0.83
	scores := results.EntityScores{
		True: 120, Predicted: 110, Right: 90,
		Precision: results.Ranged{Value: 0.818}, Recall: results.Ranged{Value: 0.75}, F1: results.Ranged{Value: 0.783, Low: &low, High: &high},
	}
	r.Task, r.Metrics.Task, r.Model.Kind = "token-classification", "token-classification", results.ModelTokens
	r.Entities = &results.Entities{
		Overall: scores, Baseline: &results.EntityScores{F1: results.Ranged{Value: 0.61}},
		Types:     []results.EntityType{{Type: "PER", EntityScores: scores}, {Type: "<b>", EntityScores: scores}},
		Confusion: []results.EntityConfusion{{True: "PER", Predicted: "PER", Count: 80}, {True: "PER", Predicted: "ORG", Count: 7}, {True: "LOC", Count: 3}},
		Examples: []results.EntityExample{{File: "test.conll", Row: 12, Parts: []results.EntityPart{
			{Text: "Anna Smith", True: "PER", Predicted: "PER"}, {Text: "of"}, {Text: "Acme", True: "ORG"}, {Text: "Rome", True: "LOC", Predicted: "ORG"},
		}}},
	}
	return r
}

func TestReportShowsEntities(t *testing.T) {
	t.Parallel()
	page := renderResult(t, tagged(t))
	for _, text := range []string{
		"The model finds 90 of 120 entities with all their words and their type; 90 of its 110 predictions are right.",
		"With the most frequent tag of each word, F1 is 0.610.", "&lt;b&gt;", "0.710–0.830", "no entity",
		`<span class="cft-tag cft-hits">Anna Smith <small>PER</small></span>`,
		`<span class="cft-tag cft-misses">Acme <small>ORG, predicted no entity</small></span>`,
		`<span class="cft-tag cft-misses">Rome <small>LOC, predicted ORG</small></span>`, "(test.conll, row 12)",
	} {
		require.Contains(t, page, text)
	}
	require.NotContains(t, page, "<b>PER")
	requireSelfContained(t, page)
}

func TestReportsOfOtherModelsHaveNoEntities(t *testing.T) {
	t.Parallel()
	r := tagged(t)
	r.Entities = nil
	require.NotContains(t, renderResult(t, r), "Test sentences with their entities")
}

func TestModelOfTaggedWordsSaysHowToUseIt(t *testing.T) {
	t.Parallel()
	require.True(t, strings.Contains(ModelForm{Base: "bert-tiny", Kind: results.ModelTokens}.Guide(nil), SnippetFile("tokens")) && SnippetFile("tokens") != "")
}
