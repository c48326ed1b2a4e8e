package disk

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
)

var (
	// ErrTooLarge is wrapped by the error about a file that is larger than the limit of its reader.
	ErrTooLarge = errors.New("the file is too large")
	// ErrChanged is wrapped by the error about a file whose size or sha256 is not the expected one.
	ErrChanged = errors.New("the file was changed after it was written")
)

// Open opens a regular file below root for reading and returns its info. It refuses a link, a pipe, a device and a folder with an error
// that wraps ErrNotAllowed, and it never blocks, also if a pipe replaces the file during the call. The caller should read at most the
// size in the info. Folders in the path may be links that stay inside root. A file that a writer replaces during the call is opened
// again, so it is never taken for one that is absent; after many tries the error says that it is replaced all the time.
func Open(root *os.Root, name string) (*os.File, fs.FileInfo, error) {
	for range openTries {
		f, info, err := openOnce(root, name)
		if !errors.Is(err, errReplaced) && !errors.Is(err, syscall.ESTALE) { // NFS reports a replaced file as stale
			return f, info, err
		}
	}
	return nil, nil, fmt.Errorf("%s: %w", name, errReplaced)
}

// openTries is how often a file is opened that a writer replaces again and again.
const openTries = 100

var errReplaced = errors.New("the file is replaced again and again while it is opened")

func openOnce(root *os.Root, name string) (*os.File, fs.FileInfo, error) {
	seen, err := root.Lstat(name)
	if err != nil {
		return nil, nil, err
	}
	if !seen.Mode().IsRegular() {
		return nil, nil, notAllowed(name, seen.Mode(), "file")
	}
	f, err := root.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	switch {
	case err == nil && !info.Mode().IsRegular():
		err = notAllowed(name, info.Mode(), "file")
	case err == nil && !os.SameFile(seen, info):
		err = errReplaced // by a new file that was renamed into place, or by a link
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

// ReadFile reads a regular file below root. If it has more than limit bytes, the error wraps ErrTooLarge.
func ReadFile(root *os.Root, name string, limit int64) ([]byte, error) {
	f, info, err := Open(root, name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	if info.Size() > limit {
		return nil, fmt.Errorf("%s has %d bytes, the limit is %d: %w", name, info.Size(), limit, ErrTooLarge)
	}
	doc := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead)) // large enough not to grow
	if _, err := doc.ReadFrom(io.LimitReader(f, limit+1)); err != nil {
		return nil, err
	}
	if int64(doc.Len()) > limit {
		return nil, fmt.Errorf("%s grew above %d bytes while it was read: %w", name, limit, ErrTooLarge)
	}
	return doc.Bytes(), nil
}

// List returns at most limit entries of a folder below root, sorted by name. If there are more, it is undefined which ones are returned.
// It refuses a link, a pipe or a file in the place of the folder.
func List(root *os.Root, name string, limit int) ([]fs.DirEntry, error) {
	seen, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !seen.IsDir() {
		return nil, notAllowed(name, seen.Mode(), "folder")
	}
	f, err := root.OpenFile(name, os.O_RDONLY|folderOnly, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	entries, err := f.ReadDir(limit)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// OpenVerified opens a regular file below root whose size and sha256 (in hex) are known. It checks the size when it opens the file. The
// sha256 is checked while the file is read, see Verify.
func OpenVerified(root *os.Root, name string, size int64, sum string) (io.ReadCloser, error) {
	f, info, err := Open(root, name)
	if err != nil {
		return nil, err
	}
	if info.Size() != size {
		return nil, errors.Join(fmt.Errorf("%s has %d bytes instead of %d: %w", name, info.Size(), size, ErrChanged), f.Close())
	}
	return struct {
		io.Reader
		io.Closer
	}{Verify(f, name, size, sum), f}, nil
}

// Verify returns a reader of exactly size bytes from r with the given sha256 (in hex). If the bytes differ, the read that would return
// the last of them fails with an error that wraps ErrChanged. So a reader that reads to the end never gets wrong bytes without an
// error. name is for the error.
func Verify(r io.Reader, name string, size int64, sum string) io.Reader {
	return &verifier{r: r, name: name, left: size, want: sum, hash: sha256.New()}
}

type verifier struct {
	r    io.Reader
	name string
	left int64
	want string
	hash hash.Hash
	done bool
}

// Read implements io.Reader.
func (v *verifier) Read(p []byte) (int, error) {
	if v.done {
		return 0, io.EOF
	}
	if len(p) == 0 {
		return 0, nil
	}
	n, err := 0, error(nil)
	if v.left > 0 {
		n, err = v.r.Read(p[:min(int64(len(p)), v.left)])
		v.hash.Write(p[:n])
		v.left -= int64(n)
	}
	switch {
	case v.left == 0: // also if an error came with the last byte
		return v.finish(n)
	case errors.Is(err, io.EOF):
		return 0, fmt.Errorf("%s became shorter: %w", v.name, ErrChanged)
	default:
		return n, err
	}
}

// finish checks the sha256, and that nothing follows.
func (v *verifier) finish(n int) (int, error) {
	var more [1]byte
	if extra, _ := io.ReadFull(v.r, more[:]); extra > 0 {
		return 0, fmt.Errorf("%s became longer: %w", v.name, ErrChanged)
	}
	if hex.EncodeToString(v.hash.Sum(nil)) != v.want {
		return 0, fmt.Errorf("%s has an unexpected sha256: %w", v.name, ErrChanged)
	}
	v.done = true
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}
