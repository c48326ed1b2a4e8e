package report

import (
	"bytes"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/report/chart"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
	"github.com/ncsa/clowder-ray/internal/text"
)

func TestReportIsWhatTheTemplateMade(t *testing.T) {
	t.Parallel()
	for _, name := range resultstest.GoldenResults {
		harmless := shape(t, rewritten(t, name, func(string) string { return "harmless" }))
		for _, bad := range resultstest.Hostile() {
			t.Run(name+" "+text.Excerpt(bad, 30), func(t *testing.T) {
				t.Parallel()
				page := rewritten(t, name, func(string) string { return bad })
				require.Equal(t, harmless, shape(t, page))
				require.NotContains(t, page, strings.Repeat("&lt;b&gt;", maxText/len("<b>")+1), "a text that was not shortened")
				require.Less(t, len(page), 256<<10)
				require.NotContains(t, page, "\u202e")
				require.NotContains(t, page, "\x00")
				require.NotContains(t, page, "ZgotmplZ", "a value that html/template refused")
			})
		}
	}
}

func TestATextOfMegabytesMakesNoLargerReport(t *testing.T) {
	t.Parallel()
	size := func(times int) int {
		n := 0
		return len(rewritten(t, "result.json", func(string) string {
			if n++; n%5 == 0 { // all of this size take long under the race detector
				return strings.Repeat("<b>", times)
			}
			return "<b>"
		}))
	}
	require.Equal(t, size(20_000), size(400_000))
}

func TestReportKeepsToItself(t *testing.T) {
	t.Parallel()
	requireSelfContained(t, fixtureReport(t))
}

// requireSelfContained checks that a report loads nothing, runs nothing and styles nothing but itself.
func requireSelfContained(t *testing.T, page string) {
	t.Helper()
	require.True(t, strings.HasPrefix(page, `<div class="cft-report">`))
	for _, e := range elements(t, page) {
		require.NotContains(t, []string{"script", "link", "iframe", "object", "embed", "form", "base", "a"}, e.Data)
		for _, a := range e.Attr {
			if e.Data == "img" && a.Key == "src" {
				require.Regexp(t, `^data:image/(png|jpeg);base64,[A-Za-z0-9+/=]+$`, a.Val)
				continue
			}
			require.NotContains(t, []string{"src", "href", "style", "id", "xlink:href"}, a.Key)
			require.False(t, strings.HasPrefix(a.Key, "on"), a.Key)
		}
	}
	require.NotRegexp(t, `(?i)https?:|[^A-Za-z0-9+/]//[a-z]|@import|url\(`, page)

	// Each rule begins at the root, so that it cannot change the page around it.
	style := regexp.MustCompile(`(?s)<style>(.*)</style>`).FindStringSubmatch(page)[1]
	style = regexp.MustCompile(`@(media|container)[^{]*\{((?:[^{}]*\{[^{}]*\})*)\}`).ReplaceAllString(style, "$2")
	rules := regexp.MustCompile(`([^{}]+)\{[^{}]*\}`).FindAllStringSubmatch(style, -1)
	require.Greater(t, len(rules), 40)
	for _, rule := range rules {
		for selector := range strings.SplitSeq(rule[1], ",") {
			require.True(t, strings.HasPrefix(strings.TrimSpace(selector), ".cft-report"), selector)
		}
	}
}

func TestReportSaysWhatMatters(t *testing.T) {
	t.Parallel()
	page := fixtureReport(t)
	for _, want := range []string{
		"Accuracy 0.842 (95 % interval 0.824 to 0.858) on 1,821 held-out rows", "Clearly better than guessing",
		"3 % of the texts are longer than 64 tokens", "Column sentence has the longest texts", "was in epoch 2 of 3",
		"google/bert-tiny", "early stopping", "train.tsv", "batch_size", "0.0002", "chosen automatically", "from transformers import",
	} {
		require.Contains(t, strings.ReplaceAll(page, "&#34;", `"`), want)
	}
	require.Equal(t, 1, strings.Count(page, "3 % of the texts are longer"), "a warning is said once")
}

func TestReportOfManyClasses(t *testing.T) {
	t.Parallel()
	f := resultstest.New(t)
	n, r := 300, &f.Result
	resultstest.ManyClasses(r, n, func(i int) string { return "class " + text.Number(i) })
	rep := newPage(nil, r, f.Meta, Files{})
	require.Len(t, rep.Result.Classes, maxClassRows)
	require.Equal(t, n-maxClassRows, rep.Result.MoreClasses)
	require.Equal(t, "class 299", rep.Result.Classes[0].Label, "the most frequent first")
	require.Len(t, rep.Result.Matrix.Heads, chart.MaxMatrixClasses+1)
	require.Equal(t, "280 others · 21", rep.Result.Matrix.Rows[chart.MaxMatrixClasses].Label)
	var out bytes.Buffer
	require.NoError(t, Write(&out, nil, r, f.Meta))
	require.Less(t, out.Len(), 200<<10)
}

