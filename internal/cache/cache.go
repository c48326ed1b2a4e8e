package cache

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/disk"
)

const (
	partSuffix = ".part"
	// staleParts is the age from which a part file belongs to a process that has ended.
	staleParts = 24 * time.Hour
	// bodyMode keeps a training program from changing a body that other runs share, unless it runs as root.
	bodyMode = 0o444
	// maxEntries is the number of files in the cache folder that are listed at most.
	maxEntries = 500_000
)

// sumForm is the name of a body: its sha256 in hex.
var sumForm = regexp.MustCompile(`^[0-9a-f]{64}$`)

// Cache stores downloaded bodies under their sha256 and remembers which file of which Clowder has which body, so that a second run
// links a body instead of downloading it. It is safe for concurrent use.
type Cache struct {
	dir  disk.Folder
	root *os.Root
	log  *zap.Logger

	mu    sync.Mutex
	index *os.File
	torn  bool              // the last line of the index has no line end
	lines int               // lines in the index, superseded ones included
	sums  map[string]string // file key → sha256
	times map[string]int64  // sha256 → modification time in ns
	used  map[string]int64  // sha256 → last use in s, as far as it is known
	pins  map[string]int    // sha256 → number of stagings that are linking it
	fresh map[string]uint64 // bodies that are not known to be on disk → number of the Put that stored it
	puts  uint64            // number of the newest Put that stored a body

	barrier disk.Barrier
}

// Open opens the folder, reads the index and removes part files of processes that have ended. It makes the folder if it is
// missing.
func Open(dir disk.Folder, log *zap.Logger) (*Cache, error) {
	root, err := dir.Make()
	if err != nil {
		return nil, err
	}
	c := &Cache{
		dir: dir, root: root, log: log,
		sums: make(map[string]string), times: make(map[string]int64), used: make(map[string]int64), pins: make(map[string]int),
		fresh: make(map[string]uint64),
	}
	if err := c.openIndex(); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	if err := c.removeStaleParts(); err != nil {
		log.Warn("cannot remove incomplete files from the download cache", zap.Error(err))
	}
	return c, nil
}

// Close closes the index and the folder.
func (c *Cache) Close() error { return errors.Join(c.index.Close(), c.root.Close()) }

// Free returns the bytes that may still be written to the disk of the cache, and false if that is not known.
func (c *Cache) Free() (int64, bool) { return disk.Free(c.dir.Path()) }

// Key identifies one version of one file of one Clowder.
func Key(host, fileID string, version int, size int64) string {
	return fmt.Sprintf("%s/%s/%d/%d", host, fileID, version, size)
}

// Holds reports whether the cache has the body of a file, unchanged.
func (c *Cache) Holds(key string, size int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	sum, ok := c.sums[key]
	return ok && c.intact(sum, size)
}

// Take returns the entry of a file if the cache has its body, unchanged. The body is not trimmed before Release.
func (c *Cache) Take(key string, size int64) (Entry, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	sum, ok := c.sums[key]
	if !ok || !c.intact(sum, size) {
		return Entry{}, false
	}
	return c.pin(key, sum), true
}

// pin records a use of a body and keeps it from being trimmed. The caller holds the lock.
func (c *Cache) pin(key, sum string) Entry {
	c.pins[sum]++
	entry := Entry{Key: key, SHA256: sum, Time: c.times[sum], Used: time.Now().Unix()}
	c.remember(entry)
	return entry
}

// Release ends the protection by Take or Put: the body is linked now, and the link protects it.
func (c *Cache) Release(sum string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unpin(sum)
}

// unpin ends one protection of a body. The caller holds the lock.
func (c *Cache) unpin(sum string) {
	if c.pins[sum]--; c.pins[sum] <= 0 {
		delete(c.pins, sum)
	}
}

// Put stores a body and returns its entry for Commit. The body is not trimmed before Release. An unchanged body that is there
// already stays: another run may be linking it, and linking a file fails while a rename replaces it.
func (c *Cache) Put(body Body, key string, size int64) (Entry, error) {
	c.mu.Lock()
	if c.intact(body.sum, size) {
		entry := c.pin(key, body.sum)
		c.mu.Unlock()
		if body.part == "" {
			return entry, nil
		}
		return entry, c.root.Remove(body.part)
	}
	c.pins[body.sum]++ // otherwise Trim could remove the body before it is pinned below
	c.mu.Unlock()
	changed, err := c.store(body)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unpin(body.sum)
	if err != nil {
		return Entry{}, err
	}
	c.puts++
	c.times[body.sum], c.fresh[body.sum] = changed, c.puts
	return c.pin(key, body.sum), nil
}

