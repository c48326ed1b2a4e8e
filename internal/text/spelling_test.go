package text_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/text"
)

var (
	units    = map[string]time.Duration{"ms": time.Millisecond, "s": time.Second, "min": time.Minute, "h": time.Hour}
	quantity = regexp.MustCompile(`(\d+(?:\.\d+)?) (ms|min|s|h)`)
)

// spelled reads a duration as it is written for people.
func spelled(t *testing.T, words string) (d time.Duration) {
	t.Helper()
	parts := quantity.FindAllStringSubmatch(words, -1)
	require.NotEmpty(t, parts, words)
	for i, part := range parts {
		v, err := strconv.ParseFloat(part[1], 64)
		require.NoError(t, err, words)
		unit := units[part[2]]
		if i > 0 {
			require.Less(t, time.Duration(v)*unit, 60*unit, "%s: as much is one more of the unit before", words)
		}
		d += time.Duration(v * float64(unit))
	}
	return d
}

// TestADurationIsWrittenAsItIs: a wrong carry from one unit to the next would be wrong by a minute or an hour.
func TestADurationIsWrittenAsItIs(t *testing.T) {
	t.Parallel()
	for _, around := range []time.Duration{
		50 * time.Millisecond, time.Second, 9950 * time.Millisecond, 10 * time.Second, 59 * time.Second, time.Minute, 90 * time.Second, 119 * time.Second,
		2 * time.Minute, 59 * time.Minute, time.Hour, 89 * time.Minute, 90 * time.Minute, 119 * time.Minute, 2 * time.Hour, 24 * time.Hour,
		1000 * time.Hour,
	} {
		for _, off := range []time.Duration{
			0, 1, time.Millisecond, 499 * time.Millisecond, 500 * time.Millisecond, 999 * time.Millisecond, 29 * time.Second, 59500 * time.Millisecond,
		} {
			for _, d := range []time.Duration{around - off, around + off} {
				if d < 50*time.Millisecond {
					continue
				}
				step, rough := time.Second, time.Second // of what is measured and of what is estimated
				switch {
				case d < 10*time.Second:
					step = 100 * time.Millisecond
				case d >= time.Hour:
					rough = 10 * time.Minute
				case d >= 90*time.Second:
					rough = time.Minute
				}
				if d >= 90*time.Minute {
					step = time.Minute
				}
				require.LessOrEqual(t, (spelled(t, text.Duration(d)) - d).Abs(), step/2+1, "%s is written as %s", d, text.Duration(d))
				require.LessOrEqual(t, (spelled(t, text.About(d)) - d).Abs(), rough/2+1, "%s is said as %s", d, text.About(d))
			}
		}
	}
}

func TestALongerAnswerIsNeverSaidToBeShorter(t *testing.T) {
	t.Parallel()
	var before time.Duration
	for d := time.Duration(0); d < 3*time.Second; d += 237 * time.Microsecond {
		said := spelled(t, text.Latency(d))
		require.GreaterOrEqual(t, said, before, "%s after %s", d, before)
		require.LessOrEqual(t, (said - d).Abs(), max(50*time.Microsecond, d/15), "%s is written as %s", d, text.Latency(d))
		before = said
	}
}

func FuzzLines(f *testing.F) {
	f.Add("a:\r\n  b: 1\n\n\x00  c\u202e\u2028 d \n\n")
	f.Add("\t\ta\n\xff\xfe\n \u200b")
	f.Fuzz(func(t *testing.T, s string) {
		got := text.Lines(s)
		require.True(t, utf8.ValidString(got))
		require.Equal(t, got, text.Lines(got), "what is plain stays as it is")
		require.False(t, strings.HasSuffix(got, "\n"))
		for line := range strings.SplitSeq(got, "\n") {
			require.Equal(t, text.OneLine(line), strings.TrimLeft(line, " "), "only blanks at the beginning of a line are more than one")
		}
		require.LessOrEqual(t, strings.Count(got, "\n"), strings.Count(s, "\n")+strings.Count(s, "\r"), "a text cannot make lines of its own")
	})
}
