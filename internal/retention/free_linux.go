package retention

import "golang.org/x/sys/unix"

// FreeBytes returns what an ordinary user may still write below dir, and false where that is not known.
func FreeBytes(dir string) (int64, bool) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil || s.Bavail > 1<<50 {
		return 0, false
	}
	return int64(s.Bavail) * s.Bsize, true
}
