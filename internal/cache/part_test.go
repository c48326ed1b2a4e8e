package cache

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAPartHasTheBytesThatWereWritten(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		announced     int64 // what NewPart is told
		length, write int
	}{
		"nothing":                          {0, 0, 1},
		"less than a piece":                {1000, 1000, 300},
		"a piece":                          {pieceSize, pieceSize, 1000},
		"a piece and a byte, at once":      {pieceSize + 1, pieceSize + 1, pieceSize + 1},
		"more pieces than are kept":        {8*pieceSize + 77, 8*pieceSize + 77, 65_537},
		"around the page cache":            {directSize, directSize, 100_000},
		"around it, with an end":           {directSize + 4_097, directSize + 4_097, 3 * pieceSize},
		"shorter than announced":           {directSize, pieceSize + 5, 9_999},
		"shorter than announced, a block":  {directSize, 4096, 4096},
		"longer than announced, no blocks": {100, 3*pieceSize + 512, 777_777},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newFixture(t, "")
			content := make([]byte, tc.length)
			_, err := rand.NewChaCha8([32]byte{}).Read(content)
			require.NoError(t, err)
			part, err := l.NewPart(tc.announced)
			require.NoError(t, err)
			for rest := content; len(rest) > 0; {
				n := min(tc.write, len(rest))
				written, err := part.Write(rest[:n])
				require.NoError(t, err)
				require.Equal(t, n, written)
				rest = rest[n:]
			}
			require.NoError(t, part.Close())
			entry, err := l.Put(part.Body(), "k", int64(len(content)))
			require.NoError(t, err)
			require.Equal(t, sumOf(string(content)), entry.SHA256)
			got, err := os.ReadFile(filepath.Join(l.dir, entry.SHA256))
			require.NoError(t, err)
			require.True(t, bytes.Equal(content, got))
		})
	}
}

// A buffer at an odd address is what a disk with larger blocks than a page also refuses.
func TestAWriterThatTheDiskRefusesDirectWritesGoesThroughThePageCache(t *testing.T) {
	t.Parallel()
	f, err := os.Create(filepath.Join(t.TempDir(), "part"))
	require.NoError(t, err)
	if !setDirect(f, true) {
		t.Skip("this file system has no direct writes")
	}
	w := writer{file: f, direct: true}
	odd := bytes.Repeat([]byte("body"), pieceSize/2)[1 : pieceSize+1]
	w.write(odd)
	w.write(odd)
	require.NoError(t, w.failure())
	require.False(t, w.direct)
	require.NoError(t, w.close())
	got, err := os.ReadFile(f.Name())
	require.NoError(t, err)
	require.True(t, bytes.Equal(append(bytes.Clone(odd), odd...), got))
}

func TestAPartOfALongDownloadIsWrittenOutOnTheWay(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]int64{"through the page cache": 0, "around it": 2 * directSize} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newFixture(t, "")
			part, err := l.NewPart(size)
			require.NoError(t, err)
			direct := part.disk.direct
			require.False(t, direct && size == 0)
			_, err = part.Write(make([]byte, writeAhead*3/2))
			require.NoError(t, err)
			require.NoError(t, part.Close())
			require.EqualValues(t, writeAhead*3/2, part.disk.written)
			if direct {
				require.Zero(t, part.disk.asked)
			} else {
				require.EqualValues(t, writeAhead, part.disk.asked, "the kernel was asked once, on the way")
			}
			part.Remove()
		})
	}
}

func TestAPartThatCannotBeWrittenSaysSo(t *testing.T) {
	t.Parallel()
	for _, size := range []int{10, pieceSize, 10 * pieceSize} {
		t.Run(strconv.Itoa(size), func(t *testing.T) {
			t.Parallel()
			full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
			if err != nil {
				t.Skip("this system has no /dev/full")
			}
			l := newFixture(t, "")
			part, err := l.NewPart(0)
			require.NoError(t, err)
			require.NoError(t, part.disk.file.Close())
			part.disk.file = full
			_, written := part.Write(make([]byte, size))
			if size > (pieces+1)*pieceSize {
				require.ErrorContains(t, written, "no space left", "before all is received")
			}
			require.ErrorContains(t, part.Close(), "no space left")
			part.Remove()
		})
	}
}
