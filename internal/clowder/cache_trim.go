package clowder

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/ncsa/clowder-ray/internal/disk"
)

// TrimCache removes the downloaded bodies whose last use is longest ago until at most limit bytes are left, and returns how
// many are. A body that a run has linked stays, since removing it would free nothing. Removing one at the wrong time costs a
// download and nothing else. Part files that processes left behind when they died go too.
func (c *Client) TrimCache(limit int64) (left int64, err error) {
	if c.cache == nil {
		return 0, nil
	}
	if left, err = c.cache.trim(limit); err != nil {
		return left, fmt.Errorf("trim the cache of downloaded files: %w", err)
	}
	return left, nil
}

// body is one file of the cache.
type body struct {
	sum   string
	size  int64
	used  int64
	bound bool // a run links it
}

func (c *cache) trim(limit int64) (int64, error) {
	if err := c.dropStaleParts(); err != nil {
		return 0, err
	}
	bodies, total, err := c.bodies()
	if err != nil {
		return 0, err
	}
	slices.SortFunc(bodies, func(a, b body) int { return cmp.Or(cmp.Compare(a.used, b.used), cmp.Compare(a.sum, b.sum)) })
	gone := 0
	for _, b := range bodies {
		if total <= limit {
			break
		}
		removed, err := c.drop(b)
		if err != nil {
			return total, err
		}
		if removed {
			total -= b.size
			gone++
		}
	}
	return total, c.compact(gone > 0)
}

// bodies lists what lies in the folder, also what no index line names, and its size.
func (c *cache) bodies() (all []body, total int64, err error) {
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
			continue // what is no file takes no room, and a body replaces it
		}
		if err != nil {
			return nil, 0, err
		}
		c.mu.Lock()
		used := cmp.Or(c.used[entry.Name()], info.ModTime().Unix())
		c.mu.Unlock()
		all = append(all, body{sum: entry.Name(), size: info.Size(), used: used, bound: links(info) > 1})
		total += info.Size()
	}
	return all, total, nil
}

// drop removes a body, unless a run has linked it or is about to.
func (c *cache) drop(b body) (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if b.bound || c.pins[b.sum] > 0 {
		return false, nil
	}
	if err := c.root.Remove(b.sum); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	delete(c.times, b.sum)
	delete(c.used, b.sum)
	return true, nil
}
