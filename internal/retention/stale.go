package retention

import (
	"errors"
	"os"
	"path/filepath"
	"time"
)

// staleAfter is the age after which something half written belongs to a process that is gone.
const staleAfter = 24 * time.Hour

// stalePatterns are the names that things have on the shared volume while they are being written: versions of models, the
// training program, and the probes of doctor.
var stalePatterns = []string{"registry/*/*/.*", "trainer/.installing-*", ".doctor-*"}

// dropStale removes what processes left half written when they died.
func (k *Keeper) dropStale() error {
	var faults []error
	for _, pattern := range stalePatterns {
		found, err := filepath.Glob(filepath.Join(escape(k.cfg.Shared), filepath.FromSlash(pattern)))
		faults = append(faults, err)
		for _, path := range found {
			if info, err := os.Lstat(path); err == nil && time.Since(info.ModTime()) > staleAfter {
				faults = append(faults, os.RemoveAll(path))
			}
		}
	}
	return errors.Join(faults...)
}

// escape makes a path mean itself within a pattern.
func escape(path string) string {
	var out []rune
	for _, r := range path {
		switch r {
		case '*', '?', '[', '\\':
			out = append(out, '\\')
		}
		out = append(out, r)
	}
	return string(out)
}
