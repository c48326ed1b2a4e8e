package clowder

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/cache"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
)

func TestAFullDiskIsReported(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("this system has no /dev/full")
	}
	defer func() { _ = full.Close() }()
	_, dog, stop := watch(t.Context(), time.Minute)
	defer stop()
	sink := &bodySink{out: full, dog: dog, add: func(int64) {}}
	err = sink.copy(t.Context(), operation{what: "download"}, strings.NewReader("abc"), 3)
	require.ErrorContains(t, err, "the disk of the training service is full")
	kind, _ := job.Classify(err)
	require.Equal(t, job.KindPermanent, kind)
}

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
			require.Equal(t, tc.want, localPaths(files))
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
		for _, p := range localPaths(files) {
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

func TestTheFoldersOfTheInputsAreDurable(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		paths, want []string
	}{
		"the root":            {[]string{"a.csv"}, []string{"."}},
		"folders and parents": {[]string{"train/cats/a.jpg", "b.jpg", "train/cats/c.jpg"}, []string{".", "train", "train/cats"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// Bodies of no bytes, which a server that does not know them can give out.
			server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
			t.Cleanup(server.Close)
			volume := t.TempDir()
			c, err := NewClient(Config{URL: server.URL, Cache: disk.Folder{Volume: volume, Name: "cache"}})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, c.Close()) })
			var files []File
			for i, path := range tc.paths {
				files = append(files, File{ID: fmt.Sprintf("%024x", i), Name: "a", Path: path})
			}
			for range 2 { // a second call finds the links of one that was killed before it synced
				var synced []string
				c.commit = func(all *cache.Cache, entries []cache.Entry, target *cache.Target) error {
					for _, f := range tc.paths {
						require.FileExists(t, filepath.Join(volume, "inputs", f), "all files are there before the sync")
					}
					synced = target.Folders()
					return all.Commit(entries, target)
				}
				_, err = c.As("KEY").Stage(t.Context(), files, disk.Folder{Volume: volume, Name: "inputs"}, nil)
				require.NoError(t, err)
				require.Equal(t, tc.want, synced)
			}
			c.commit = func(*cache.Cache, []cache.Entry, *cache.Target) error { return syscall.ENOSPC }
			_, err = c.As("KEY").Stage(t.Context(), files, disk.Folder{Volume: volume, Name: "inputs"}, nil)
			require.ErrorContains(t, err, "the disk of the training service is full")
		})
	}
}
