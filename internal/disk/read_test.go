package disk_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/disk"
)

func TestOnlyRegularFilesAreRead(t *testing.T) {
	t.Parallel()
	for name, plant := range map[string]func(path string) error{
		"a link to a file beside it":  func(path string) error { return os.Symlink("other", path) },
		"a link to a secret":          func(path string) error { return os.Symlink("/proc/self/environ", path) },
		"a pipe without a writer":     func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"a folder":                    func(path string) error { return os.Mkdir(path, 0o700) },
		"a link to a device":          func(path string) error { return os.Symlink("/dev/zero", path) },
		"a link that leads nowhere":   func(path string) error { return os.Symlink("nothing", path) },
		"a link that leads to itself": func(path string) error { return os.Symlink("spec.json", path) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, "other"), []byte("x"), 0o600))
			require.NoError(t, plant(filepath.Join(dir, "spec.json")))
			_, err := disk.ReadFile(folder(t, dir, ""), "spec.json", 100)
			require.ErrorIs(t, err, disk.ErrNotAllowed)
		})
	}
}

func TestAPipeThatTakesThePlaceOfAFileNeverBlocks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root := folder(t, dir, "")
	path := filepath.Join(dir, "log.txt")
	stop := alternate(path,
		func() { _ = syscall.Mkfifo(path, 0o600) },
		func() { _ = os.Symlink("/etc/hostname", path) },
		func() { _ = os.WriteFile(path, []byte("fine"), 0o600) },
	)
	for range 5000 {
		doc, err := disk.ReadFile(root, "log.txt", 100)
		if err == nil && len(doc) > 0 {
			require.Equal(t, "fine", string(doc))
		}
	}
	stop()
}

func TestAFileThatIsReplacedAllTheTimeIsNeverAbsent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root := folder(t, dir, "")
	require.NoError(t, disk.WriteFile(root, "index.json", []byte("first")))
	path := filepath.Join(dir, "index.json")
	replace := func(text string) func() {
		return func() {
			_ = os.WriteFile(path+".new", []byte(text), 0o600)
			_ = os.Rename(path+".new", path)
		}
	}
	stop := alternate("", replace("first"), replace("other"))
	defer stop()
	for range 5000 {
		doc, err := disk.ReadFile(root, "index.json", 100)
		require.NoError(t, err)
		require.Len(t, doc, 5)
	}
}

func TestAFileIsReadUpToItsLimit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root := folder(t, dir, "")
	require.NoError(t, disk.WriteFile(root, "exact", []byte("1234")))
	doc, err := disk.ReadFile(root, "exact", 4)
	require.NoError(t, err)
	require.Equal(t, "1234", string(doc))
	require.NoError(t, os.Truncate(filepath.Join(dir, "exact"), 1<<40)) // sparse: it takes no room
	_, err = disk.ReadFile(root, "exact", 4)
	require.ErrorIs(t, err, disk.ErrTooLarge)
	require.ErrorContains(t, err, "1099511627776 bytes")
}

func TestBytesAreHandedOutOnlyIfTheyAreThePromisedOnes(t *testing.T) {
	t.Parallel()
	promised := strings.Repeat("promised ", 1000)
	hash := sha256.Sum256([]byte(promised))
	sum := hex.EncodeToString(hash[:])
	other := strings.Replace(promised, "p", "q", 1)
	for name, tc := range map[string]struct {
		body string
		want error
	}{
		"the same":  {promised, nil},
		"changed":   {other, disk.ErrChanged},
		"longer":    {promised + "x", disk.ErrChanged},
		"shorter":   {promised[1:], disk.ErrChanged},
		"nothing":   {"", disk.ErrChanged},
		"last byte": {promised[:len(promised)-1] + "x", disk.ErrChanged},
	} {
		for kind, wrap := range map[string]func(io.Reader) io.Reader{
			"whole": func(r io.Reader) io.Reader { return r }, "by bytes": iotest.OneByteReader, "end with data": iotest.DataErrReader,
		} {
			t.Run(name+", "+kind, func(t *testing.T) {
				t.Parallel()
				var got bytes.Buffer
				_, err := io.Copy(&got, disk.Verify(wrap(strings.NewReader(tc.body)), "a file", int64(len(promised)), sum))
				require.ErrorIs(t, err, tc.want)
				if tc.want != nil {
					require.Less(t, got.Len(), len(promised), "a reader that stops at the size must not get all")
				} else {
					require.Equal(t, promised, got.String())
				}
			})
		}
	}
}

