package localname

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLocalPathsKeepTheNames(t *testing.T) {
	t.Parallel()
	id := func(n int) string { return fmt.Sprintf("%024x", n) }
	for name, tc := range map[string]struct{ in, want []string }{
		"plain paths stay":            {[]string{"train/a.csv", "b.csv"}, []string{"train/a.csv", "b.csv"}},
		"case does not tell apart":    {[]string{"a.csv", "A.csv"}, []string{"a.csv", "A-00000001.csv"}},
		"the same name twice":         {[]string{"a.csv", "a.csv", "a.csv"}, []string{"a.csv", "a-00000001.csv", "a-00000002.csv"}},
		"a file named as a folder":    {[]string{"a", "a/b"}, []string{"a-00000000", "a/b"}},
		"dots, options, hidden files": {[]string{"../../x", "-rf", ".bashrc", "a/./b", "~"}, []string{"_/_/x", "_-rf", "_.bashrc", "a/_/b", "_~"}},
		"absolute and empty":          {[]string{"/etc/passwd", "", "//"}, []string{"etc/passwd", "file", "file-00000002"}},
		"characters of other systems": {[]string{"a:b?.csv", "c\x00\nd", `e\f`, "g. "}, []string{"a_b_.csv", "c__d", "e_f", "g"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := make([]File, len(tc.in))
			for i, p := range tc.in {
				files[i] = File{ID: id(i), Path: p}
			}
			require.Equal(t, tc.want, Paths(files))
		})
	}
}

func FuzzLocalPaths(f *testing.F) {
	f.Add("a/b\n../c\nA/B\n" + strings.Repeat("x", 300) + "\n..\n...\n\xff")
	f.Add("con\na/\n/a\na")
	f.Fuzz(func(t *testing.T, lines string) {
		var files []File
		for i, line := range strings.Split(lines, "\n") {
			files = append(files, File{ID: fmt.Sprintf("%024x", i), Path: line})
		}
		root := t.TempDir()
		seen := map[string]bool{}
		for _, p := range Paths(files) {
			require.True(t, filepath.IsLocal(p), "%q", p)
			require.False(t, seen[strings.ToLower(p)], "%q twice", p)
			seen[strings.ToLower(p)] = true
			require.True(t, strings.HasPrefix(filepath.Join(root, p), root+string(filepath.Separator)))
			for part := range strings.SplitSeq(p, "/") {
				require.LessOrEqual(t, len(part), 255)
			}
		}
		for p := range seen {
			for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
				require.False(t, seen[dir], "%q is a file and a folder", dir)
			}
		}
	})
}
