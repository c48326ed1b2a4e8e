package retention

import (
	"errors"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/ncsa/clowder-ray/internal/disk"
)

// staleAfter is the age from which a half-written file belongs to a process that no longer runs.
const staleAfter = 24 * time.Hour

// stale are the beginnings of the names that things have on the shared volume while they are being written, by the folder they are
// in, where each * stands for all folders there: versions of models, the training program, the packages of scripts, and the probes of doctor. Base models that were
// replaced are kept for a while because a training may still read them.
var stale = []struct{ folder, prefix string }{
	{"registry/*/*", "."}, {"trainer", ".installing-"}, {"", ".doctor-"}, {"models/.old", ""}, {"overlays", ".making-"},
}

// dropStale removes half-written files of processes that were killed. It follows no link.
func (c *Cleaner) dropStale() error {
	var faults []error
	for _, s := range stale {
		faults = append(faults, dropFrom(disk.Folder{Volume: c.cfg.Shared}, s.folder, s.prefix))
	}
	return errors.Join(faults...)
}

// dropFrom removes stale files from the folders below base that match pattern.
func dropFrom(base disk.Folder, pattern, prefix string) error {
	first, rest, wild := strings.Cut(pattern, "*")
	folder := base
	if first = path.Clean(first); first != "." {
		folder = base.In(first)
	}
	entries, err := list(folder)
	if err != nil {
		return err
	}
	var faults []error
	for _, e := range entries {
		switch {
		case wild && e.IsDir() && !strings.HasPrefix(e.Name(), "."):
			faults = append(faults, dropFrom(folder.In(e.Name()), strings.TrimPrefix(rest, "/"), prefix))
		case !wild && strings.HasPrefix(e.Name(), prefix) && old(e):
			faults = append(faults, folder.Remove(e.Name()))
		}
	}
	return errors.Join(faults...)
}

func old(e fs.DirEntry) bool {
	info, err := e.Info()
	return err == nil && time.Since(info.ModTime()) > staleAfter
}