func TestAnEmptyFileIsVerified(t *testing.T) {
	t.Parallel()
	hash := sha256.Sum256(nil)
	body, err := io.ReadAll(disk.Verify(strings.NewReader(""), "a file", 0, hex.EncodeToString(hash[:])))
	require.NoError(t, err)
	require.Empty(t, body)
	_, err = io.ReadAll(disk.Verify(strings.NewReader(""), "a file", 0, "other"))
	require.ErrorIs(t, err, disk.ErrChanged)
}

func TestASizeIsCheckedBeforeTheFirstByte(t *testing.T) {
	t.Parallel()
	root := folder(t, t.TempDir(), "")
	require.NoError(t, disk.WriteFile(root, "model", []byte("weights")))
	_, err := disk.OpenVerified(root, "model", 8, "any")
	require.ErrorIs(t, err, disk.ErrChanged)
}

func TestALinkInThePlaceOfAFileIsReplacedAndNotFollowed(t *testing.T) {
	t.Parallel()
	dir, out := t.TempDir(), t.TempDir()
	store := filepath.Join(out, "jobs.db")
	require.NoError(t, os.WriteFile(store, []byte("records"), 0o600))
	require.NoError(t, os.Symlink(store, filepath.Join(dir, "spec.json")))
	require.NoError(t, disk.WriteFile(folder(t, dir, ""), "spec.json", []byte("{}")))
	kept, err := os.ReadFile(store)
	require.NoError(t, err)
	require.Equal(t, "records", string(kept))
	info, err := os.Lstat(filepath.Join(dir, "spec.json"))
	require.NoError(t, err)
	require.True(t, info.Mode().IsRegular())
}

func TestTheSizeOfAFileIsToldWithoutALinkOnTheWay(t *testing.T) {
	t.Parallel()
	volume := t.TempDir()
	run := folder(t, volume, "runs/ft-1")
	require.NoError(t, disk.WriteFile(run, "events.jsonl", []byte("four")))
	require.NoError(t, run.Mkdir("folder", 0o700))
	require.NoError(t, run.Symlink("events.jsonl", "link"))
	require.NoError(t, syscall.Mkfifo(filepath.Join(volume, "runs", "ft-1", "pipe"), 0o600))
	require.NoError(t, os.Symlink("ft-1", filepath.Join(volume, "runs", "ft-2")))
	runs := disk.Folder{Volume: volume, Name: "runs"}
	size, err := runs.In("ft-1").FreshSize("events.jsonl")
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip("this system has no such call")
	}
	require.NoError(t, err)
	require.EqualValues(t, 4, size)
	for _, missing := range []disk.Folder{runs.In("ft-1/deeper"), runs.In("ft-3"), {Volume: filepath.Join(volume, "nothing"), Name: "runs"}} {
		_, err := missing.FreshSize("events.jsonl")
		require.ErrorIs(t, err, fs.ErrNotExist)
	}
	for _, name := range []string{"folder", "link", "pipe", "../ft-1/events.jsonl"} {
		_, err := runs.In("ft-1").FreshSize(name)
		require.Error(t, err, name)
		require.NotErrorIs(t, err, fs.ErrNotExist, name)
	}
	_, err = runs.In("ft-2").FreshSize("events.jsonl")
	require.Error(t, err)
	require.NotErrorIs(t, err, fs.ErrNotExist)
}
