package results

import (
	"bytes"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"
)

// hostile are texts that break pages which do not escape.
func hostile() []string {
	return []string{
		`<img src=x onerror=alert(1)>`, `</style><script>alert(1)</script>`, `"><svg onload=alert(1)>`, `' onmouseover='alert(1)`,
		`</title></svg><iframe src=//evil>`, `{{.Title}}`, `<!--`, `]]>`, `javascript:alert(1)`, "a\x00b", "line\nend", "\u202eturned",
		"\xff\xfe not UTF-8", `&lt;b&gt;`, strings.Repeat("<b>", 400_000), "</div></div>", "expression(alert(1))", `url(//evil)`,
	}
}

func TestReportIsWhatTheTemplateMade(t *testing.T) {
	t.Parallel()
	for _, name := range goldenResults {
		harmless := shape(t, rewritten(t, name, func(string) string { return "harmless" }))
		for _, text := range hostile() {
			t.Run(name+" "+shortenRunes(oneLine(text), 30), func(t *testing.T) {
				t.Parallel()
				page := rewritten(t, name, func(string) string { return text })
				require.Equal(t, harmless, shape(t, page))
				require.Less(t, len(page), 3<<20)
				require.NotContains(t, page, "\u202e")
				require.NotContains(t, page, "\x00")
				require.NotContains(t, page, "ZgotmplZ", "a value that html/template refused")
			})
		}
	}
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
				require.Regexp(t, `^data:image/png;base64,[A-Za-z0-9+/=]+$`, a.Val)
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
		"3 % of the texts are longer than 64 tokens", "Column sentence has the longest texts", "best in epoch 2 of 3",
		"google/bert-tiny", "early stopping", "train.tsv", "batch_size", "0.0002", "found automatically", "from transformers import",
	} {
		require.Contains(t, strings.ReplaceAll(page, "&#34;", `"`), want)
	}
	require.Equal(t, 1, strings.Count(page, "3 % of the texts are longer"), "a warning is said once")
}

func TestReportOfManyClasses(t *testing.T) {
	t.Parallel()
	f := setup(t)
	n, r := 300, &f.result
	manyClasses(r, n, func(i int) string { return "class " + thousands(i) })
	rep := newPage(nil, r, f.meta)
	require.Len(t, rep.Result.Classes, maxClassRows)
	require.Equal(t, n-maxClassRows, rep.Result.MoreClasses)
	require.Equal(t, "class 299", rep.Result.Classes[0].Label, "the most frequent first")
	require.Len(t, rep.Result.Matrix.Heads, maxMatrix+1)
	require.Equal(t, "280 others · 21", rep.Result.Matrix.Rows[maxMatrix].Label)
	var out bytes.Buffer
	require.NoError(t, writeReport(&out, nil, r, f.meta))
	require.Less(t, out.Len(), 200<<10)
}

func TestClassesWhoseLongNamesBeginAlikeStayApart(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("the same beginning ", 5)
	r := &Result{Model: Model{Labels: []string{long + "a", long + "b"}}, Confusion: [][]int{{8, 2}, {4, 16}}}
	m := newMatrix(r)
	require.Equal(t, []string{"1", "2"}, m.Heads)
	require.NotEqual(t, m.Rows[0].Label, m.Rows[1].Label)
	require.Equal(t, "80 %", m.Rows[0].Cells[0].Percent)

	var out bytes.Buffer
	require.NoError(t, writeVegaConfusion(&out, m))
	require.Equal(t, 2, strings.Count(out.String(), `"answer": "2"`))
}

func TestClassTable(t *testing.T) {
	t.Parallel()
	r := &Result{Model: Model{Labels: []string{"a", "b", "never"}}, Confusion: [][]int{{8, 2, 0}, {4, 16, 0}, {0, 0, 0}}}
	require.Equal(t, []classRow{
		{Label: "b", Precision: "0.889", Recall: "0.800", F1: "0.842", Rows: "20"},
		{Label: "a", Precision: "0.667", Recall: "0.800", F1: "0.727", Rows: "10"},
		{Label: "never", Precision: "–", Recall: "–", F1: "–", Rows: "0"},
	}, classTable(r))
}

func TestSettingsFileOfAReport(t *testing.T) {
	t.Parallel()
	r := &Result{Training: Training{Seed: 7}, Settings: []Setting{
		{"epochs", 3.0, "form"},
		{"batch_size", 32.0, "default"},
		{"text_column", `a "quoted": one`, "dataset"},
		{"learning_rate", 2e-5, sourceChosen},
		{"seed", 7.0, "form"},
		{"dry_run", false, "form"},
		{"run_name", "monday", "form"},
		{"freeze_encoder", true, "more options"},
	}}
	require.Equal(t, "seed: 7\nepochs: 3\ntext_column: \"a \\\"quoted\\\": one\"\nlearning_rate: 0.00002\nfreeze_encoder: true", settingsFile(r))
}

func FuzzReport(f *testing.F) {
	for _, text := range hostile() {
		f.Add(shorten(text, 200))
	}
	harmless := map[string][]string{}
	for _, name := range goldenResults {
		harmless[name] = shape(f, rewritten(f, name, func(string) string { return "harmless" }))
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, name := range goldenResults {
			require.Equal(t, harmless[name], shape(t, rewritten(t, name, func(string) string { return text })), name)
		}
	})
}

func FuzzMarkdown(f *testing.F) {
	for _, text := range hostile() {
		f.Add(shorten(text, 200))
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := markdown(text)
		require.NotContains(t, got, "\n")
		require.NotContains(t, got, "<")
	})
}

func BenchmarkReport(b *testing.B) {
	f := setup(b)
	events, err := ReadEvents(f.run())
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		var out bytes.Buffer
		require.NoError(b, writeReport(&out, events, &f.result, f.meta))
	}
}

// fixtureReport is the report of the run folder that the other tests are made of.
func fixtureReport(tb testing.TB) string {
	tb.Helper()
	f := setup(tb)
	events, err := ReadEvents(f.run())
	require.NoError(tb, err)
	var out bytes.Buffer
	require.NoError(tb, writeReport(&out, events, &f.result, f.meta))
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
	texts := hostile()
	for _, name := range goldenResults {
		harmless := shape(t, rewritten(t, name, func(string) string { return "harmless" }))
		for seed := range uint64(10) {
			rnd := rand.New(rand.NewPCG(seed, 1))
			page := rewritten(t, name, func(string) string { return shorten(texts[rnd.IntN(len(texts))], 300) })
			require.Equal(t, harmless, shape(t, page))
		}
	}
}
