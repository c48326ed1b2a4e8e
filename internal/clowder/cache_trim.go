package clowder

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
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
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return nil, 0, err
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) || err == nil && !sumForm.MatchString(entry.Name()) {
			continue
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
	if err := os.Remove(c.path(b.sum)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	delete(c.times, b.sum)
	delete(c.used, b.sum)
	return true, nil
}

// deadLines is how many lines of the index may be superseded before it is written anew.
const deadLines = 10_000

// compact writes the index anew without the lines that no longer count, if bodies are gone or there are many such lines.
func (c *cache) compact(gone bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !gone && c.lines < len(c.sums)+deadLines {
		return nil
	}
	next, err := os.CreateTemp(c.dir, "index-*"+partSuffix)
	if err != nil {
		return err
	}
	lines, err := c.writeIndex(next)
	err = errors.Join(err, next.Sync(), next.Close())
	name := filepath.Join(c.dir, cacheIndex)
	if err == nil {
		err = os.Rename(next.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(next.Name()))
	}
	index, err := os.OpenFile(name, os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	err = errors.Join(c.index.Close(), syncPath(c.dir))
	c.index, c.lines = index, lines
	return err
}

// writeIndex writes a line for each file whose body is here and forgets the others.
func (c *cache) writeIndex(f *os.File) (lines int, err error) {
	out := bufio.NewWriter(f)
	enc := json.NewEncoder(out)
	for key, sum := range c.sums {
		if _, here := c.times[sum]; !here {
			delete(c.sums, key)
			continue
		}
		if err := enc.Encode(cacheLine{Key: key, SHA256: sum, Time: c.times[sum], Used: cmp.Or(c.used[sum], time.Now().Unix())}); err != nil {
			return lines, err
		}
		lines++
	}
	return lines, out.Flush()
}
