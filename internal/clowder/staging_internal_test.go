package clowder

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/cache"
	"github.com/ncsa/clowder-ray/internal/clowder/connect"
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
	_, dog, stop := connect.Watch(t.Context(), time.Minute)
	defer stop()
	sink := &bodySink{out: full, dog: dog, add: func(int64) {}}
	err = sink.copy(t.Context(), operation{what: "download"}, strings.NewReader("abc"), 3)
	require.ErrorContains(t, err, "the disk of the training service is full")
	kind, _ := job.Classify(err)
	require.Equal(t, job.KindPermanent, kind)
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
