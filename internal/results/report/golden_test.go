package report

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
)

// renderResult makes the report of a result, with the events that such a run writes.
func renderResult(tb testing.TB, r *results.Result) string {
	tb.Helper()
	var out bytes.Buffer
	require.NoError(tb, Write(&out, resultstest.LikelyEvents(tb, r), r, resultstest.LikelyMeta(r)))
	return out.String()
}

func TestReportsOfTheGoldenResults(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{
		results.ResultFile: {
			"Clearly better than guessing", "the terms of the data", "Better than reviews/2", "bag of words", "truncated at 39", "resumed", "Learning rate", "ROC curve, area 0.964", "(ECE): 0.031",
			"Most confident mistakes", "Not bad at all", "label may be wrong", "reviews/3", "reviews@champion", "1.81 cores", "estimated:", "settings file", "--from manifest.json", "finetune.yaml", "seed: 42", "the small print is that share", "Values of each evaluation",
			"the same row is also a test row", "from transformers import",
		},
		"result-regression.json": {
			"A linear model does about as well", "What may help", "glucose", "Predicted and true values", "Errors (true minus predicted)", "Largest errors",
			"from 25 to 346, mean 152.4", "baseline.zip", "safetensors.numpy", "11 %",
		},
		"result-image.json":      {"galaxy", "data:image/png;base64,", "image-classification", "NVIDIA L4", "the name of the folder", "do not decode"},
		"result-prediction.json": {"Prediction report", "reviews/3", "700 positive, 534 negative", "Test rows of training", "6 rows could not be read", "predictions.csv"},
		"result-language.json": {
			"Answers before and after", "&lt;script&gt;", "One training example", "<mark>", "acme/chat before the training", "Exact match", "Bits per byte", "(LoRA)", "PeftModel",
		},
		"result-graph.json": {
			"MRR 0.342", "4,343 for training", "2,708, of which 2 have no edge", "81 % of the edges join nodes with the same label",
			"training before 1996", "Nodes as the model sees them", "Edges of a node", "MRR by the edges of a node", "edge from here on", "a random order has about 0.0075", "Neural networks",
			"Test edges that the model did not expect", "Hidden Markov models of proteins", "a claim about persons", "10 likeliest new edges of each node", "Results on the test edges",
			"Better than citations/2 on the same test edges", "2 layers of 128 units", "none: a pair of nodes has an edge or not",
		},
		"result-graph-prediction.json": {"120 nodes of 2 files predicted with citations/3", "the 3 likeliest new edges of each node", "100 of the trained graph, 20 new nodes", "only the features"},
		"result-check.json":            {"no training", "Ready to train, with 2 warnings", "about 5 min", "accuracy says little", "945"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := results.DecodeResult(resultstest.Golden(t, name))
			require.NoError(t, err)
			page := renderResult(t, r)
			for _, text := range want {
				require.Contains(t, page, text)
			}
			require.NotContains(t, page, "NaN")
			require.NotContains(t, page, "ZgotmplZ", "a value that html/template refused")
			require.Less(t, len(page), 300<<10)
			requireSelfContained(t, page)
		})
	}
}
