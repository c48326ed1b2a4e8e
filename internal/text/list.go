package text

import (
	"slices"

	"github.com/dustin/go-humanize/english"
)

// List joins words as in a sentence: "a, b and c".
func List(words []string) string { return english.WordSeries(words, "and") }

// Choice joins words as in a sentence: "a, b or c".
func Choice(words []string) string { return english.WordSeries(words, "or") }

// ListSome lists at most limit of words, each in one line of at most width characters, and counts the others: "a, b and 3 more".
func ListSome(words []string, limit, width int) string {
	shown := slices.Clone(words[:min(len(words), max(0, limit))])
	for i, word := range shown {
		shown[i] = Excerpt(word, width)
	}
	if more := len(words) - len(shown); more > 0 {
		shown = append(shown, Number(more)+" more")
	}
	return List(shown)
}
