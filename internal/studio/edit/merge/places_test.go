package merge

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// drawn returns a text of up to eight lines out of few, so that two texts have much in common. Some texts have no line end at the end.
func drawn(random *rand.Rand) string {
	var out strings.Builder
	for range random.IntN(9) {
		fmt.Fprintf(&out, "%c\n", 'a'+rune(random.IntN(4)))
	}
	if random.IntN(4) == 0 {
		return strings.TrimSuffix(out.String(), "\n")
	}
	return out.String()
}

// changed returns the text with one to three lines put in, taken out or replaced.
func changed(random *rand.Rand, text string) string {
	lines := strings.SplitAfter(text, "\n")
	for range 1 + random.IntN(3) {
		at := random.IntN(len(lines))
		switch random.IntN(3) {
		case 0:
			lines[at] = "new\n" + lines[at]
		case 1:
			lines[at] = ""
		default:
			lines[at] = fmt.Sprintf("%c\n", 'p'+rune(random.IntN(3)))
		}
	}
	return strings.Join(lines, "")
}

// cut returns some lines of a text; the first one is number 1.
func cut(text string, first, count int) string {
	lines := strings.SplitAfter(text, "\n")
	return strings.Join(lines[first-1:first-1+count], "")
}

func TestAConflictNamesTheLinesOfMyText(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	conflicts, agreed := 0, 0
	for range 3000 {
		base := drawn(random)
		mine, theirs := changed(random, base), changed(random, base)
		got := Three(base, mine, theirs)
		about := fmt.Sprintf("base %q, mine %q, theirs %q", base, mine, theirs)
		seen := 0
		for _, p := range got.Parts {
			if !p.Conflict {
				require.Empty(t, p.Mine+p.Theirs, about)
				continue
			}
			seen++
			require.NotEqual(t, p.Mine, p.Theirs, about)
			require.Equal(t, p.Mine, cut(mine, p.Line, p.Lines), about)
		}
		require.Equal(t, got.Conflicts, seen, about)
		require.Equal(t, seen > 0, Marked(got.Text()), about)
		if seen == 0 {
			agreed++
			require.Equal(t, got.Text(), got.Mine(), about)
			require.Equal(t, got.Text(), got.Theirs(), about)
		}
		conflicts += seen
	}
	require.Greater(t, conflicts, 500, "the texts are drawn so that many collide")
	require.Greater(t, agreed, 500, "and many do not")
}

func TestBothSidesOfAMergeSeeTheSame(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	for range 3000 {
		base := drawn(random)
		mine, theirs := changed(random, base), changed(random, base)
		about := fmt.Sprintf("base %q, mine %q, theirs %q", base, mine, theirs)
		here, there := Three(base, mine, theirs), Three(base, theirs, mine)
		require.Equal(t, here.Conflicts, there.Conflicts, about)
		require.Equal(t, here.Mine(), there.Theirs(), about)
		require.Equal(t, here.Theirs(), there.Mine(), about)
		if mine != "" && theirs != "" {
			require.Equal(t, mine, Three("", mine, theirs).Mine(), "without a common version each side stays whole: "+about)
			require.Equal(t, theirs, Three("", mine, theirs).Theirs(), about)
		}
	}
}

// applied returns a text with the changes of a difference in it, without the line end at its end. It finds their places by the old numbers, and
// checks the new ones.
func applied(t *testing.T, before string, hunks []Hunk) string {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(before, "\n"), "\n")
	var out []string
	at := 0 // lines of the old text that are done
	for _, h := range hunks {
		if first := h.Lines[0].Old; first > 0 {
			out, at = append(out, lines[at:first-1]...), first-1
		}
		for _, l := range h.Lines {
			if l.Change != Added {
				at++
				require.Equal(t, at, l.Old)
				require.Equal(t, lines[at-1], l.Text)
			}
			if l.Change != Removed {
				out = append(out, l.Text)
				require.Len(t, out, l.New)
			}
		}
	}
	return strings.Join(append(out, lines[at:]...), "\n")
}

func TestADifferenceLeadsFromOneTextToTheOther(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 6))
	for range 3000 {
		before := "first\n" + drawn(random) + strings.Repeat("same\n", random.IntN(12)) + drawn(random) + "last\n"
		after := "first\n" + changed(random, strings.TrimPrefix(before, "first\n"))
		about := fmt.Sprintf("before %q, after %q", before, after)
		hunks, err := Difference(before, after)
		require.NoError(t, err, about)
		require.Equal(t, before != after, len(hunks) > 0, about)
		require.Equal(t, strings.TrimSuffix(after, "\n"), applied(t, before, hunks), about)
	}
}