func TestClassesWhoseLongNamesBeginAlikeStayApart(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("the same beginning ", 5)
	r := &results.Result{Model: results.Model{Labels: []string{long + "a", long + "b"}}, Confusion: [][]int{{8, 2}, {4, 16}}}
	m := chart.NewMatrix(r)
	require.Equal(t, []string{"1", "2"}, m.Heads)
	require.NotEqual(t, m.Rows[0].Label, m.Rows[1].Label)
	require.Equal(t, "80 %", m.Rows[0].Cells[0].Percent)

	var out bytes.Buffer
	require.NoError(t, chart.WriteConfusionVega(&out, m))
	require.Equal(t, 2, strings.Count(out.String(), `"answer": "2"`))
}

func TestClassTable(t *testing.T) {
	t.Parallel()
	r := &results.Result{Model: results.Model{Labels: []string{"a", "b", "never"}}, Confusion: [][]int{{8, 2, 0}, {4, 16, 0}, {0, 0, 0}}}
	require.Equal(t, []classRow{
		{Label: "b", Precision: "0.889", Recall: "0.800", F1: "0.842", Rows: "20"},
		{Label: "a", Precision: "0.667", Recall: "0.800", F1: "0.727", Rows: "10"},
		{Label: "never", Precision: "–", Recall: "–", F1: "–", Rows: "0"},
	}, classTable(r))
}

func TestSettingsFileOfAReport(t *testing.T) {
	t.Parallel()
	r := &results.Result{Training: results.Training{Seed: 7}, Settings: []results.Setting{
		{Name: "epochs", Value: 3.0, Source: "form"},
		{Name: "batch_size", Value: 32.0, Source: "default"},
		{Name: "text_column", Value: `a "quoted": one`, Source: "dataset"},
		{Name: "learning_rate", Value: 2e-5, Source: results.SourceChosen},
		{Name: "seed", Value: 7.0, Source: "form"},
		{Name: "dry_run", Value: false, Source: "form"},
		{Name: "run_name", Value: "monday", Source: "form"},
		{Name: "freeze_encoder", Value: true, Source: "more options"},
	}}
	require.Equal(t, "seed: 7\nepochs: 3\ntext_column: \"a \\\"quoted\\\": one\"\nlearning_rate: 0.00002\nfreeze_encoder: true", settingsFile(r))
}

func FuzzReport(f *testing.F) {
	for _, bad := range resultstest.Hostile() {
		f.Add(text.Shorten(bad, 200))
	}
	harmless := map[string][]string{}
	for _, name := range resultstest.GoldenResults {
		harmless[name] = shape(f, rewritten(f, name, func(string) string { return "harmless" }))
	}
	f.Fuzz(func(t *testing.T, bad string) {
		for _, name := range resultstest.GoldenResults {
			require.Equal(t, harmless[name], shape(t, rewritten(t, name, func(string) string { return bad })), name)
		}
	})
}

func FuzzMarkdown(f *testing.F) {
	for _, bad := range resultstest.Hostile() {
		f.Add(text.Shorten(bad, 200))
	}
	f.Fuzz(func(t *testing.T, bad string) {
		got := markdown(bad)
		require.NotContains(t, got, "\n")
		require.NotContains(t, got, "<")
	})
}

func BenchmarkReport(b *testing.B) {
	f := resultstest.New(b)
	events, err := results.ReadEvents(f.Run())
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		var out bytes.Buffer
		require.NoError(b, Write(&out, events, &f.Result, f.Meta))
	}
}

// fixtureReport is the report of the run folder that the other tests are made of.
func fixtureReport(tb testing.TB) string {
	tb.Helper()
	f := resultstest.New(tb)
	events, err := results.ReadEvents(f.Run())
	require.NoError(tb, err)
	var out bytes.Buffer
	require.NoError(tb, Write(&out, events, &f.Result, f.Meta))
	return out.String()
}

// elements parses a page as a browser would parse the fragment.
func elements(tb testing.TB, page string) []*html.Node {
	tb.Helper()
	root, err := html.Parse(strings.NewReader(page))
	require.NoError(tb, err)
	var out []*html.Node
	for n := range root.Descendants() {
		if n.Type == html.ElementNode {
			out = append(out, n)
		}
		require.NotEqual(tb, html.CommentNode, n.Type)
	}
	return out
}

// shape is every element with the names of its attributes, and the values of those that are not words or places.
func shape(tb testing.TB, page string) []string {
	tb.Helper()
	var out []string
	for _, e := range elements(tb, page) {
		words := []string{e.Data}
		for _, a := range e.Attr {
			words = append(words, a.Key)
			if a.Key == "class" {
				words = append(words, a.Val)
			}
		}
		out = append(out, strings.Join(words, " "))
	}
	return out
}

// TestHostileTextsInAnyOrder mixes hostile texts over all places at once.
func TestHostileTextsInAnyOrder(t *testing.T) {
	t.Parallel()
	texts := resultstest.Hostile()
	for _, name := range resultstest.GoldenResults {
		harmless := shape(t, rewritten(t, name, func(string) string { return "harmless" }))
		for seed := range uint64(10) {
			rnd := rand.New(rand.NewPCG(seed, 1))
			page := rewritten(t, name, func(string) string { return text.Shorten(texts[rnd.IntN(len(texts))], 300) })
			require.Equal(t, harmless, shape(t, page))
		}
	}
}
