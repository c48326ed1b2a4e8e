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
	// maxShelf is how many runs are remembered, about a kilobyte each.
	maxShelf = 4096
	// Between two looks at the folder of a run pass lookActive or, where the run is over, lookOver. A shared volume answers each look in
	// milliseconds, and a list asks for fifty runs.
	lookActive = time.Second
	lookOver   = time.Minute
	// chunks is how many megabytes of an event log one look reads at most.
	chunks = 8
)

// shelf remembers what the folders of runs say, and reads again what has changed.
type shelf struct {
	folder func(run string) disk.Folder
	now    func() time.Time

	mu   sync.Mutex
	runs map[string]*kept
}

// kept is what is remembered of one run.
type kept struct {
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

func newShelf(folder func(run string) disk.Folder) *shelf {
	return &shelf{folder: folder, now: time.Now, runs: map[string]*kept{}}
}

// look returns what is known of a run: its outcome, nil for none, how far it is, and whether its folder is gone. What cannot be read is
// left out: the page of the run says why.
func (s *shelf) look(rec job.Record) (out *outcome, progress results.Progress, gone bool) {
	k := s.of(rec.Run)
	k.mu.Lock()
	defer k.mu.Unlock()
	over := !rec.Active()
	wait := lookActive
	if over && k.over {
		wait = lookOver
	}
	if now := s.now(); k.attempt != rec.Attempt || k.over != over || now.Sub(k.looked) >= wait {
		k.looked, k.attempt, k.over = now, rec.Attempt, over
		k.read(s.folder(rec.Run), rec)
	}
	return k.outcome, k.progress, k.gone
}

// of returns the place of a run. Where the shelf is full, some other run loses its place.
func (s *shelf) of(run string) *kept {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.runs[run]
	if k == nil {
		for other := range s.runs {
			if len(s.runs) < maxShelf {
				break
			}
			delete(s.runs, other)
		}
		k = &kept{}
		s.runs[run] = k
	}
	return k
}

func (k *kept) read(dir disk.Folder, rec job.Record) {
	root, err := dir.Open()
	if err != nil {
		k.gone = errors.Is(err, fs.ErrNotExist) && rec.State != job.Accepted
		k.outcome, k.stamp, k.tail, k.progress = nil, stamp{}, nil, results.Progress{}
		return
	}
	k.gone = false
	k.readResult(root, dir)
	_ = root.Close()
	if k.outcome != nil || k.over {
		k.tail, k.progress = nil, results.Progress{} // the result says all that a list shows
		return
	}
	if k.tail == nil {
		k.tail = results.NewTail(dir)
	}
	for range chunks {
		events, err := k.tail.Next()
		for _, e := range events {
			if e.Attempt <= rec.Attempt {
				k.progress.Fold(e)
			}
		}
		if err != nil || len(events) == 0 {
			return
		}
	}
}

// readResult reads the result, or what a failed script left, where it is another file than before.
func (k *kept) readResult(root *os.Root, dir disk.Folder) {
	for _, file := range []struct {
		name string
		read func(disk.Folder) (*results.Result, error)
	}{{results.ResultFile, results.ReadFinished}, {results.PartialFile, results.ReadLeft}} {
		info, err := root.Lstat(file.name)
		if err != nil || info.Mode().Type()&fs.ModeType != 0 {
			continue
		}
		if seen := (stamp{info.Size(), info.ModTime()}); seen != k.stamp {
			k.stamp, k.outcome = seen, nil
			if r, err := file.read(dir); err == nil {
				o := newOutcome(r)
				k.outcome = &o
			}
		}
		return
	}
	k.stamp, k.outcome = stamp{}, nil
}
