package clowder

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/disk"
)

const (
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
	dir  disk.Folder
	root *os.Root
	log  *zap.Logger

	mu    sync.Mutex
	index *os.File
	torn  bool              // the index ends without the end of a line
	lines int               // in the index, those that no longer count among them
	sums  map[string]string // file key → sha256
	times map[string]int64  // sha256 → time of change in ns
	used  map[string]int64  // sha256 → last use in s, as far as it is known
	pins  map[string]int    // sha256 → how many stagings are putting it in place
}

// openCache opens the folder and reads the index, and drops part files of processes that died.
func openCache(dir disk.Folder, log *zap.Logger) (*cache, error) {
	root, err := dir.Make()
	if err != nil {
		return nil, err
	}
	c := &cache{
		dir: dir, root: root, log: log,
		sums: make(map[string]string), times: make(map[string]int64), used: make(map[string]int64), pins: make(map[string]int),
	}
	if err := c.openIndex(); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	if err := c.dropStaleParts(); err != nil {
		log.Warn("half-written files of the cache cannot be removed", zap.Error(err))
	}
	return c, nil
}

// maxEntries is how many files of the cache are looked at in one go.
const maxEntries = 500_000

func (c *cache) dropStaleParts() error {
	entries, err := disk.List(c.root, ".", maxEntries)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), partSuffix) {
			continue
		}
		if info, err := c.root.Lstat(entry.Name()); err == nil && time.Since(info.ModTime()) > staleParts {
			if err := c.root.RemoveAll(entry.Name()); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *cache) close() error { return errors.Join(c.index.Close(), c.root.Close()) }

// cacheKey names one version of one file of one Clowder.
func cacheKey(host string, f File) string {
	return fmt.Sprintf("%s/%s/%d/%d", host, f.ID, f.Version, f.Size)
}

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
		return line, c.root.Remove(got.part)
	}
	c.mu.Unlock()
	if err := c.store(got); err != nil {
		return cacheLine{}, err
	}
	info, err := c.root.Lstat(got.sum)
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
		err := c.writeNew(got.sum, got.small)
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
		got.part = partName()
		if err := c.writeNew(got.part, got.small); err != nil {
			return err
		}
	}
	if info, err := c.root.Lstat(got.sum); err == nil && info.IsDir() {
		if err := c.root.RemoveAll(got.sum); err != nil { // a rename replaces all else
			return err
		}
	}
	return c.root.Rename(got.part, got.sum)
}

// partName is a name for a file that is not complete.
func partName() string {
	return fmt.Sprintf("%016x%s", rand.Uint64(), partSuffix) //nolint:gosec // a name, not a secret
}

func (c *cache) writeNew(name string, body []byte) error {
	f, err := c.create(name)
	if err != nil {
		return err
	}
	_, err = f.Write(body)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, c.root.Remove(name))
	}
	return nil
}

// create opens a new file for writing; what has its name already is an error that wraps fs.ErrExist.
func (c *cache) create(name string) (*os.File, error) {
	return c.root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, bodyMode)
}

// writable are the rights with which somebody may have changed a body and set its time again. No body is put with them; Kubernetes
// may give them to the group of a volume when it mounts that.
const writable = 0o222

// intact reports whether the body lies as it was put. The cache must be locked.
func (c *cache) intact(sum string, size int64) bool {
	changed, known := c.times[sum]
	if !known {
		return false
	}
	info, err := c.root.Lstat(sum)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&writable == 0 && info.Size() == size && info.ModTime().UnixNano() == changed
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

// fewSyncs is up to how many files or folders are synced one by one; beyond that one sync of the file system is cheaper.
const fewSyncs = 16

func (c *cache) syncBodies(lines []cacheLine) error {
	if len(lines) > fewSyncs {
		return syncFileSystem(c.root)
	}
	for _, line := range lines {
		if err := syncFile(c.root, line.SHA256); err != nil {
			return err
		}
	}
	return disk.SyncFolder(c.root, ".")
}

func syncFile(root *os.Root, name string) error {
	f, _, err := disk.Open(root, name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
