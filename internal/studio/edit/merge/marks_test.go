package merge

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOnlyTheMarksOfAMergeAreAnOpenConflict(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want bool
	}{
		"the first mark":                    {"a\n<<<<<<< mine\nb\n", true},
		"the last mark":                     {"b\n>>>>>>> theirs\nc\n", true},
		"a mark in the last line":           {"b\n>>>>>>> theirs", true},
		"lines that end as on Windows":      {"a\r\n<<<<<<< mine\r\nb\r\n", true},
		"the line below a heading":          {"Results\n=======\n", false},
		"a mark that is indented":           {"  <<<<<<< mine\n", false},
		"a mark with more behind it":        {"<<<<<<< mine and yours\n", false},
		"a mark that git writes":            {"<<<<<<< HEAD\na\n=======\nb\n>>>>>>> main\n", false},
		"a mark in the middle of a line":    {"see <<<<<<< mine\n", false},
		"no text":                           {"", false},
		"a line end that is only a return":  {"a\r<<<<<<< mine\rb", false},
		"a mark with a blank at the end":    {"<<<<<<< mine \n", false},
		"signs of inequality in many lines": {"a\n<<<\n>>>\nb\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, Marked(c.text))
		})
	}
}

func TestATextWithWindowsLineEndsIsMergedLineByLine(t *testing.T) {
	t.Parallel()
	windows := func(text string) string { return strings.ReplaceAll(text, "\n", "\r\n") }
	const base = "a\nb\nc\nd\ne\n"
	merged := Three(windows(base), windows("A\nb\nc\nd\ne\n"), windows("a\nb\nc\nd\nE\n"))
	require.Zero(t, merged.Conflicts)
	require.Equal(t, windows("A\nb\nc\nd\nE\n"), merged.Text())

	both := Three(windows(base), windows("a\nb\nMINE\nd\ne\n"), windows("a\nb\nTHEIRS\nd\ne\n"))
	require.Equal(t, 1, both.Conflicts)
	require.True(t, Marked(both.Text()))
	require.Equal(t, windows("a\nb\nMINE\nd\ne\n"), both.Mine())

	hunks, err := Difference("a\r\nb\r\n", "a\r\nB\r\n")
	require.NoError(t, err)
	require.Equal(t, []Hunk{{Lines: []Line{{Same, 1, 1, "a"}, {Removed, 2, 0, "b"}, {Added, 0, 2, "B"}}}}, hunks, "no line shows its end")
}

func TestChangesFarFromEachOtherAreShownApart(t *testing.T) {
	t.Parallel()
	body := strings.Repeat("same\n", 20)
	hunks, err := Difference("first\n"+body+"last", "FIRST\n"+body+"last\n")
	require.NoError(t, err)
	require.Equal(t, []Hunk{
		{Lines: []Line{{Removed, 1, 0, "first"}, {Added, 0, 1, "FIRST"}, {Same, 2, 2, "same"}, {Same, 3, 3, "same"}, {Same, 4, 4, "same"}}},
		{Lines: []Line{{Same, 19, 19, "same"}, {Same, 20, 20, "same"}, {Same, 21, 21, "same"}, {Removed, 22, 0, "last"}, {Added, 0, 22, "last"}}},
	}, hunks, "a line end at the end of a text is a change")

	hunks, err = Difference("", "a\n")
	require.NoError(t, err)
	require.Equal(t, []Hunk{{Lines: []Line{{Added, 0, 1, "a"}}}}, hunks)
	hunks, err = Difference("a\n", "")
	require.NoError(t, err)
	require.Equal(t, []Hunk{{Lines: []Line{{Removed, 1, 0, "a"}}}}, hunks)
}
