package requirements

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
)

func TestLinesThatNamePackagesAreRead(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ file, want string }{
		"an empty file":              {"", ""},
		"comments and blank lines":   {"# packages\n\n  # more\n", ""},
		"a name":                     {"tiktoken", "tiktoken"},
		"a comment after a name":     {"tiktoken # for BPE\r\n", "tiktoken"},
		"versions with blanks":       {"Datasets >= 3 , < 5", "Datasets>=3,<5"},
		"versions in parentheses":    {"datasets (>=3)", "datasets>=3"},
		"extras and a marker":        {"transformers[torch, sentencepiece]==4.46.3 ; python_version >= '3.9'", "transformers[torch,sentencepiece]==4.46.3 ; python_version >= '3.9'"},
		"a compatible release":       {"rich ~=13.0", "rich~=13.0"},
		"a local and a wild version": {"a==1.0+cpu\nb==1.*", "a==1.0+cpu b==1.*"},
		"a byte order mark":          {"\xef\xbb\xbftqdm", "tqdm"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lines, err := Parse([]byte(tc.file))
			require.NoError(t, err)
			var got []string
			for _, l := range lines {
				got = append(got, l.Text)
			}
			require.Equal(t, tc.want, strings.Join(got, " "))
		})
	}
}

func TestLinesThatReachOutsideTheIndexAreRefused(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ file, want string }{
		"an index":               {"tqdm\n--index-url https://evil.example.org/simple", "line 2: options such as"},
		"another file":           {"-r /etc/passwd", "line 1: options such as"},
		"an editable folder":     {"-e .", "options such as"},
		"an address":             {"https://evil.example.org/a.whl", "addresses are not allowed"},
		"an address of a name":   {"a @ https://evil.example.org/a.whl", "addresses are not allowed"},
		"a file of a name":       {"a @ file:///etc/passwd", "addresses are not allowed"},
		"git":                    {"git+ssh://git@example.org/a", "addresses are not allowed"},
		"git without an address": {"a@git", "addresses are not allowed"},
		"a folder":               {"./mine", "files and folders are not allowed"},
		"an absolute path":       {"/tmp/a", "files and folders are not allowed"},
		"a wheel":                {"a-1.0-py3-none-any.whl", "files and folders are not allowed"},
		"hashes":                 {"a==1 --hash=sha256:00", "options after a package"},
		"a long line":            {"a==1 \\\n  --hash=sha256:00", "line 1: lines that continue"},
		"a variable":             {"${HOME}", `"${HOME}" names no package`},
		"a variable as version":  {"a==${HOME}", "is not a version"},
		"a variable as extra":    {"a[${HOME}]", "is not the name of an extra"},
		"a strange marker":       {"a ; $(id)", "is not a condition"},
		"another encoding":       {"gr\xfc\xdfe", "not UTF-8"},
		"a large file":           {strings.Repeat("a\n", MaxFile), "larger than"},
		"many packages":          {strings.Repeat("a\n", maxLines+1), "more than 500 packages"},
		"several wrong lines":    {"-e .\ntqdm\n-e .", "line 1: options such as -r, -e, --index-url and --hash are not allowed: write only names and versions of packages; line 3:"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Parse([]byte(tc.file))
			require.ErrorContains(t, err, tc.want)
			require.NotContains(t, err.Error(), "evil.example.org", "an address may hold a password")
			kind, _ := job.Classify(err)
			require.Equal(t, job.KindPermanent, kind)
		})
	}
}

// FuzzParse checks that nothing but names, versions and markers reaches uv, whatever a user writes.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"a==1", "a[b]>=1,<2 ; python_version < '3'", "-r x", "a @ file:///x", "a\\\n--hash=x", "${A}", "a==1 # b"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		lines, faults := parse(doc)
		require.LessOrEqual(t, len(faults), mostFaults+1)
		for _, l := range lines {
			require.NotContains(t, l.Text, "\n")
			require.NotContains(t, l.Text, "\r")
			require.False(t, strings.HasPrefix(l.Text, "-"))
			require.False(t, strings.ContainsAny(l.Text, "@/\\$%`{\x00"), l.Text)
			again, err := parseLine(l.Text)
			require.NoError(t, err)
			require.Equal(t, l.Text, again.Text, "a line that was written is read the same")
		}
	})
}
