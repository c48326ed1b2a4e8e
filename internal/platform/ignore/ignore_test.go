package ignore_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/platform/ignore"
)

func TestFilesAreLeftOutAsGitDoes(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		doc     string
		out, in []string
	}{
		"nothing":                      {"", nil, []string{"a.csv"}},
		"comments and empty lines":     {"# *.csv\n\n  \n", nil, []string{"a.csv"}},
		"an ending, in any folder":     {"*.tif", []string{"a.tif", "x/y/b.tif"}, []string{"a.tiff", "tif"}},
		"a name, in any folder":        {"notes.csv", []string{"notes.csv", "x/notes.csv"}, []string{"my notes.csv"}},
		"a name at the top":            {"/notes.csv", []string{"notes.csv"}, []string{"x/notes.csv"}},
		"a folder":                     {"raw/", []string{"raw/a.csv", "raw/x/b.csv", "y/raw/a.csv"}, []string{"a.csv", "rawest/a.csv"}},
		"a folder at the top":          {"/raw/", []string{"raw/a.csv"}, []string{"y/raw/a.csv"}},
		"a path":                       {"raw/*.csv", []string{"raw/a.csv"}, []string{"raw/x/b.csv", "a.csv"}},
		"folders between":              {"raw/**/b.csv", []string{"raw/b.csv", "raw/x/y/b.csv"}, []string{"b.csv"}},
		"one letter":                   {"?.csv", []string{"a.csv"}, []string{"ab.csv"}},
		"letters of a set":             {"[ab].csv", []string{"a.csv", "b.csv"}, []string{"c.csv"}},
		"all but one":                  {"*\n!train.csv", []string{"a.csv", "x/b.csv"}, []string{"train.csv", "x/train.csv"}},
		"a folder but one file":        {"raw/\n!raw/a.csv", []string{"raw/b.csv"}, []string{"raw/a.csv"}},
		"the last line counts":         {"!a.csv\na.csv", []string{"a.csv"}, nil},
		"carriage returns and a BOM":   {"\ufeff*.tif\r\n*.raw\r\n", []string{"a.tif", "a.raw"}, []string{"a.csv"}},
		"a name with blanks":           {"my notes.csv", []string{"my notes.csv"}, []string{"notes.csv"}},
		"letters of another language":  {"größe.csv", []string{"größe.csv"}, []string{"groesse.csv"}},
		"letters of another case stay": {"*.TIF", nil, []string{"a.tif"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files, err := ignore.Parse([]byte(tc.doc))
			require.NoError(t, err)
			for _, file := range tc.out {
				require.True(t, files.Out(file), file)
			}
			for _, file := range tc.in {
				require.False(t, files.Out(file), file)
			}
		})
	}
	var none *ignore.Files
	require.False(t, none.Out("a.csv"))
}

func TestWrongPatternsAreRefused(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ doc, want string }{
		"an open set":   {"*.csv\n[a-", "line 2 is no pattern ([a-)"},
		"a lone sign":   {"!", "line 1 is no pattern"},
		"a long line":   {strings.Repeat("a", 201), "line 1 is longer than 200 bytes"},
		"many patterns": {strings.Repeat("a\n", 101), "more than 100 patterns"},
		"a large file":  {strings.Repeat("#", ignore.MaxBytes+1), "larger than"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := ignore.Parse([]byte(tc.doc))
			require.ErrorContains(t, err, ".clowderignore: ")
			require.ErrorContains(t, err, tc.want)
			kind, _ := job.Classify(err)
			require.Equal(t, job.KindPermanent, kind)
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add("*.tif\n!a.tif\nraw/**", "raw/a.tif")
	f.Add("!", "a")
	f.Add("[a-", "../a")
	f.Fuzz(func(t *testing.T, doc, file string) {
		files, err := ignore.Parse([]byte(doc))
		if err != nil {
			return
		}
		first := files.Out(file)
		require.Equal(t, first, files.Out(file), "the same answer twice")
	})
}
