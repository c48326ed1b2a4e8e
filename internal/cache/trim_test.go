package cache

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/disk"
)

// fixture is a cache of bodies of ten bytes each, whose sums are one digit repeated.
type fixture struct {
	*Cache
	dir string
}

func newFixture(t *testing.T, digits string) *fixture {
	t.Helper()
	l := &fixture{dir: filepath.Join(t.TempDir(), "cache")}
	l.open(t)
	for i, d := range digits {
		sum := strings.Repeat(string(d), 64)
		entry, err := l.Put(NewBody([]byte("0123456789"), sum), string(d), 10)
		require.NoError(t, err)
		entry.Used = int64(1000 + i) // in the order of the digits
		l.used[sum] = entry.Used
		require.NoError(t, l.Commit([]Entry{entry}, nil))
		l.Release(sum)
	}
	return l
}

func (l *fixture) open(t *testing.T) {
	t.Helper()
	c, err := Open(disk.Folder{Volume: l.dir}, zap.NewNop())
	require.NoError(t, err)
	l.Cache = c
	t.Cleanup(func() { _ = c.Close() }) // some tests close it themselves
}

// here names the digits whose bodies lie in the folder, of those that were put.
func (l *fixture) here(t *testing.T) string {
	t.Helper()
	var digits strings.Builder
	entries, err := os.ReadDir(l.dir)
	require.NoError(t, err)
	for _, e := range entries {
		if sumForm.MatchString(e.Name()) {
			digits.WriteString(e.Name()[:1])
		}
	}
	return digits.String()
}

func TestTheBodiesUsedLongestAgoGoFirst(t *testing.T) {
	t.Parallel()
	l := newFixture(t, "3142")
	left, err := l.Trim(20)
	require.NoError(t, err)
	require.EqualValues(t, 20, left)
	require.Equal(t, "24", l.here(t))
	require.False(t, l.Holds("3", 10))
	require.True(t, l.Holds("4", 10))

	require.NoError(t, l.Close())
	l.open(t)
	require.True(t, l.Holds("2", 10), "the rewritten index is valid")
	require.False(t, l.Holds("1", 10))
	left, err = l.Trim(1000)
	require.NoError(t, err)
	require.EqualValues(t, 20, left)
}

func TestAUseIsRememberedOverARestart(t *testing.T) {
	t.Parallel()
	l := newFixture(t, "12")
	line, ok := l.Take("1", 10)
	require.True(t, ok)
	require.NoError(t, l.Commit([]Entry{line}, nil))
	l.Release(line.SHA256)
	require.NoError(t, l.Close())
	l.open(t)
	_, err := l.Trim(10)
	require.NoError(t, err)
	require.Equal(t, "1", l.here(t))
}

func TestABodyThatIsNeededStays(t *testing.T) {
	t.Parallel()
	l := newFixture(t, "123")
	run := filepath.Join(t.TempDir(), "input")
	require.NoError(t, os.Link(filepath.Join(l.dir, strings.Repeat("1", 64)), run))
	pinned, ok := l.Take("2", 10)
	require.True(t, ok)
	left, err := l.Trim(0)
	require.NoError(t, err)
	require.EqualValues(t, 20, left)
	require.Equal(t, "12", l.here(t), "one is linked by a run, one is about to be")

	l.Release(pinned.SHA256)
	require.NoError(t, os.Remove(run))
	left, err = l.Trim(0)
	require.NoError(t, err)
	require.Zero(t, left)
	require.Empty(t, l.here(t))
}

func TestBodiesWithoutALineAndOldPartsAreTrimmedToo(t *testing.T) {
	t.Parallel()
	l := newFixture(t, "1")
	torn, part := filepath.Join(l.dir, strings.Repeat("0", 64)), filepath.Join(l.dir, "dead"+partSuffix)
	old := time.Now().Add(-2 * staleParts)
	for _, name := range []string{torn, part} {
		require.NoError(t, os.WriteFile(name, []byte("x"), 0o600))
		require.NoError(t, os.Chtimes(name, old, old))
	}
	l.used[strings.Repeat("1", 64)] = time.Now().Unix()
	left, err := l.Trim(10)
	require.NoError(t, err)
	require.EqualValues(t, 10, left)
	require.NoFileExists(t, torn)
	require.NoFileExists(t, part)
	require.Equal(t, "1", l.here(t))
}

func TestTheIndexDoesNotGrowWithEveryUse(t *testing.T) {
	t.Parallel()
	l := newFixture(t, "12")
	line, _ := l.Take("1", 10)
	l.Release(line.SHA256)
	for range maxSuperseded/100 + 1 {
		require.NoError(t, l.Commit(repeat(line, 100), nil))
	}
	_, err := l.Trim(1000)
	require.NoError(t, err)
	require.Equal(t, 2, l.lines)
	doc, err := os.ReadFile(filepath.Join(l.dir, indexName))
	require.NoError(t, err)
	require.Equal(t, 2, strings.Count(string(doc), "\n"))
	require.NoError(t, l.Commit([]Entry{line}, nil))
	doc, err = os.ReadFile(filepath.Join(l.dir, indexName))
	require.NoError(t, err)
	require.Equal(t, 3, strings.Count(string(doc), "\n"), "the new index is written on")
}

func repeat(line Entry, n int) []Entry {
	lines := make([]Entry, n)
	for i := range lines {
		lines[i] = line
	}
	return lines
}
