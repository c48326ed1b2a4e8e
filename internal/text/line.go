package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// ellipsis shows that something was cut.
const ellipsis = "…"

// OneLine returns s as one line of printable characters: every run of blanks and control characters becomes one blank, and
// invisible characters, such as those that turn the direction of writing, and broken UTF-8 are dropped.
func OneLine(s string) string {
	line, _ := oneLine(s, len(s))
	return line
}

// Excerpt is OneLine cut to at most limit characters. It reads no more of s than it needs, so s may be large.
func Excerpt(s string, limit int) string {
	line, cut := oneLine(s, max(0, limit))
	if cut {
		return ended(line, limit)
	}
	return line
}

// Lines is OneLine for each line of s. Blanks at the beginning of a line stay, because YAML reads them; blank lines at the end are
// dropped.
func Lines(s string) string {
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s)
	var lines []string
	for line := range strings.SplitSeq(s, "\n") {
		indent := len(line) - len(strings.TrimLeft(line, " "))
		if line = OneLine(line); line != "" {
			line = strings.Repeat(" ", indent) + line
		}
		lines = append(lines, line)
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// Shorten cuts s to at most limit characters, the ellipsis that shows the cut included.
func Shorten(s string, limit int) string {
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return ended(s, limit)
}

// Capital returns s with a capital letter at its beginning. Errors begin without one, because they are wrapped. The name of a file keeps its
// spelling.
func Capital(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	word, _, _ := strings.Cut(s, " ")
	if size == 0 || strings.Contains(strings.TrimRight(word, ".:;,"), ".") {
		return s
	}
	return string(unicode.ToUpper(first)) + s[size:]
}

// oneLine returns at most limit characters of s, and whether there were more.
func oneLine(s string, limit int) (line string, cut bool) {
	var b strings.Builder
	b.Grow(min(len(s), limit))
	blank, count := false, 0
	for _, r := range s {
		switch {
		case unicode.IsSpace(r) || unicode.IsControl(r):
			blank = count > 0
			continue
		case r == utf8.RuneError || !unicode.IsPrint(r):
			continue
		}
		if blank && count < limit {
			b.WriteByte(' ')
			count++
		}
		if count == limit {
			return b.String(), true
		}
		b.WriteRune(r)
		blank = false
		count++
	}
	return b.String(), false
}

// ended cuts s so that it has limit characters together with an ellipsis. It has at least that many characters.
func ended(s string, limit int) string {
	if limit < 1 {
		return ""
	}
	count := 0
	for at := range s {
		if count == limit-1 {
			s = s[:at]
			break
		}
		count++
	}
	return strings.TrimRight(s, " ") + ellipsis
}
