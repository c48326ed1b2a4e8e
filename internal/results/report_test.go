package results

import (
	"bytes"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/ncsa/clowder-ray/internal/job"
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
	harmless := shape(t, render(t, func(string) string { return "harmless" }))
	for _, text := range hostile() {
		t.Run(shorten(oneLine(text), 30), func(t *testing.T) {
			t.Parallel()
			page := render(t, func(string) string { return text })
			require.Equal(t, harmless, shape(t, page))
			require.Less(t, len(page), 3<<20)
			require.NotContains(t, page, "\u202e")
			require.NotContains(t, page, "\x00")
		})
	}
}

func TestReportKeepsToItself(t *testing.T) {
	t.Parallel()
	requireSelfContained(t, render(t, func(s string) string { return s }))
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
	page := render(t, func(s string) string { return s })
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

func TestClassTable(t *testing.T) {
	t.Parallel()
	r := &Result{Model: Model{Labels: []string{"a", "b", "never"}}, Confusion: [][]int{{8, 2, 0}, {4, 16, 0}, {0, 0, 0}}}
	require.Equal(t, []classRow{
		{Label: "b", Precision: "0.889", Recall: "0.800", F1: "0.842", Rows: "20"},
		{Label: "a", Precision: "0.667", Recall: "0.800", F1: "0.727", Rows: "10"},
		{Label: "never", Precision: "–", Recall: "–", F1: "–", Rows: "0"},
	}, classTable(r))
}

func TestAdvice(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(r *Result, c *curves)
		want   string
	}{
		"more epochs":        {func(r *Result, _ *curves) { r.BestEpoch = 3 }, "Raise epochs"},
		"time limit":         {func(r *Result, _ *curves) { r.Training.Stopped = "time limit" }, "Raise max_minutes"},
		"overfit":            {func(_ *Result, c *curves) { c.ValidationLoss = []point{{1, 0.5}, {2, 0.4}, {3, 0.9}} }, "by heart"},
		"truncated":          {func(r *Result, _ *curves) { r.Data.TruncatedShare = 0.4 }, "Raise max_length"},
		"imbalance":          {func(r *Result, _ *curves) { r.Data.Labels["negative"] = 10 }, `Add rows of "negative"`},
		"few rows":           {func(r *Result, _ *curves) { r.Data.Rows.Train = 80 }, "Add data"},
		"from scratch":       {func(r *Result, _ *curves) { r.Model.FromScratch = true }, "pretrained"},
		"nothing to improve": {func(*Result, *curves) {}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := setup(t)
			c := curves{}
			tc.change(&f.result, &c)
			got := advice(c, &f.result)
			if tc.want == "" {
				require.Empty(t, got)
				return
			}
			require.Len(t, got, 1)
			require.Contains(t, got[0], tc.want)
		})
	}
}

func FuzzReport(f *testing.F) {
	for _, text := range hostile() {
		f.Add(shorten(text, 200))
	}
	harmless := shape(f, render(f, func(string) string { return "harmless" }))
	f.Fuzz(func(t *testing.T, text string) {
		if oneLine(text) == "" {
			text = "-" // some places leave an empty text out
		}
		require.Equal(t, harmless, shape(t, render(t, func(string) string { return text })))
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
	events, err := ReadEvents(f.dir)
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		var out bytes.Buffer
		require.NoError(b, writeReport(&out, events, &f.result, f.meta))
	}
}

// render makes a report with every text of strangers passed through change.
func render(tb testing.TB, change func(string) string) string {
	tb.Helper()
	f := setup(tb)
	events, err := ReadEvents(f.dir)
	require.NoError(tb, err)
	for i := range events {
		e := &events[i]
		e.What, e.Why, e.Text, e.Code, e.Device = change(e.What), change(e.Why), change(e.Text), change(e.Code), change(e.Device)
		if e.Choice != nil {
			e.Choice = []byte(change(e.ChoiceText()))
		}
	}
	// The same text everywhere must not make two lists shorter, so labels and decisions stay apart by a number.
	n := 0
	each := func(s string) string { n++; return strings.Repeat("x", n) + change(s) }
	for i := range events {
		if events[i].Kind == KindDecision {
			events[i].What = each("what")
		}
	}
	r, m := &f.result, &f.meta
	r.Task, r.Model.Base, r.Training.Device, r.Data.LabelColumn = change(r.Task), change(r.Model.Base), change(r.Training.Device), change(r.Data.LabelColumn)
	r.Metrics.Task = r.Task
	for i, l := range slices.Clone(r.Model.Labels) {
		r.Model.Labels[i] = each(l)
		r.Data.Labels[r.Model.Labels[i]] = r.Data.Labels[l]
		delete(r.Data.Labels, l)
	}
	for i := range r.Data.Files {
		r.Data.Files[i] = change(r.Data.Files[i])
	}
	for i := range r.Data.InputColumns {
		r.Data.InputColumns[i] = change(r.Data.InputColumns[i])
	}
	for i := range r.Warnings {
		r.Warnings[i].Text = change(r.Warnings[i].Text)
	}
	for k, v := range r.Versions {
		r.Versions[k] = change(v)
	}
	for k, v := range m.Settings {
		if s, ok := v.(string); ok {
			m.Settings[k] = change(s)
		}
	}
	m.DatasetName, m.JobID, m.RunName = change(m.DatasetName), change(m.JobID), change(m.RunName)
	m.Inputs = []job.Input{{Name: change("train.tsv"), SHA256: change("abc")}}
	var out bytes.Buffer
	require.NoError(tb, writeReport(&out, events, r, *m))
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

// TestHostileLabelsInAnyOrder mixes hostile texts over all places at once.
func TestHostileLabelsInAnyOrder(t *testing.T) {
	t.Parallel()
	harmless := shape(t, render(t, func(string) string { return "harmless" }))
	texts := hostile()
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		// the same text always gets the same replacement, since lists are shortened by equality
		chosen := map[string]string{}
		page := render(t, func(s string) string {
			if _, ok := chosen[s]; !ok {
				chosen[s] = shorten(texts[rnd.IntN(len(texts))], 300)
			}
			return chosen[s]
		})
		got := shape(t, page)
		require.Subset(t, got, harmless)
		for _, e := range elements(t, page) {
			require.NotContains(t, []string{"script", "img", "iframe"}, e.Data)
		}
	}
}
