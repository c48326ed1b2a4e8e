package cache

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// reserve allocates blocks for a file that will have size bytes, so that its writes need not. Its length stays. It is only a hint: a disk that
// is too full fails the write, and some file systems cannot reserve.
func reserve(f *os.File, size int64) {
	_ = unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, 0, size)
}

// setDirect switches whether writes to f go around the page cache, and reports whether it could. Only ext4 and XFS do: on a
// file system of a network each write would wait for the server.
func setDirect(f *os.File, on bool) bool {
	var system unix.Statfs_t
	if err := unix.Fstatfs(int(f.Fd()), &system); err != nil || system.Type != unix.EXT4_SUPER_MAGIC && system.Type != unix.XFS_SUPER_MAGIC {
		return false
	}
	flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0)
	if err != nil {
		return false
	}
	if flags &^= unix.O_DIRECT; on {
		flags |= unix.O_DIRECT
	}
	_, err = unix.FcntlInt(f.Fd(), unix.F_SETFL, flags)
	return err == nil
}

// startWriting asks the kernel to begin writing a range of f to disk, so that the sync at the end finds little to do. It
// is only a hint, and network file systems refuse it.
func startWriting(f *os.File, from, length int64) {
	_ = unix.SyncFileRange(int(f.Fd()), from, length, unix.SYNC_FILE_RANGE_WRITE)
}

// links is how many names a file has.
func links(info os.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Nlink) //nolint:unconvert // its type depends on the architecture
	}
	return 1
}