// store moves a body to its name and returns its modification time in ns.
func (c *Cache) store(body Body) (changed int64, err error) {
	if err := c.move(body); err != nil {
		return 0, err
	}
	info, err := c.root.Lstat(body.sum)
	if err != nil {
		return 0, err
	}
	return info.ModTime().UnixNano(), nil
}

// move moves a body to its name. A small body is written to its name directly. If a crash leaves it torn, it is in no index, and
// the next download replaces it through a part file.
func (c *Cache) move(body Body) error {
	if body.part == "" {
		err := c.writeNew(body.sum, body.content)
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
		body.part = partName()
		if err := c.writeNew(body.part, body.content); err != nil {
			return err
		}
	}
	if info, err := c.root.Lstat(body.sum); err == nil && info.IsDir() {
		if err := c.root.RemoveAll(body.sum); err != nil { // the rename replaces anything but a folder
			return err
		}
	}
	return c.root.Rename(body.part, body.sum)
}

// writable are the permissions that would allow a program to change a body and to reset its modification time. Put never sets
// them, but Kubernetes may give them to the group of a volume when it mounts the volume.
const writable = 0o222

// intact reports whether the body is unchanged since Put. The caller holds the lock.
func (c *Cache) intact(sum string, size int64) bool {
	changed, known := c.times[sum]
	if !known {
		return false
	}
	info, err := c.root.Lstat(sum)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&writable == 0 && info.Size() == size && info.ModTime().UnixNano() == changed
}

// Commit makes durable what a staging has brought: the bodies of the entries, and the names of all files in target, nil for none. Then it adds the
// entries to the index. After a nil error a power cut takes no file out of target. It may take entries out of the index, and then the cache
// downloads these files again for the next run.
func (c *Cache) Commit(entries []Entry, target *Target) error {
	if len(entries) == 0 && target == nil {
		return nil
	}
	fresh := c.unsynced(entries)
	err := c.sync(slices.Collect(maps.Keys(fresh)), target)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.noteSync(fresh, err)
	if err != nil {
		return fmt.Errorf("write the downloaded files to disk: %w", err)
	}
	return c.append(entries)
}

// noteSync records what a sync of bodies came to. The caller holds the lock.
func (c *Cache) noteSync(bodies map[string]uint64, err error) {
	for sum, put := range bodies {
		switch {
		case err != nil:
			delete(c.times, sum) // a later sync would not report what was lost, so the next staging downloads the body again
		case c.fresh[sum] == put: // otherwise the body was stored again, perhaps after the sync
			delete(c.fresh, sum)
		}
	}
}

// unsynced returns the bodies of the entries that are not known to be on disk, with the Put that stored each. Another staging may have
// brought some of them.
func (c *Cache) unsynced(entries []Entry) map[string]uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	bodies := make(map[string]uint64)
	for _, entry := range entries {
		if put, ok := c.fresh[entry.SHA256]; ok {
			bodies[entry.SHA256] = put
		}
	}
	return bodies
}

// maxSingleSyncs is the number of files and folders up to which each is opened and synced. For more, the whole file system is synced.
const maxSingleSyncs = 16

// sync makes bodies and the names in the folders of target durable.
func (c *Cache) sync(bodies []string, target *Target) (err error) {
	folders := target.Folders()
	if len(bodies)+len(folders) > maxSingleSyncs {
		if target == nil {
			return c.barrier.SyncAll(c.root)
		}
		return c.barrier.SyncAll(c.root, target.root)
	}
	var files []*os.File
	defer func() {
		for _, f := range files {
			err = errors.Join(err, f.Close())
		}
	}()
	for _, sum := range bodies {
		f, _, err := disk.Open(c.root, sum)
		if err != nil {
			return err
		}
		files = append(files, f)
	}
	for _, name := range folders {
		f, err := disk.OpenNames(target.root, name)
		if err != nil {
			return err
		}
		files = append(files, f)
	}
	if len(files) == 0 {
		return nil
	}
	return c.barrier.Sync(files...)
}

// removeStaleParts removes part files of processes that have ended.
func (c *Cache) removeStaleParts() error {
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
