package cache

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"

	"github.com/ncsa/clowder-ray/internal/disk"
)

// cachedBody is one file of the cache.
type cachedBody struct {
	sum    string
	size   int64
	used   int64
	linked bool // a run links it
}

// Trim removes the bodies that were used longest ago until at most limit bytes are left, and returns the bytes that are left. It
// keeps bodies that a run has linked, since removing them frees nothing. A body that is removed too early costs one download.
// Trim also removes part files of processes that have ended.
func (c *Cache) Trim(limit int64) (int64, error) {
	if err := c.removeStaleParts(); err != nil {
		return 0, err
	}
	bodies, total, err := c.bodies()
	if err != nil {
		return 0, err
	}
	slices.SortFunc(bodies, func(a, b cachedBody) int { return cmp.Or(cmp.Compare(a.used, b.used), cmp.Compare(a.sum, b.sum)) })
	removed := 0
	for _, b := range bodies {
		if total <= limit {
			break
		}
		ok, err := c.remove(b)
		if err != nil {
			return total, err
		}
		if ok {
			total -= b.size
			removed++
		}
	}
	return total, c.compact(removed > 0)
}

// bodies lists the bodies in the folder, also those without an index line, and their size in bytes.
func (c *Cache) bodies() (all []cachedBody, total int64, err error) {
	entries, err := disk.List(c.root, ".", maxEntries)
	if err != nil {
		return nil, 0, err
	}
	for _, entry := range entries {
		if !sumForm.MatchString(entry.Name()) {
			continue
		}
		info, err := c.root.Lstat(entry.Name())
		if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
			continue // it takes no space, and a body replaces it
		}
		if err != nil {
			return nil, 0, err
		}
		c.mu.Lock()
		used := cmp.Or(c.used[entry.Name()], info.ModTime().Unix())
		c.mu.Unlock()
		all = append(all, cachedBody{sum: entry.Name(), size: info.Size(), used: used, linked: links(info) > 1})
		total += info.Size()
	}
	return all, total, nil
}

// remove deletes a body, unless a run has linked it or is linking it.
func (c *Cache) remove(b cachedBody) (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if b.linked || c.pins[b.sum] > 0 {
		return false, nil
	}
	if err := c.root.Remove(b.sum); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	delete(c.times, b.sum)
	delete(c.used, b.sum)
	delete(c.fresh, b.sum)
	return true, nil
}
