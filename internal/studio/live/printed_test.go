package live

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
)

func TestALogIsFollowed(t *testing.T) {
	t.Parallel()
	line, bar := strings.Repeat("x", 99)+"\n", "50 %\r"
	type step struct {
		write string
		want  Printed
		ok    bool
	}
	for name, steps := range map[string][]step{
		"nothing is printed":                   {{"", Printed{}, false}},
		"whole lines are sent":                 {{"one\ntw", Printed{"one\n", true}, true}, {"", Printed{}, false}, {"o\n", Printed{"two\n", false}, true}},
		"escape codes are left out":            {{"\x1b[31mred\x1b[0m\x07\ttab\n", Printed{"[31mred[0m\ttab\n", true}, true}},
		"of a progress bar the last state":     {{"10 %\r50 %\r100 %\r\n", Printed{"100 %\n", true}, true}},
		"bytes that are no text stay readable": {{"a\xff\xfeb\n", Printed{"a��b\n", true}, true}},
		"a very long line is cut":              {{strings.Repeat("y", 3*maxPrintedLine) + "\n", Printed{strings.Repeat("y", maxPrintedLine) + "…\n", true}, true}},
		"a progress bar without a line end leaves the lines before it": {
			{"one\n", Printed{"one\n", true}, true},
			{strings.Repeat(bar, maxPrinted/10), Printed{}, false},
			{strings.Repeat(bar, maxPrinted/10) + "99 %", Printed{"99 %\n", false}, true},
		},
		"a log that is long begins at its end":  {{strings.Repeat(line, 1000), Printed{strings.Repeat(line, maxPrinted/100), true}, true}},
		"a log that grows too fast skips lines": {{"one\n", Printed{"one\n", true}, true}, {strings.Repeat(line, 1000), Printed{strings.Repeat(line, maxPrinted/100), true}, true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, p := newFixture(t), printed{}
			for _, s := range steps {
				if s.write != "" {
					f.write(t, results.LogFile, s.write)
				}
				got, ok, err := p.next(f.Folder(run))
				require.NoError(t, err)
				require.Equal(t, s.ok, ok)
				require.Equal(t, s.want, got)
			}
			require.LessOrEqual(t, len(p.end), maxPrinted)
		})
	}
}

func FuzzALogIsPlainText(f *testing.F) {
	f.Add([]byte("one\r\ntwo\x1b[1m\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for r := range strings.SplitSeq(plain(b), "\n") {
			require.NotContains(t, r, "\x1b")
			require.NotContains(t, r, "\r")
		}
	})
}
