package retention

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
)

const (
	// overlayRest is how long an overlay stays after its last use, whatever the limit says: the record of its job may not be written yet.
	overlayRest = time.Hour
	// maxOverlays bounds how many overlays one sweep looks at.
	maxOverlays = 10_000
)

// overlayName matches complete overlays.
var overlayName = regexp.MustCompile(`^[0-9a-f]{32}$`)

// overlay is a folder with the packages of scripts.
type overlay struct {
	name string
	size int64
	used time.Time
}

// trimOverlays removes the overlays that were used longest ago until the others fit. It keeps those of jobs that are not over.
func (c *Cleaner) trimOverlays(ctx context.Context) error {
	root, err := c.cfg.Overlays.Open()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	all, total, err := c.listOverlays(root)
	if err != nil || total <= c.cfg.OverlayBytes {
		return err
	}
	needed := map[string]bool{}
	err = c.store.Each(ctx, job.Query{Active: true}, func(rec job.Record) error {
		needed[rec.Overlay()] = true
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortFunc(all, func(a, b overlay) int { return a.used.Compare(b.used) })
	for _, o := range all {
		if total <= c.cfg.OverlayBytes {
			break
		}
		if needed[c.cfg.Overlays.Name+"/"+o.name] || time.Since(o.used) < overlayRest {
			continue
		}
		if err := c.cfg.Overlays.Remove(o.name); err != nil {
			return err
		}
		c.log.Info("removed packages of scripts", zap.String("overlay", o.name), zap.Int64("bytes", o.size))
		total -= o.size
	}
	return nil
}

// listOverlays returns the overlays and the size of all of them in bytes.
func (c *Cleaner) listOverlays(root *os.Root) (all []overlay, total int64, err error) {
	entries, err := disk.List(root, ".", maxOverlays)
	if err != nil {
		return nil, 0, err
	}
	here := map[string]bool{}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !e.IsDir() || !overlayName.MatchString(e.Name()) {
			continue
		}
		here[e.Name()] = true
		if _, known := c.overlays[e.Name()]; !known {
			c.overlays[e.Name()] = sizeOf(root, e.Name())
		}
		all = append(all, overlay{e.Name(), c.overlays[e.Name()], info.ModTime()})
		total += c.overlays[e.Name()]
	}
	maps.DeleteFunc(c.overlays, func(name string, _ int64) bool { return !here[name] })
	return all, total, nil
}

// sizeOf is the size of the files in a folder in bytes. What cannot be read counts nothing.
func sizeOf(root *os.Root, dir string) (total int64) {
	_ = fs.WalkDir(root.FS(), dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // removed meanwhile
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			total += info.Size()
		}
		return nil
	})
	return total
}
