package disk

import (
	"errors"
	"os"
	"path"
	"strconv"

	"golang.org/x/sys/unix"
)

const (
	// nonblock: to open a pipe does not wait for its other end.
	nonblock = unix.O_NONBLOCK
	// folderOnly: only folders are opened, and a pipe is refused without waiting.
	folderOnly = unix.O_DIRECTORY | unix.O_NONBLOCK
	// endless is more blocks than any disk has. File systems without a limit report such numbers.
	endless = 1 << 50
)

// Free returns the bytes that an ordinary user may still write below dir, or false if that is not known.
func Free(dir string) (int64, bool) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil || s.Bavail > endless {
		return 0, false
	}
	return int64(s.Bavail) * s.Bsize, true
}

// linkAt makes a hard link named name in the folder to, to the file old in the folder from. A link at old or name is never followed.
func linkAt(from *os.File, old string, to *os.File, name string) error {
	if err := unix.Linkat(int(from.Fd()), old, int(to.Fd()), name, 0); err != nil {
		return &os.LinkError{Op: "link", Old: old, New: name, Err: err}
	}
	return nil
}

// TryLock locks an open file for this process until it is closed. It reports false if another process has the lock.
func TryLock(f *os.File) (bool, error) {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// Exchange swaps two entries below root in one step, so that neither name is ever missing. A file system that cannot do this, such as
// NFS, gives an error, and nothing has changed.
func Exchange(root *os.Root, one, other string) (err error) {
	first, err := root.OpenFile(path.Dir(one), os.O_RDONLY|folderOnly, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, first.Close()) }()
	second, err := root.OpenFile(path.Dir(other), os.O_RDONLY|folderOnly, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, second.Close()) }()
	if err := unix.Renameat2(int(first.Fd()), path.Base(one), int(second.Fd()), path.Base(other), unix.RENAME_EXCHANGE); err != nil {
		return &os.LinkError{Op: "exchange", Old: one, New: other, Err: err}
	}
	return nil
}

// openBelow opens a folder below volume, and follows no link on the way from there.
func openBelow(volume, name string) (*os.Root, bool) {
	above, err := unix.Open(volume, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, false
	}
	defer func() { _ = unix.Close(above) }()
	fd, err := unix.Openat2(above, name, &unix.OpenHow{
		Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	})
	if err != nil {
		return nil, false
	}
	defer func() { _ = unix.Close(fd) }()
	root, err := os.OpenRoot("/proc/self/fd/" + strconv.Itoa(fd)) // the folder of fd, whatever has its name now
	return root, err == nil
}

// freshSize opens a file below volume without following a link, and closes it again.
func freshSize(volume, name string) (int64, error) {
	above, err := unix.Open(volume, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	defer func() { _ = unix.Close(above) }()
	fd, err := unix.Openat2(above, name, &unix.OpenHow{
		Flags: unix.O_RDONLY | unix.O_NONBLOCK | unix.O_CLOEXEC, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	})
	if err != nil {
		return 0, err
	}
	defer func() { _ = unix.Close(fd) }()
	var info unix.Stat_t
	if err := unix.Fstat(fd, &info); err != nil {
		return 0, err
	}
	if info.Mode&unix.S_IFMT != unix.S_IFREG {
		return 0, ErrNotAllowed
	}
	return info.Size, nil
}

// syncFileSystems syncs each file system that holds one of the folders or one of the files.
func syncFileSystems(folders []*os.Root, files []*os.File) error {
	synced := map[uint64]bool{}
	for _, folder := range folders {
		f, err := folder.Open(".")
		if err != nil {
			return err
		}
		if err := errors.Join(syncOnce(f, synced), f.Close()); err != nil {
			return err
		}
	}
	for _, f := range files {
		if err := syncOnce(f, synced); err != nil {
			return err
		}
	}
	return nil
}

// syncOnce syncs the file system that holds f, unless that was done.
func syncOnce(f *os.File, synced map[uint64]bool) error {
	var info unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &info); err != nil || synced[info.Dev] {
		return err
	}
	synced[info.Dev] = true
	return unix.Syncfs(int(f.Fd()))
}
