package report

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
)

// TestTheCardSaysWhatAModelReadsAndAnswers: a person decides by it whether the model fits.
func TestTheCardSaysWhatAModelReadsAndAnswers(t *testing.T) {
	t.Parallel()
	golden := func(name string, change func(*results.Result)) *results.Result {
		r, err := results.DecodeResult(resultstest.Golden(t, name))
		require.NoError(t, err)
		if change != nil {
			change(r)
		}
		return r
	}
	for name, tc := range map[string]struct {
		result *results.Result
		want   []string
	}{
		"a language model": {
			golden("result-language.json", nil),
			[]string{"Input: text, up to 23 tokens. Output: text that continues the input.", "Label: none: a language model learns to continue the texts."},
		},
		"a language model of questions and answers": {
			golden("result-language.json", func(r *results.Result) { r.Data.LabelColumn = "answer" }),
			[]string{"Output: text that continues the input.", "Label: answer."},
		},
		"tagged words": {tagged(t), []string{"Input: text, up to 39 tokens. Output: for each word one of 2 labels: negative and positive."}},
		"several labels": {
			golden(results.ResultFile, func(r *results.Result) { r.LabelSets = &results.LabelSets{} }),
			[]string{"Output: any of 2 labels: negative and positive."},
		},
		"one label": {golden(results.ResultFile, nil), []string{"Output: one of 2 labels: negative and positive."}},
		"a number":  {golden("result-regression.json", nil), []string{"Output: a number."}},
		"folders":   {golden("result-image.json", func(r *results.Result) { r.Data.LabelColumn = "" }), []string{"Label: the name of the folder."}},
		"links":     {golden("result-graph.json", nil), []string{"Output: the probability of an edge between two nodes", "Label: none: a pair of nodes has an edge or not."}},
		"an estimator": {
			golden(results.ResultFile, func(r *results.Result) {
				r.Model.Base, r.Candidates = "words", []results.Candidate{candidate("words", 0.2, true)}
			}),
			[]string{"fitted with scikit-learn (words)", "Input: text in any language.", "words was fitted on cpu with seed "},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var card bytes.Buffer
			require.NoError(t, WriteCard(&card, resultstest.LikelyMeta(tc.result), tc.result))
			for _, want := range tc.want {
				require.Contains(t, card.String(), want)
			}
		})
	}
}

func TestReportOfALanguageModelSaysWhatItAnswers(t *testing.T) {
	t.Parallel()
	r, err := results.DecodeResult(resultstest.Golden(t, "result-language.json"))
	require.NoError(t, err)
	page := renderResult(t, r)
	requireSelfContained(t, page)
	words := visible(t, page)
	for _, want := range []string{"Output\ntext that continues the input\n", "Input\ntext, up to 23 tokens\n", "none: a language model learns to continue the texts", "of 139,136 (LoRA)"} {
		require.Contains(t, words, want)
	}
	require.NotContains(t, words, "the name of the folder")
}

func TestAnswersOfALanguageModelAreShownBesideTheOldOnes(t *testing.T) {
	t.Parallel()
	r := &results.Result{Language: &results.Language{
		Method: "full", TrainedParameters: 1200, LearntTokens: 3400, TokensSeen: 10_200, Ways: map[string]int{"exact\nmatch": 3, "a number": 2},
		Samples: []results.Answered{{Prompt: "2+2", Wanted: "4", Before: new(""), After: "4"}, {Prompt: "3+3", After: ""}},
	}}
	part := newAnswersPart(r)
	require.Equal(t, "Each token of an answer is the likeliest one.", part.Note)
	require.True(t, part.Before)
	require.Equal(t, []answerRow{{"2+2", "4", "(nothing)", "4"}, {"3+3", "", "", "(nothing)"}}, part.Answers)
	require.Equal(t, []pair{
		{"Trained weights", "1,200"},
		{"Learnt tokens", "3,400"},
		{"Tokens seen", "10,200"},
		{"Answers found by a number", "2"},
		{"Answers found by exact match", "3"},
	}, part.Facts)

	r.Language.Sampled, r.Language.MaxNewTokens, r.Language.Method, r.Model.Parameters = true, 1500, results.MethodLoRA, 90_000
	r.Language.Samples = r.Language.Samples[1:]
	part = newAnswersPart(r)
	require.Equal(t, "The answers are drawn at random by the seed of the run. They are cut at 1,500 tokens.", part.Note)
	require.False(t, part.Before, "a model that began with random weights answered nothing before")
	require.Equal(t, pair{"Trained weights", "1,200 of 90,000 (LoRA)"}, part.Facts[0])
	require.Nil(t, newAnswersPart(&results.Result{}))
}
