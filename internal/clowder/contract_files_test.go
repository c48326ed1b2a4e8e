package clowder_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/clienttest"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
)

// contractFiles uploads a tree, lists it and brings it back.
func contractFiles(t *testing.T, at site, s *clowder.Session, ds string) {
	t.Helper()
	ctx := t.Context()
	want := map[string]string{
		"a.csv": "text,label\nx,1\n", "empty.txt": "", "Straße.csv": "ü\n", "数据.csv": "非\n", `say "hi".csv`: "q\n", "A.CSV": "upper\n",
		"-rf.txt": "option\n", "train/a.csv": "t\n", "train/deep/b.csv": "d\n", "train/deep/c.csv": "e\n", "50%25.csv": "p\n", "two  blanks.txt": "b\n",
	}
	folders := map[string]string{"": ""}
	t.Run("makes folders and finds them", func(t *testing.T) {
		for _, path := range []string{"train", "train/deep"} {
			parent, name := "", path
			if slash := strings.LastIndex(path, "/"); slash > 0 {
				parent, name = folders[path[:slash]], path[slash+1:]
			}
			id, err := s.AddFolder(ctx, ds, parent, name)
			require.NoError(t, err)
			found, err := s.FindFolder(ctx, ds, parent, name)
			require.NoError(t, err)
			require.Equal(t, id, found)
			folders[path] = id
		}
		none, err := s.FindFolder(ctx, ds, "", "deep")
		require.NoError(t, err)
		require.Empty(t, none, "deep is not at the root")
	})
	t.Run("uploads files of all kinds of names", func(t *testing.T) {
		for _, path := range slices.Sorted(maps.Keys(want)) {
			dir, name := "", path
			if slash := strings.LastIndex(path, "/"); slash > 0 {
				dir, name = path[:slash], path[slash+1:]
			}
			got, err := s.Upload(ctx, ds, folders[dir], text(name, "text/csv", want[path]))
			if name == "two  blanks.txt" {
				clienttest.RequireKind(t, err, job.KindPermanent, 0) // a name that would not be the same afterwards
				delete(want, path)
				continue
			}
			require.NoError(t, err, path)
			require.Equal(t, name, got.Name)
			require.Equal(t, "text/csv", got.ContentType)
			require.Equal(t, folders[dir], got.FolderID)
			require.False(t, got.InFlight)
		}
		_, err := s.Upload(ctx, ds, missingID, text("x", "", "x"))
		clienttest.RequireKind(t, err, job.KindPermanent, http.StatusNotFound)
		_, err = s.Upload(ctx, missingID, "", text("x", "", "x"))
		clienttest.RequireKind(t, err, job.KindPermanent, http.StatusNotFound)
	})
	var files []clowder.File
	t.Run("lists the files of all folders beyond one page of ten", func(t *testing.T) {
		var err error
		files, err = s.Files(ctx, ds)
		require.NoError(t, err)
		me, err := s.CheckKey(ctx)
		require.NoError(t, err)
		paths := make([]string, len(files))
		for i, f := range files {
			paths[i] = f.Path
			require.Equal(t, int64(len(want[f.Path])), f.Size, f.Path)
			require.Equal(t, 1, f.Version)
			require.Equal(t, me, f.Creator)
			if dir, _, inside := strings.Cut(f.Path, "/deep/"); inside {
				require.Equal(t, []string{folders[dir], folders[dir+"/deep"]}, f.Folders)
			}
		}
		require.Equal(t, slices.Sorted(maps.Keys(want)), paths)
	})
	t.Run("brings every body to a local name of its own", func(t *testing.T) {
		dir := t.TempDir()
		var last clowder.Progress
		inputs, err := s.Stage(ctx, files, disk.Folder{Volume: dir}, func(p clowder.Progress) { last = p })
		require.NoError(t, err)
		requireInputs(t, dir, inputs, want)
		require.Equal(t, clowder.Progress{Bytes: last.TotalBytes, TotalBytes: last.TotalBytes, Files: len(want), TotalFiles: len(want)}, last)
		second := t.TempDir()
		again, err := s.Stage(ctx, files, disk.Folder{Volume: second}, nil)
		require.NoError(t, err)
		require.Equal(t, inputs, again)
		requireInputs(t, second, again, want)
	})
	t.Run("lists the files of one folder and deletes one once", func(t *testing.T) {
		held, err := s.FolderFiles(ctx, ds, folders["train"])
		require.NoError(t, err)
		require.Len(t, held, 1)
		require.Equal(t, "a.csv", held[0].Name)
		require.EqualValues(t, 2, held[0].Size)
		require.NoError(t, s.DeleteFile(ctx, held[0].ID))
		left, err := s.FolderFiles(ctx, ds, folders["train"])
		require.NoError(t, err)
		require.Empty(t, left)
		require.NoError(t, s.DeleteFile(ctx, held[0].ID), "a file that is gone is no error")
	})
	t.Run("says that a file is gone", func(t *testing.T) {
		fresh := clienttest.New(t, clowder.Config{URL: at.url}).As(job.Secret(at.key))
		gone := slices.DeleteFunc(slices.Clone(files), func(f clowder.File) bool { return f.Path != "train/a.csv" })
		_, err := fresh.Stage(ctx, gone, disk.Folder{Volume: t.TempDir()}, nil)
		clienttest.RequireKind(t, err, job.KindPermanent, http.StatusNotFound)
		require.ErrorContains(t, err, `download "train/a.csv"`)
	})
}

// requireInputs compares the files in dir with the uploaded ones.
func requireInputs(t *testing.T, dir string, inputs []job.Input, want map[string]string) {
	t.Helper()
	require.Len(t, inputs, len(want))
	seen := map[string]bool{}
	for _, in := range inputs {
		require.True(t, filepath.IsLocal(in.Path), in.Path)
		require.False(t, seen[strings.ToLower(in.Path)], in.Path)
		seen[strings.ToLower(in.Path)] = true
		body, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(in.Path)))
		require.NoError(t, err)
		require.Equal(t, want[in.Name], string(body), in.Name)
		sum := sha256.Sum256(body)
		require.Equal(t, hex.EncodeToString(sum[:]), in.SHA256)
	}
}

// text is a small body.
func text(name, kind, content string) clowder.Body {
	return clowder.Body{Name: name, ContentType: kind, Size: int64(len(content)), Open: func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(content)), nil
	}}
}

// zeros is a body of n bytes that costs no memory.
func zeros(name string, n int64) clowder.Body {
	return clowder.Body{Name: name, ContentType: "application/octet-stream", Size: n, Open: func() (io.ReadCloser, error) {
		return io.NopCloser(io.LimitReader(zeroReader{}, n)), nil
	}}
}

type zeroReader struct{}

func (zeroReader) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func readAll(t *testing.T, path string) []byte {
	t.Helper()
	body, err := os.ReadFile(path)
	require.NoError(t, err)
	return bytes.Clone(body)
}

// requireShown gets the data of a card as the page of Clowder does: its name stands unquoted in a header, where a comma would make it two.
func requireShown(t *testing.T, at site, data, name, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at.url+"/api/v2/visualizations/"+data+"/bytes", http.NoBody)
	require.NoError(t, err)
	req.Header.Set("X-API-KEY", at.key)
	req.Close = true
	answer, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = answer.Body.Close() }()
	require.Equal(t, http.StatusOK, answer.StatusCode)
	require.Equal(t, []string{"attachment; filename=" + name}, answer.Header.Values("Content-Disposition"))
	got, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.Equal(t, body, string(got))
}
