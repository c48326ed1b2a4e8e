package cache

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/disk"
)

// TestTheCacheOpensWithADamagedIndex damages the index of a cache with two bodies. The first body is in the first line.
func TestTheCacheOpensWithADamagedIndex(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		damage func(t *testing.T, index string)
		left   string // the bodies that are still known
	}{
		"a line that is too long":        {appendText(strings.Repeat("x", 100_000) + "\n"), "12"},
		"a line that is too long, valid": {appendText(`{"key":"` + strings.Repeat("x", 100_000) + `"}` + "\n"), "12"},
		"a torn line":                    {appendText(`{"key":"1","sha2`), "12"},
		"a torn line in the middle":      {appendText(`{"key":"1","sha2` + "\n{}\n\n"), "12"},
		"zeros, as a power cut leaves":   {appendText(strings.Repeat("\x00", 200_000)), "12"},
		"zeros and then a line":          {appendText("\x00\x00\n"), "12"},
		"no end of the last line": {func(t *testing.T, index string) {
			t.Helper()
			info, err := os.Stat(index)
			require.NoError(t, err)
			require.NoError(t, os.Truncate(index, info.Size()-1))
		}, "12"},
		"nothing": {func(t *testing.T, index string) { t.Helper(); require.NoError(t, os.Truncate(index, 0)) }, ""},
		"more than is read": {func(t *testing.T, index string) {
			t.Helper()
			require.NoError(t, os.Truncate(index, maxIndexBytes+1000))
		}, ""},
		"a link": {func(t *testing.T, index string) {
			t.Helper()
			require.NoError(t, os.Rename(index, index+"x"))
			require.NoError(t, os.Symlink(index+"x", index))
		}, ""},
		"a link to a file inside": {func(t *testing.T, index string) {
			t.Helper()
			require.NoError(t, os.Remove(index))
			require.NoError(t, os.Symlink("made-by-whom", index))
		}, ""},
		"a pipe": {func(t *testing.T, index string) {
			t.Helper()
			require.NoError(t, os.Remove(index))
			require.NoError(t, syscall.Mkfifo(index, 0o600))
		}, ""},
		"a folder": {func(t *testing.T, index string) {
			t.Helper()
			require.NoError(t, os.Remove(index))
			require.NoError(t, os.MkdirAll(filepath.Join(index, "x"), 0o750))
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newFixture(t, "12")
			require.NoError(t, l.Close())
			tc.damage(t, filepath.Join(l.dir, indexName))
			l.open(t)
			require.Equal(t, tc.left, l.known())

			// What is put now is known after the next start, too.
			sum := strings.Repeat("3", 64)
			line, err := l.Put(NewBody([]byte("0123456789"), sum), "3", 10)
			require.NoError(t, err)
			require.NoError(t, l.Commit([]Entry{line}, nil))
			l.Release(sum)
			require.NoError(t, l.Close())
			l.open(t)
			require.Equal(t, tc.left+"3", l.known())
			require.NoFileExists(t, filepath.Join(l.dir, "made-by-whom"))
		})
	}
}

func appendText(text string) func(t *testing.T, index string) {
	return func(t *testing.T, index string) {
		t.Helper()
		f, err := os.OpenFile(index, os.O_APPEND|os.O_WRONLY, 0)
		require.NoError(t, err)
		_, err = f.WriteString(text)
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}
}

// known names the digits whose bodies are here by the index.
func (l *fixture) known() string {
	var digits strings.Builder
	for _, d := range "123" {
		if l.Holds(string(d), 10) {
			digits.WriteRune(d)
		}
	}
	return digits.String()
}

func TestAnIndexOfManyFilesIsBounded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var index bytes.Buffer
	for n := range 300 {
		fmt.Fprintf(&index, `{"key":"%d","sha256":"%064d"}`+"\n", n, n)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, indexName), index.Bytes(), 0o600))
	c, err := Open(disk.Folder{Volume: dir}, zap.NewNop())
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close()) }()
	require.Len(t, c.sums, 300)
	clear(c.sums)
	whole, err := c.readIndex(100)
	require.NoError(t, err)
	require.False(t, whole, "so that it is rewritten")
	require.Len(t, c.sums, 100)
}

func FuzzCacheIndex(f *testing.F) {
	good := `{"key":"a","sha256":"` + strings.Repeat("0", 64) + `","mtime_ns":1}`
	for _, seed := range []string{
		`{"key":"a","sha256":"../../etc/passwd","mtime_ns":1}`, good + "\n{\"key", good + "\n" + strings.Repeat("x", maxIndexLine) + "\n" + good, "\x00\n" + good, "\n\n", good + good,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, index []byte) {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, indexName), index, 0o600))
		open := func() *Cache {
			c, err := Open(disk.Folder{Volume: dir}, zap.NewNop())
			require.NoError(t, err, "the service starts")
			return c
		}
		c := open()
		for key, sum := range c.sums {
			require.Regexp(t, sumForm, sum)
			require.False(t, c.Holds(key, 0), "the cache is empty")
		}
		before := c.sums
		added := Entry{Key: "added", SHA256: strings.Repeat("a", 64), Time: 1}
		require.NoError(t, c.append([]Entry{added}))
		require.NoError(t, c.Close())
		c = open()
		require.NoError(t, c.Close())
		before[added.Key] = added.SHA256
		require.Equal(t, before, c.sums, "the same lines are read again")
		doc, err := json.Marshal(c.sums)
		require.NoError(t, err)
		require.LessOrEqual(t, len(doc), 7*len(index)+200)
	})
}
