package merge

import (
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// Change is what happened to a line.
type Change string

// The kinds of lines in a difference.
const (
	Same    Change = "same"
	Added   Change = "added"
	Removed Change = "removed"
)

// Line is one line of a difference. Old and New are its numbers in both texts, 0 where it is not there.
type Line struct {
	Change   Change
	Old, New int
	Text     string
}

// Hunk is some changed lines with a few lines around them.
type Hunk struct{ Lines []Line }

// around is how many lines are shown before and after a change.
const around = 3

// Difference returns what changed from one text to another; nothing for equal texts.
func Difference(before, after string) ([]Hunk, error) {
	unified, err := udiff.ToUnifiedDiff("", "", before, udiff.Lines(before, after), around)
	if err != nil {
		return nil, err
	}
	hunks, longer := make([]Hunk, 0, len(unified.Hunks)), 0
	for _, h := range unified.Hunks {
		older, newer := h.FromLine, h.FromLine+longer // the library's own number is wrong behind a hunk of two changes
		var hunk Hunk
		for _, l := range h.Lines {
			line := Line{Text: strings.TrimRight(l.Content, "\r\n")}
			switch l.Kind {
			case udiff.Delete:
				line.Change, line.Old = Removed, older
				older, longer = older+1, longer-1
			case udiff.Insert:
				line.Change, line.New = Added, newer
				newer, longer = newer+1, longer+1
			default:
				line.Change, line.Old, line.New = Same, older, newer
				older, newer = older+1, newer+1
			}
			hunk.Lines = append(hunk.Lines, line)
		}
		hunks = append(hunks, hunk)
	}
	return hunks, nil
}
