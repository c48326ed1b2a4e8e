package runs

import (
	"errors"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/results"
)

const (
	// maxCachedRuns is how many runs are remembered, about a kilobyte each.
	maxCachedRuns = 4096
	// Between two looks at the folder of a run pass lookActive or, where the run is over, lookOver. A shared volume answers each look in
	// milliseconds, and a list asks for fifty runs.
	lookActive = time.Second
	lookOver   = time.Minute
	// chunks is how many megabytes of an event log one look reads at most.
	chunks = 8
)

// folderCache remembers what the folders of runs say, and reads again what has changed.
type folderCache struct {
	folder func(run string) disk.Folder
	now    func() time.Time

	mu   sync.Mutex
	runs map[string]*cachedRun
}

// cachedRun is what is remembered of one run.
type cachedRun struct {
	mu      sync.Mutex
	looked  time.Time
	attempt int
	over    bool
	// stamp is of the file that outcome was read from.
	stamp   stamp
	outcome *outcome
	// gone says that the folder of the run is not there.
	gone     bool
	tail     *results.Tail
	progress results.Progress
}

// stamp tells two versions of a file apart.
type stamp struct {
	size int64
	time time.Time
}

func newFolderCache(folder func(run string) disk.Folder) *folderCache {
	return &folderCache{folder: folder, now: time.Now, runs: map[string]*cachedRun{}}
}

// look returns what is known of a run: its outcome, nil for none, how far it is, and whether its folder is gone. What cannot be read is
// left out: the page of the run says why.
func (c *folderCache) look(rec job.Record) (out *outcome, progress results.Progress, gone bool) {
	k := c.of(rec.Run)
	k.mu.Lock()
	defer k.mu.Unlock()
	over := !rec.Active()
	wait := lookActive
	if over && k.over {
		wait = lookOver
	}
	if now := c.now(); k.attempt != rec.Attempt || k.over != over || now.Sub(k.looked) >= wait {
		k.looked, k.attempt, k.over = now, rec.Attempt, over
		k.read(c.folder(rec.Run), rec)
	}
	return k.outcome, k.progress, k.gone
}

// of returns the entry of a run. Where the cache is full, some other run is dropped.
func (c *folderCache) of(run string) *cachedRun {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.runs[run]
	if k == nil {
		for other := range c.runs {
			if len(c.runs) < maxCachedRuns {
				break
			}
			delete(c.runs, other)
		}
		k = &cachedRun{}
		c.runs[run] = k
	}
	return k
}

func (c *cachedRun) read(dir disk.Folder, rec job.Record) {
	root, err := dir.Open()
	if err != nil {
		c.gone = errors.Is(err, fs.ErrNotExist) && rec.State != job.Accepted
		c.outcome, c.stamp, c.tail, c.progress = nil, stamp{}, nil, results.Progress{}
		return
	}
	c.gone = false
	c.readResult(root, dir)
	_ = root.Close()
	if c.outcome != nil || c.over {
		c.tail, c.progress = nil, results.Progress{} // the result says all that a list shows
		return
	}
	if c.tail == nil {
		c.tail = results.NewTail(dir)
	}
	for range chunks {
		events, err := c.tail.Next()
		for _, e := range events {
			if e.Attempt <= rec.Attempt {
				c.progress.Fold(e)
			}
		}
		if err != nil || len(events) == 0 {
			return
		}
	}
}

// readResult reads the result, or what a failed script left, where it is another file than before.
func (c *cachedRun) readResult(root *os.Root, dir disk.Folder) {
	for _, file := range []struct {
		name string
		read func(disk.Folder) (*results.Result, error)
	}{{results.ResultFile, results.ReadFinished}, {results.PartialFile, results.ReadLeft}} {
		info, err := root.Lstat(file.name)
		if err != nil || info.Mode().Type()&fs.ModeType != 0 {
			continue
		}
		if seen := (stamp{info.Size(), info.ModTime()}); seen != c.stamp {
			c.stamp, c.outcome = seen, nil
			if r, err := file.read(dir); err == nil {
				o := newOutcome(r)
				c.outcome = &o
			}
		}
		return
	}
	c.stamp, c.outcome = stamp{}, nil
}
