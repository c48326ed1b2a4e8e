package disk

import "golang.org/x/sys/unix"

// endless is more blocks than any disk has: file systems that have no end of their own tell such numbers.
const endless = 1 << 50

// Free returns the bytes that an ordinary user may still write below dir, and false where that is not known.
func Free(dir string) (int64, bool) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil || s.Bavail > endless {
		return 0, false
	}
	return int64(s.Bavail) * s.Bsize, true
}
