package text_test

import (
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/text"
)

func TestATextOfStrangersBecomesOneLine(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ in, want string }{
		"a plain text stays":                       {"a b", "a b"},
		"an empty text stays empty":                {"", ""},
		"runs of blanks become one":                {"  a \t\r\n b  ", "a b"},
		"control characters become a blank":        {"a\x00b\x1b[31mc", "a b [31mc"},
		"broken UTF-8 is dropped":                  {"a\xff\xfeb", "ab"},
		"a replacement character is dropped":       {"a\uFFFDb", "ab"},
		"a change of the direction is dropped":     {"a\u202eb\u2066c", "abc"},
		"a zero width blank is dropped":            {"a\u200bb", "ab"},
		"letters of other scripts stay":            {"größe 漢字 שלום", "größe 漢字 שלום"},
		"a text of nothing but blanks ends empty":  {" \t\n", ""},
		"a line separator of Unicode is a blank":   {"a\u2028b", "a b"},
		"a blank that does not break is a blank":   {"a\u00a0b", "a b"},
		"a blank before a dropped character stays": {"a \u200b b", "a b"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, text.OneLine(tc.in))
		})
	}
}

func TestAnExcerptHasAtMostSoManyCharacters(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		in    string
		limit int
		want  string
	}{
		"as long as allowed":                   {"abc", 3, "abc"},
		"shorter":                              {"abc", 9, "abc"},
		"one too many":                         {"abcd", 3, "ab…"},
		"blanks at the end do not count":       {"abc  \n ", 3, "abc"},
		"no blank before the ellipsis":         {"ab cd", 4, "ab…"},
		"a cut at a blank":                     {"abc d", 3, "ab…"},
		"characters count and not bytes":       {"ééééé", 4, "ééé…"},
		"nothing but the ellipsis":             {"abc", 1, "…"},
		"no room":                              {"abc", 0, ""},
		"a limit below nothing":                {"abc", -1, ""},
		"nothing to show":                      {"\n", 0, ""},
		"control characters before the end":    {"a\x00\x00bcd", 4, "a b…"},
		"a huge text, of which little is read": {"ab" + strings.Repeat(" x", 1<<20), 3, "ab…"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, text.Excerpt(tc.in, tc.limit))
			require.Equal(t, tc.want, text.Shorten(text.OneLine(tc.in), tc.limit), "as OneLine and Shorten together")
		})
	}
}

func TestManyLinesKeepTheirIndent(t *testing.T) {
	t.Parallel()
	require.Equal(t, "a:\n  b: 1\n\n  c", text.Lines("a:\r\n  b: \x001\r\r  c \n\n  \n"))
	require.Empty(t, text.Lines("\n \n"))
}

func TestASentenceBeginsWithACapital(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"": "", "a b": "A b", "épée": "Épée", "1 row": "1 row", "Ray": "Ray", "train.py failed": "train.py failed", "stop.": "Stop.", "stop: x": "Stop: x"} {
		require.Equal(t, want, text.Capital(in))
	}
}

func TestWordsBecomeAList(t *testing.T) {
	t.Parallel()
	require.Empty(t, text.List(nil))
	require.Equal(t, "a", text.List([]string{"a"}))
	require.Equal(t, "a and b", text.List([]string{"a", "b"}))
	require.Equal(t, "a, b and c", text.List([]string{"a", "b", "c"}))
	require.Equal(t, "a, b or c", text.Choice([]string{"a", "b", "c"}))
}

func TestALongListIsCounted(t *testing.T) {
	t.Parallel()
	words := []string{"a\nb", "c", strings.Repeat("d", 99)}
	require.Equal(t, "a b, c and ddd…", text.ListSome(words, 3, 4))
	require.Equal(t, "a b, c and 1 more", text.ListSome(words, 2, 4))
	require.Equal(t, "3 more", text.ListSome(words, 0, 4))
	require.Equal(t, "3 more", text.ListSome(words, -1, 4))
	require.Equal(t, "1,000 more", text.ListSome(make([]string, 1000), 0, 4))
	require.Equal(t, "a\nb", words[0], "the words themselves stay")
}

