package clowder

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// oneLine returns text as one line of printable characters: every run of blanks and control characters becomes one blank,
// invisible format characters and broken UTF-8 disappear.
func oneLine(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	blank := false
	for _, r := range text {
		switch {
		case unicode.IsSpace(r) || unicode.IsControl(r):
			blank = b.Len() > 0
			continue
		case r == utf8.RuneError || !unicode.IsPrint(r):
			continue
		}
		if blank {
			b.WriteByte(' ')
			blank = false
		}
		b.WriteRune(r)
	}
	return b.String()
}

// manyLines is oneLine for each line of text; blank lines at its end disappear. The blanks at the beginning of a line stay as
// many, because YAML reads them.
func manyLines(text string) string {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		indent := len(line) - len(strings.TrimLeft(line, " "))
		if line = oneLine(line); line != "" {
			line = strings.Repeat(" ", indent) + line
		}
		lines = append(lines, line)
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// shorten cuts text after at most n runes; a cut shows as an ellipsis, which counts.
func shorten(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	runes := []rune(text)
	return strings.TrimRight(string(runes[:n-1]), " ") + "…"
}
