package disk

import "golang.org/x/sys/unix"

// endless is more than any disk holds: file systems without a limit of their own, such as some of clouds, tell as much.
const endless = 1 << 50

// Free returns the bytes that an ordinary user may still write below dir, and false where that is not known.
func Free(dir string) (int64, bool) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil || s.Bavail > endless {
		return 0, false
	}
	return int64(s.Bavail) * s.Bsize, true
}
