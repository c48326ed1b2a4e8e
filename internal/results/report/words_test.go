package report

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
	"github.com/ncsa/clowder-ray/internal/results/resultstest/golden"
)

// TestWordsOfTheReports holds every word that a user reads in a report, so that a change of one is seen when it is reviewed.
func TestWordsOfTheReports(t *testing.T) {
	t.Parallel()
	for _, name := range resultstest.GoldenResults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := results.DecodeResult(resultstest.Golden(t, name))
			require.NoError(t, err)
			golden.Require(t, "report-"+strings.TrimSuffix(name, ".json")+".txt", []byte(visible(t, renderResult(t, r))))
		})
	}
}

func TestWordsOfTheModelCards(t *testing.T) {
	t.Parallel()
	for _, name := range []string{results.ResultFile, "result-regression.json", "result-image.json", "result-graph.json"} {
		r, err := results.DecodeResult(resultstest.Golden(t, name))
		require.NoError(t, err)
		var out bytes.Buffer
		require.NoError(t, WriteCard(&out, resultstest.LikelyMeta(r), r))
		golden.Require(t, "card-"+strings.TrimSuffix(name, ".json")+".md", out.Bytes())
	}
}

func TestVerdictsOfTheGoldenResultsAreGolden(t *testing.T) {
	t.Parallel()
	all := map[string]Verdict{}
	for _, name := range resultstest.GoldenResults {
		r, err := results.DecodeResult(resultstest.Golden(t, name))
		require.NoError(t, err)
		all[name] = NewVerdict(r)
	}
	doc, err := json.MarshalIndent(all, "", "  ")
	require.NoError(t, err)
	golden.Require(t, "verdicts.json", append(doc, '\n'))
}

// oldWords are words that no text for a user has.
var oldWords = regexp.MustCompile(`(?i)\b(lest|anew|whoever|whomever|whatsoever|thereof|mend|mends|for ever|by heart|know not|taken for)\b`)

func TestNoReportHasAWordOfTheOldStyle(t *testing.T) {
	t.Parallel()
	for _, name := range resultstest.GoldenResults {
		r, err := results.DecodeResult(resultstest.Golden(t, name))
		require.NoError(t, err)
		require.Empty(t, oldWords.FindAllString(visible(t, renderResult(t, r)), -1), name)
	}
}

// visible is the text of a page, a line for each piece, with the titles that a mouse shows.
func visible(tb testing.TB, page string) string {
	tb.Helper()
	root, err := html.Parse(strings.NewReader(page))
	require.NoError(tb, err)
	var lines []string
	var visit func(n *html.Node)
	visit = func(n *html.Node) {
		if n.Type == html.ElementNode && n.Data == "style" {
			return
		}
		for _, a := range n.Attr {
			if a.Key == "title" {
				lines = append(lines, "["+a.Val+"]")
			}
		}
		if n.Type == html.TextNode && strings.TrimSpace(n.Data) != "" {
			lines = append(lines, strings.TrimSpace(n.Data))
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			visit(c)
		}
	}
	visit(root)
	return strings.Join(lines, "\n") + "\n"
}

func TestAnArticleFitsItsWord(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"": "a simple model", "\n": "a simple model", "bag of words": "a bag of words", "average": "an average", "Index": "an Index"} {
		require.Equal(t, want, article(in))
	}
	require.Equal(t, "1 epoch", epochs(1))
	require.Equal(t, "4.17 epochs", epochs(4.1667))
}

func TestConstantAnswerIsNamedAsWhatItIs(t *testing.T) {
	t.Parallel()
	counts := &results.Result{Model: results.Model{Labels: []string{"seal", "bear"}}, Data: results.Data{Labels: results.Counts{"seal": 3, "bear": 9}}}
	for title, want := range map[string]string{
		"most frequent class":                    `always predicting "bear"`,
		"most frequent label":                    `always predicting "bear"`,
		"mean":                                   "always predicting the mean",
		"one box of the mean size in the middle": "always predicting one box of the mean size in the middle",
		"ice everywhere":                         "always predicting ice everywhere",
		"":                                       "always predicting the same answer",
	} {
		require.Equal(t, want, constantAnswer(counts, &results.Baseline{Title: title}))
	}
}
