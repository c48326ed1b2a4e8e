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
