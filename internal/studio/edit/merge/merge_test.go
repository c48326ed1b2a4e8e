package merge

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestChangesOfTwoPeopleAreMerged(t *testing.T) {
	t.Parallel()
	const base = "a\nb\nc\nd\ne\n"
	for name, c := range map[string]struct {
		base, mine, theirs string
		want               string
		conflicts          int
	}{
		"different lines":                    {base, "A\nb\nc\nd\ne\n", "a\nb\nc\nd\nE\n", "A\nb\nc\nd\nE\n", 0},
		"the same change":                    {base, "a\nX\nc\nd\ne\n", "a\nX\nc\nd\ne\n", "a\nX\nc\nd\ne\n", 0},
		"only mine":                          {base, "a\nb\nx\nc\nd\ne\n", base, "a\nb\nx\nc\nd\ne\n", 0},
		"only theirs":                        {base, base, "a\n", "a\n", 0},
		"one adds and one removes elsewhere": {base, "0\na\nb\nc\nd\ne\n", "a\nb\nc\nd\n", "0\na\nb\nc\nd\n", 0},
		"the same line":                      {base, "a\nb\nMINE\nd\ne\n", "a\nb\nTHEIRS\nd\ne\n", "a\nb\n<<<<<<< mine\nMINE\n=======\nTHEIRS\n>>>>>>> theirs\nd\ne\n", 1},
		"neighbouring lines":                 {base, "a\nB\nc\nd\ne\n", "a\nb\nC\nd\ne\n", "a\n<<<<<<< mine\nB\nc\n=======\nb\nC\n>>>>>>> theirs\nd\ne\n", 1},
		"both add at the end":                {base, base + "m\n", base + "t\n", base + "<<<<<<< mine\nm\n=======\nt\n>>>>>>> theirs\n", 1},
		"no line end at the end":             {"a", "b", "c", "<<<<<<< mine\nb\n=======\nc\n>>>>>>> theirs\n", 1},
		"one removes what the other changes": {base, "a\nb\nd\ne\n", "a\nb\nC\nd\ne\n", "a\nb\n<<<<<<< mine\n=======\nC\n>>>>>>> theirs\nd\ne\n", 1},
		"nobody changes anything":            {base, base, base, base, 0},
		"everything is gone on both sides":   {base, "", "", "", 0},
		"from nothing":                       {"", "x\n", "", "x\n", 0},
		"two conflicts with something between": {
			base, "1\nb\nc\nd\n5\n", "one\nb\nc\nd\nfive\n",
			"<<<<<<< mine\n1\n=======\none\n>>>>>>> theirs\nb\nc\nd\n<<<<<<< mine\n5\n=======\nfive\n>>>>>>> theirs\n", 2,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := Three(c.base, c.mine, c.theirs)
			require.Equal(t, c.want, got.Text())
			require.Equal(t, c.conflicts, got.Conflicts)
			require.Equal(t, c.conflicts > 0, Marked(got.Text()))
		})
	}
}

func TestAConflictIsTakenFromEitherSideAndNamesItsLine(t *testing.T) {
	t.Parallel()
	got := Three("a\nb\nc\n\nz\n", "A\nnew\nb\nMINE\n\nz\n", "a\nb\nTHEIRS\n\nZ\n")
	require.Equal(t, "A\nnew\nb\nMINE\n\nZ\n", got.Mine())
	require.Equal(t, "A\nnew\nb\nTHEIRS\n\nZ\n", got.Theirs())
	for _, p := range got.Parts {
		if p.Conflict {
			require.Equal(t, 4, p.Line)
			require.Equal(t, 1, p.Lines)
		}
	}
}

func TestADifferenceHasTheNumbersOfBothTexts(t *testing.T) {
	t.Parallel()
	hunks, err := Difference("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n10\n")
	require.NoError(t, err)
	var out []string
	for _, h := range hunks {
		for _, l := range h.Lines {
			out = append(out, fmt.Sprintf("%d %d %s %s", l.Old, l.New, l.Change, l.Text))
		}
	}
	require.Equal(t, []string{
		"2 2 same 2", "3 3 same 3", "4 4 same 4", "5 0 removed 5", "0 5 added five", "6 6 same 6", "7 7 same 7", "8 8 same 8", "9 9 same 9", "0 10 added 10",
	}, out)
	hunks, err = Difference("same", "same")
	require.NoError(t, err)
	require.Empty(t, hunks)
}

func FuzzThree(f *testing.F) {
	f.Add("a\nb\n", "a\nc\n", "b\n")
	f.Add("", "\n", "x")
	f.Fuzz(func(t *testing.T, base, mine, theirs string) {
		require.Equal(t, mine, Three(base, mine, base).Text(), "only I changed it")
		require.Equal(t, theirs, Three(base, base, theirs).Text(), "only they changed it")
		got := Three(base, mine, theirs)
		if got.Conflicts == 0 {
			require.Equal(t, got.Text(), Three(base, theirs, mine).Text(), "the merge does not depend on the side")
		}
		_, err := Difference(mine, theirs)
		require.NoError(t, err)
	})
}
