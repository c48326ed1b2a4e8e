package cache

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/disk"
)

func sumOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// keep puts a body into the cache and commits it.
func (l *fixture) keep(t *testing.T, key, text string) Entry {
	t.Helper()
	entry, err := l.Put(NewBody([]byte(text), sumOf(text)), key, int64(len(text)))
	require.NoError(t, err)
	require.NoError(t, l.Commit([]Entry{entry}, nil))
	l.Release(entry.SHA256)
	return entry
}

func (l *fixture) body(sum string) string { return filepath.Join(l.dir, sum) }

func TestEachVersionOfEachFileOfEachClowderHasItsOwnKey(t *testing.T) {
	t.Parallel()
	keys := map[string]bool{}
	for _, host := range []string{"https://a.example.org", "https://b.example.org"} {
		for _, file := range []string{"65a1", "65a2"} {
			for _, version := range []int{1, 2} {
				for _, size := range []int64{5, 50} {
					keys[Key(host, file, version, size)] = true
				}
			}
		}
	}
	require.Len(t, keys, 16)
}

func TestABodyThatWasChangedIsNotUsed(t *testing.T) {
	t.Parallel()
	other := "other text" // of the same length
	for name, change := range map[string]func(path string) error{
		"it is longer":          func(path string) error { return replace(path, "0123456789 and more") },
		"it is empty":           func(path string) error { return replace(path, "") },
		"other bytes, new time": func(path string) error { return replace(path, other) },
		"it can be written, with the old bytes and time": func(path string) error { return os.Chmod(path, 0o664) },
		"it has another time":                            func(path string) error { return os.Chtimes(path, time.Time{}, time.Now().Add(time.Hour)) },
		"it is gone":                                     os.Remove,
		"it is a link to the same bytes": func(path string) error {
			if err := os.Rename(path, path+".old"); err != nil {
				return err
			}
			return os.Symlink(path+".old", path)
		},
		"it is a folder": func(path string) error {
			if err := os.Remove(path); err != nil {
				return err
			}
			return os.MkdirAll(filepath.Join(path, "full"), 0o700)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newFixture(t, "")
			entry := l.keep(t, "k", "0123456789")
			require.True(t, l.Holds("k", 10))
			require.NoError(t, change(l.body(entry.SHA256)))
			require.False(t, l.Holds("k", 10))
			_, ok := l.Take("k", 10)
			require.False(t, ok)

			l.keep(t, "k", "0123456789")
			require.True(t, l.Holds("k", 10), "the next download replaces it")
			doc, err := os.ReadFile(l.body(entry.SHA256))
			require.NoError(t, err)
			require.Equal(t, "0123456789", string(doc))
		})
	}
}

// replace replaces a file, as a program with enough rights could.
func replace(path, text string) error {
	if err := os.Remove(path); err != nil {
		return err
	}
	if err := os.WriteFile(path, []byte(text), 0o444); err != nil {
		return err
	}
	return os.Chtimes(path, time.Time{}, time.Now().Add(time.Second))
}

func TestABodyOfAnotherSizeThanClowderSaysIsNotUsed(t *testing.T) {
	t.Parallel()
	l := newFixture(t, "")
	l.keep(t, "k", "0123456789")
	require.False(t, l.Holds("k", 9))
	require.False(t, l.Holds("absent", 10))
	require.False(t, l.Holds("", 0))
}

func TestFilesWithTheSameBytesShareOneBody(t *testing.T) {
	t.Parallel()
	l := newFixture(t, "")
	one, two := l.keep(t, "a", "same bytes"), l.keep(t, "b", "same bytes")
	require.Equal(t, one.SHA256, two.SHA256)
	left, err := l.Trim(1000)
	require.NoError(t, err)
	require.EqualValues(t, len("same bytes"), left)
	_, err = l.Trim(0)
	require.NoError(t, err)
	require.False(t, l.Holds("a", 10) || l.Holds("b", 10), "and both are gone with it")
	require.NoError(t, l.Close())
	l.open(t)
	require.Empty(t, l.sums, "no line of the index names a body that is gone")
}

func TestANewVersionOfAFileSupersedesTheOldBody(t *testing.T) {
	t.Parallel()
	l := newFixture(t, "")
	l.keep(t, "k", "old")
	entry := l.keep(t, "k", "new")
	require.NoError(t, l.Close())
	l.open(t)
	got, ok := l.Take("k", 3)
	require.True(t, ok)
	require.Equal(t, entry.SHA256, got.SHA256, "the later line counts")
}

func TestALargeBodyIsDownloadedIntoAPartFile(t *testing.T) {
	t.Parallel()
	l := newFixture(t, "")
	download := func(text string) *Part {
		part, err := l.NewPart(0)
		require.NoError(t, err)
		for _, piece := range strings.SplitAfter(text, " ") {
			n, err := part.Write([]byte(piece))
			require.NoError(t, err)
			require.Equal(t, len(piece), n)
		}
		require.NoError(t, part.Close())
		return part
	}
	const text = "a body in pieces"
	first := download(text)
	entry, err := l.Put(first.Body(), "k", int64(len(text)))
	require.NoError(t, err)
	require.NoError(t, l.Commit([]Entry{entry}, nil))
	require.True(t, l.Holds("k", int64(len(text))))
	again, err := l.Put(download(text).Body(), "other", int64(len(text)))
	require.NoError(t, err)
	require.Equal(t, entry.SHA256, again.SHA256)
	download("cancelled").Remove()
	parts, err := filepath.Glob(filepath.Join(l.dir, "*"+partSuffix))
	require.NoError(t, err)
	require.Empty(t, parts, "no part file is left")
	first.Remove()
	require.True(t, l.Holds("k", int64(len(text))), "removing a part that became a body harms nothing")
	free, known := l.Free()
	require.True(t, known)
	require.Positive(t, free)
}

