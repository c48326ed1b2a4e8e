package clowder

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"
)

const (
	cacheIndex = "index.jsonl"
	partSuffix = ".part"
	// staleParts is the age after which a part file belongs to a process that is gone.
	staleParts = 24 * time.Hour
	// bodyMode keeps a training program from changing a body that other runs share, unless it runs as root.
	bodyMode = 0o444
)

var sumForm = regexp.MustCompile(`^[0-9a-f]{64}$`)

// cache keeps downloaded bodies by their sha256 and remembers which file of which Clowder has which body, so that a second
// run links instead of downloading. A line gets into its index only after the bodies it names are on disk, and a body
// whose time of change is not the recorded one is not trusted. It is safe for concurrent use.
type cache struct {
	dir string

	mu    sync.Mutex
	index *os.File
	sums  map[string]string // file key → sha256
	times map[string]int64  // sha256 → time of change in ns
}

// cacheLine is one line of the index; later lines win.
type cacheLine struct {
	Key    string `json:"key"`
	SHA256 string `json:"sha256"`
	Time   int64  `json:"mtime_ns"`
}

// openCache reads the index, and drops part files of processes that died. A torn last line is skipped.
func openCache(dir string) (*cache, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, err
	}
	index, err := os.OpenFile(filepath.Join(dir, cacheIndex), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	c := &cache{dir: dir, index: index, sums: make(map[string]string), times: make(map[string]int64)}
	lines := bufio.NewScanner(index)
	for lines.Scan() {
		var line cacheLine
		if json.Unmarshal(lines.Bytes(), &line) == nil && sumForm.MatchString(line.SHA256) {
			c.remember(line)
		}
	}
	if err := errors.Join(lines.Err(), c.dropStaleParts()); err != nil {
		return nil, errors.Join(err, index.Close())
	}
	return c, nil
}

func (c *cache) dropStaleParts() error {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), partSuffix) {
			continue
		}
		if info, err := entry.Info(); err == nil && time.Since(info.ModTime()) > staleParts {
			if err := os.Remove(filepath.Join(c.dir, entry.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *cache) close() error { return c.index.Close() }

func (c *cache) remember(line cacheLine) {
	c.sums[line.Key] = line.SHA256
	c.times[line.SHA256] = line.Time
}

// cacheKey names one version of one file of one Clowder.
func cacheKey(host string, f File) string {
	return fmt.Sprintf("%s/%s/%d/%d", host, f.ID, f.Version, f.Size)
}

func (c *cache) path(sum string) string { return filepath.Join(c.dir, sum) }

// lookup returns the sha256 of a file whose body is here, as it was put.
func (c *cache) lookup(key string, size int64) (string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	sum, ok := c.sums[key]
	return sum, ok && c.intact(sum, size)
}

// put moves a complete body to its place and returns the line for commit. A body that is there already stays: another run
// may be linking it at this moment, and a link to a file that a rename just replaced fails.
func (c *cache) put(got fetched, key string, size int64) (cacheLine, error) {
	c.mu.Lock()
	if c.intact(got.sum, size) {
		line := cacheLine{Key: key, SHA256: got.sum, Time: c.times[got.sum]}
		c.remember(line)
		c.mu.Unlock()
		if got.part == "" {
			return line, nil
		}
		return line, os.Remove(got.part)
	}
	c.mu.Unlock()
	if err := c.store(got); err != nil {
		return cacheLine{}, err
	}
	info, err := os.Stat(c.path(got.sum))
	if err != nil {
		return cacheLine{}, err
	}
	line := cacheLine{Key: key, SHA256: got.sum, Time: info.ModTime().UnixNano()}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remember(line)
	return line, nil
}

// store puts a body under its name. A small one is written there directly: what a crash leaves torn is in no index and so
// in nobody's way but its own, and then, as for large ones, a part file takes its place.
func (c *cache) store(got fetched) error {
	if got.part == "" {
		err := writeNew(c.path(got.sum), got.small)
		if !errors.Is(err, os.ErrExist) {
			return err
		}
		got.part = partName(c.dir)
		if err := writeNew(got.part, got.small); err != nil {
			return err
		}
	}
	return os.Rename(got.part, c.path(got.sum))
}

// partName is a name for a file that is not complete.
func partName(dir string) string {
	return filepath.Join(dir, fmt.Sprintf("%016x%s", rand.Uint64(), partSuffix)) //nolint:gosec // a name, not a secret
}

func writeNew(name string, body []byte) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, bodyMode)
	if err != nil {
		return err
	}
	_, err = f.Write(body)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	return nil
}

// intact reports whether the body lies as it was put. The cache must be locked.
func (c *cache) intact(sum string, size int64) bool {
	changed, known := c.times[sum]
	if !known {
		return false
	}
	info, err := os.Stat(c.path(sum))
	return err == nil && info.Size() == size && info.ModTime().UnixNano() == changed
}

// commit makes the bodies of the lines durable and then the lines themselves. After a nil return both survive a power cut.
func (c *cache) commit(lines []cacheLine) error {
	if len(lines) == 0 {
		return nil
	}
	if err := c.syncBodies(lines); err != nil {
		return fmt.Errorf("write the downloaded files to disk: %w", err)
	}
	var out []byte
	for _, line := range lines {
		text, err := json.Marshal(line)
		if err != nil {
			return fmt.Errorf("write the cache index: %w", err)
		}
		out = append(append(out, text...), '\n')
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := c.index.Write(out); err != nil {
		return fmt.Errorf("write the cache index: %w", err)
	}
	return c.index.Sync()
}

// fewBodies is up to how many bodies are synced one by one; beyond that one sync of the file system is cheaper.
const fewBodies = 16

func (c *cache) syncBodies(lines []cacheLine) error {
	if len(lines) > fewBodies {
		return syncFileSystem(c.dir)
	}
	for _, line := range lines {
		if err := syncPath(c.path(line.SHA256)); err != nil {
			return err
		}
	}
	return syncPath(c.dir)
}

func syncPath(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