func TestThingsAreCounted(t *testing.T) {
	t.Parallel()
	require.Equal(t, "1 row", text.Count(1, "row"))
	require.Equal(t, "0 rows", text.Count(0, "row"))
	require.Equal(t, "12,345 rows", text.Count(int64(12345), "row"))
	require.Equal(t, "-1 rows", text.Count(-1, "row"))
	require.Equal(t, "2 classes", text.Count(2, "class"))
	require.Equal(t, "2 tries", text.Count(2, "try"))
	require.Equal(t, "2 batches", text.Count(2, "batch"))
	require.Equal(t, "2 GPUs", text.Count(2, "GPU"))
	require.Equal(t, "rows", text.Plural(int64(1)<<32+1, "row"))
	require.Equal(t, "once", text.Times(1))
	require.Equal(t, "3 times", text.Times(3))
	require.Equal(t, "-1,000", text.Number(-1000))
}

func TestSizesHaveOneSpelling(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{
		-1: "0 B", 0: "0 B", 512: "512 B", 1023: "1023 B", 1 << 10: "1 KiB", 3 << 19: "1.5 MiB", 16 << 20: "16 MiB", 734 << 20: "734 MiB",
		4 << 30: "4 GiB", math.MaxInt64: "8 EiB",
	} {
		require.Equal(t, want, text.Bytes(n))
	}
}

func TestNumbersHaveNoNeedlessDigits(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]string{0: "0", 4: "4", 4.166: "4.17", 4.1: "4.1", -0.5: "-0.5", -0.001: "0", 1000: "1000"} {
		require.Equal(t, want, text.Decimal(v, 2))
	}
	require.Equal(t, "0.1", text.Decimal(0.05, 1))
	require.Equal(t, "0.0002", text.Significant(0.0002))
	require.Equal(t, "2e-05", text.Significant(0.00002))
}

func TestDurationsHaveOneSpelling(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration][2]string{
		-time.Second:                  {"0 s", "0 s"},
		0:                             {"0 s", "0 s"},
		time.Millisecond:              {"under 0.1 s", "0 s"},
		400 * time.Millisecond:        {"0.4 s", "0 s"},
		5 * time.Second:               {"5 s", "5 s"},
		35 * time.Second:              {"35 s", "35 s"},
		89 * time.Second:              {"89 s", "89 s"},
		100 * time.Second:             {"1 min 40 s", "about 2 min"},
		2 * time.Minute:               {"2 min", "about 2 min"},
		59 * time.Minute:              {"59 min", "about 59 min"},
		80 * time.Minute:              {"80 min", "about 1 h 20 min"},
		100 * time.Minute:             {"1 h 40 min", "about 1 h 40 min"},
		26 * time.Hour:                {"26 h", "about 26 h"},
		26*time.Hour + 59*time.Second: {"26 h 1 min", "about 26 h"},
	} {
		require.Equal(t, want, [2]string{text.Duration(d), text.About(d)}, d)
	}
}

func TestTheTimeOfAnAnswerIsRead(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		-time.Second: "0 ms", 740 * time.Microsecond: "0.7 ms", 2 * time.Millisecond: "2 ms", 12300 * time.Microsecond: "12 ms", 999 * time.Millisecond: "999 ms",
		999600 * time.Microsecond: "1 s", 1290 * time.Millisecond: "1.3 s",
	} {
		require.Equal(t, want, text.Latency(d))
	}
}

func FuzzExcerpt(f *testing.F) {
	f.Add("a\x00b \u202e c", 3)
	f.Fuzz(func(t *testing.T, s string, limit int) {
		line := text.Excerpt(s, limit)
		require.True(t, utf8.ValidString(line))
		require.LessOrEqual(t, utf8.RuneCountInString(line), max(0, limit))
		require.Equal(t, line, text.OneLine(line))
		require.Equal(t, text.Shorten(text.OneLine(s), limit), line)
	})
}