func TestAPartIsAsLongAsWhatWasWritten(t *testing.T) {
	t.Parallel()
	l := newFixture(t, "")
	const text = "less than was reserved"
	part, err := l.NewPart(1 << 20)
	require.NoError(t, err)
	_, err = part.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, part.Close())
	_, err = l.Put(part.Body(), "k", int64(len(text)))
	require.NoError(t, err)
	require.True(t, l.Holds("k", int64(len(text))))
}

func TestACommitOfABodyThatIsGoneWritesNoLine(t *testing.T) {
	t.Parallel()
	for name, n := range map[string]int{"few": 1, "many": maxSingleSyncs + 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newFixture(t, "")
			require.NoError(t, l.Commit(nil, nil))
			var entries []Entry
			for i := range n {
				text := fmt.Sprint("body ", i)
				entry, err := l.Put(NewBody([]byte(text), sumOf(text)), text, int64(len(text)))
				require.NoError(t, err)
				entries = append(entries, entry)
			}
			if n == 1 {
				require.NoError(t, os.Remove(l.body(entries[0].SHA256)))
				require.ErrorContains(t, l.Commit(entries, nil), "write the downloaded files to disk")
				doc, err := os.ReadFile(filepath.Join(l.dir, indexName))
				require.NoError(t, err)
				require.Empty(t, doc)
				require.False(t, l.Holds(entries[0].Key, int64(len(entries[0].Key))), "it is downloaded again")
				return
			}
			require.NoError(t, l.Commit(entries, nil))
			require.NoError(t, l.Close())
			l.open(t)
			for _, entry := range entries {
				require.True(t, l.Holds(entry.Key, int64(len(entry.Key))))
			}
		})
	}
}

func TestManyRunsUseAndTrimTheCacheAtTheSameTime(t *testing.T) {
	t.Parallel()
	l := newFixture(t, "")
	const runs, files = 8, 20
	var all sync.WaitGroup
	for run := range runs {
		all.Go(func() {
			inputs, err := l.Target(disk.Folder{Volume: l.dir + "-volume", Name: fmt.Sprint("runs/", run)})
			if err != nil {
				t.Error(err)
				return
			}
			defer inputs.Close()
			for file := range files {
				text := fmt.Sprint("body ", file)
				entry, ok := l.Take(text, int64(len(text)))
				if !ok {
					if entry, err = l.Put(NewBody([]byte(text), sumOf(text)), text, int64(len(text))); err != nil {
						t.Error(err)
						return
					}
				}
				if err := inputs.Place(entry.SHA256, text); err != nil {
					t.Error(err)
				}
				if err := l.Commit([]Entry{entry}, nil); err != nil {
					t.Error(err)
				}
				l.Release(entry.SHA256)
				if file%5 == run%5 {
					if _, err := l.Trim(0); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	all.Wait()
	for run := range runs {
		for file := range files {
			text := fmt.Sprint("body ", file)
			doc, err := os.ReadFile(filepath.Join(l.dir+"-volume", "runs", strconv.Itoa(run), text))
			require.NoError(t, err)
			require.Equal(t, text, string(doc))
		}
	}
	require.Empty(t, l.pins)
	require.NoError(t, l.Close())
	l.open(t)
}

func TestTheCacheOpensAFolderThatOtherProgramsHaveWrittenTo(t *testing.T) {
	t.Parallel()
	l := newFixture(t, "12")
	require.NoError(t, l.Close())
	old := time.Now().Add(-2 * staleParts)
	for name, plant := range map[string]func(path string) error{
		"dead.part":             func(path string) error { return os.Mkdir(path, 0o700) },
		"fresh.part":            func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"README":                func(path string) error { return os.WriteFile(path, []byte("hello"), 0o600) },
		strings.Repeat("F", 64): func(path string) error { return os.WriteFile(path, []byte("not a sum"), 0o600) },
		strings.Repeat("e", 64): func(path string) error { return os.Symlink("/etc/passwd", path) },
		strings.Repeat("d", 64): func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		require.NoError(t, plant(filepath.Join(l.dir, name)))
	}
	require.NoError(t, os.Chtimes(filepath.Join(l.dir, "dead.part"), old, old))
	l.open(t)
	require.Equal(t, "12", l.known())
	left, err := l.Trim(0)
	require.NoError(t, err)
	require.Zero(t, left)
	entries, err := os.ReadDir(l.dir)
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name()[:1])
	}
	require.ElementsMatch(t, []string{"f", "R", "F", "e", "d", "i"}, names, "only bodies and dead parts are removed, and the index stays")
}

func TestACacheThatCannotBeMadeIsAnErrorWithoutAPath(t *testing.T) {
	t.Parallel()
	volume := t.TempDir()
	require.NoError(t, os.Symlink(t.TempDir(), filepath.Join(volume, "cache")))
	for name, dir := range map[string]disk.Folder{"a link in its place": {Volume: volume, Name: "cache"}, "a way out of the volume": {Volume: volume, Name: "../x"}} {
		_, err := Open(dir, zap.NewNop())
		require.ErrorIs(t, err, disk.ErrNotAllowed, name)
		require.NotContains(t, err.Error(), volume, name)
	}
}
