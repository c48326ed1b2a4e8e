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
	lines int               // in the index, those that no longer count among them
	sums  map[string]string // file key → sha256
	times map[string]int64  // sha256 → time of change in ns
	used  map[string]int64  // sha256 → last use in s, as far as it is known
	pins  map[string]int    // sha256 → how many stagings are putting it in place
}

// cacheLine is one line of the index; later lines win.
type cacheLine struct {
	Key    string `json:"key"`
	SHA256 string `json:"sha256"`
	Time   int64  `json:"mtime_ns"`
	// Used is when a run used the body last, in seconds since 1970; older indexes lack it.
	Used int64 `json:"used,omitempty"`
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
	c := &cache{
		dir: dir, index: index,
		sums: make(map[string]string), times: make(map[string]int64), used: make(map[string]int64), pins: make(map[string]int),
	}
	lines := bufio.NewScanner(index)
	for lines.Scan() {
		c.lines++
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
	c.used[line.SHA256] = max(line.Used, c.used[line.SHA256])
}

// cacheKey names one version of one file of one Clowder.
func cacheKey(host string, f File) string {
	return fmt.Sprintf("%s/%s/%d/%d", host, f.ID, f.Version, f.Size)
}

func (c *cache) path(sum string) string { return filepath.Join(c.dir, sum) }

// holds reports whether the body of a file is here, as it was put.
func (c *cache) holds(key string, size int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	sum, ok := c.sums[key]
	return ok && c.intact(sum, size)
}

// take returns the line of a file whose body is here, as it was put. The body stays until release.
func (c *cache) take(key string, size int64) (cacheLine, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	sum, ok := c.sums[key]
	if !ok || !c.intact(sum, size) {
		return cacheLine{}, false
	}
	return c.pin(key, sum), true
}

// pin notes the use of a body and keeps it from being trimmed. The cache must be locked.
func (c *cache) pin(key, sum string) cacheLine {
	c.pins[sum]++
	line := cacheLine{Key: key, SHA256: sum, Time: c.times[sum], Used: time.Now().Unix()}
	c.remember(line)
	return line
}

// release says that a body is in its place; from then on it is the link that keeps it.
func (c *cache) release(sum string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pins[sum]--; c.pins[sum] <= 0 {
		delete(c.pins, sum)
	}
}

// put moves a complete body to its place, where it stays until release, and returns the line for commit. A body that is
// there already stays: another run may be linking it at this moment, and a link to a file that a rename just replaced fails.
func (c *cache) put(got fetched, key string, size int64) (cacheLine, error) {
	c.mu.Lock()
	if c.intact(got.sum, size) {
		line := c.pin(key, got.sum)
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
	c.mu.Lock()
	defer c.mu.Unlock()
	c.times[got.sum] = info.ModTime().UnixNano()
	return c.pin(key, got.sum), nil
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
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.append(lines); err != nil {
		return err
	}
	return c.index.Sync()
}

// noteUses writes down that bodies were used. A power cut may forget it: then they are taken for less used than they are.
func (c *cache) noteUses(lines []cacheLine) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.append(lines)
}

// append adds lines to the index. The cache must be locked.
func (c *cache) append(lines []cacheLine) error {
	var out []byte
	for _, line := range lines {
		text, err := json.Marshal(line)
		if err != nil {
			return fmt.Errorf("write the cache index: %w", err)
		}
		out = append(append(out, text...), '\n')
	}
	if _, err := c.index.Write(out); err != nil {
		return fmt.Errorf("write the cache index: %w", err)
	}
	c.lines += len(lines)
	return nil
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
