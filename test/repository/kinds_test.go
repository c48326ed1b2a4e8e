package repository

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// comparesKind matches a line that asks which kind of data or which task a result or a model has, or that names a task.
var comparesKind = regexp.MustCompile(`(?i)(\.(kind|task)\s*(==|!=)\s*"[a-z]|(==|!=|case) *Kind(Text|Image|Language|Pixels|Objects)\b|switch [a-z.]*(model\.kind|\.task)\b|HasSuffix\([a-z.]*task|Contains\([a-z.]*, [a-z]+\.Kind\)|` +
	`"(text|image|tabular|table|node|link|token|multi-label)-(classification|regression|prediction|generation)"|map\[string\][^{]*\{"(text|image|table|tokens|language|graph)":)`)

// knowKinds are the comparisons that are left in the Go code, by their file, with their number and the reason.
var knowKinds = map[string]struct {
	lines  int
	reason string
}{
	"internal/results/earlier.go":             {5, "results of schema 2 do not say what their examples are called and where their labels are"},
	"internal/studio/models/reads_earlier.go": {1, "models of schema 2 do not say what they read"},
	"internal/basemodel/complete.go":          {1, "the files of an installed base model, by what the Hub calls its kind"},
	"internal/basemodel/model.go":             {1, "the kinds of installed base models that come with the description of an image processor"},
	"internal/basemodel/types.go":             {1, "the types of installed base models, by what the Hub calls their kinds"},
}

// mostComparisons is how many comparisons may be left in all.
const mostComparisons = 10

// TestTheServiceKnowsNoKind: a new kind needs no Go (docs/adr/0031-results-in-general-blocks.md).
func TestTheServiceKnowsNoKind(t *testing.T) {
	t.Parallel()
	left := 0
	for _, known := range knowKinds {
		left += known.lines
	}
	require.LessOrEqual(t, left, mostComparisons)
	for _, file := range tracked(t, "internal/*.go", "cmd/*.go") {
		if strings.HasSuffix(file, "_test.go") || strings.Contains(file, "test/") {
			continue
		}
		var lines []string
		for line := range strings.SplitSeq(read(t, file), "\n") {
			if code, _, _ := strings.Cut(line, "//"); comparesKind.MatchString(code) {
				lines = append(lines, strings.TrimSpace(line))
			}
		}
		require.LessOrEqual(t, len(lines), knowKinds[file].lines, "%s compares with a kind or a task: let the trainer describe it in result.json\n%s", file, strings.Join(lines, "\n"))
	}
}
