package disk

import (
	"errors"
	"os"
	"path"

	"golang.org/x/sys/unix"
)

const (
	// nonblock keeps the opening of a pipe from waiting for its other end.
	nonblock = unix.O_NONBLOCK
	// folderOnly opens folders and refuses all else, pipes without waiting.
	folderOnly = unix.O_DIRECTORY | unix.O_NONBLOCK
	// endless is more blocks than any disk has: file systems that have no end of their own tell such numbers.
	endless = 1 << 50
)

// Free returns the bytes that an ordinary user may still write below dir, and false where that is not known.
func Free(dir string) (int64, bool) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil || s.Bavail > endless {
		return 0, false
	}
	return int64(s.Bavail) * s.Bsize, true
}

// Link gives the file old below from the name name below to. The two may be roots of their own, so that neither can be led out of
// by a link in the other. A link at old or name is never followed; what is there under name is an error that wraps fs.ErrExist.
func Link(from *os.Root, old string, to *os.Root, name string) (err error) {
	source, err := from.OpenFile(path.Dir(old), os.O_RDONLY|folderOnly, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	target, err := to.OpenFile(path.Dir(name), os.O_RDONLY|folderOnly, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	if err := unix.Linkat(int(source.Fd()), path.Base(old), int(target.Fd()), path.Base(name), 0); err != nil {
		return &os.LinkError{Op: "link", Old: old, New: name, Err: err}
	}
	return nil
}
