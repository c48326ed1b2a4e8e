package report

import (
	"strings"

	"github.com/ncsa/clowder-ray/internal/text"
)

// article puts an article before the title of a simple model.
func article(s string) string {
	s = text.Excerpt(s, 60)
	switch {
	case s == "":
		return "a simple model"
	case strings.ContainsRune("aeiouAEIOU", rune(s[0])):
		return "an " + s
	default:
		return "a " + s
	}
}

// epochs says how many, which may end inside of one: "1 epoch", "4.17 epochs".
func epochs(v float64) string {
	words := text.Decimal(v, 2)
	if words == "1" {
		return "1 epoch"
	}
	return words + " epochs"
}
