package boards

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/tensorboard"
)

// boardDir is the folder of the event files of a training.
const boardDir = "tensorboard"

const (
	// maxBoards is how many boards are remembered: a name and a time each.
	maxBoards = 1000
	// Between two looks at the event files of a board pass lookActive or, where all its runs are over, lookOver.
	lookActive = 5 * time.Second
	lookOver   = time.Minute
	// maxFolders, maxFiles and maxDepth bound what of a run is looked through.
	maxFolders = 200
	maxFiles   = 200
	maxDepth   = 6
	// maxPoints is how many points of a curve are sent, as many as TensorBoard shows. Of many runs each has fewer.
	maxPoints = 1000
	maxSent   = 300_000
)

// boardCache remembers which boards the process has.
type boardCache struct {
	folder func(run string) disk.Folder
	boards *lru.Cache[string, *board]
	mu     sync.Mutex
}

// board is the curves of one or several runs.
type board struct {
	name   string
	runs   []string
	folder func(run string) disk.Folder
	// active says whether a run was going on at the newest request.
	active atomic.Bool

	mu sync.Mutex
	// at is the URL of the process that has the curves, empty for none, looked when the event files were read.
	at     string
	looked time.Time
}

func newBoardCache(folder func(run string) disk.Folder) *boardCache {
	boards, err := lru.New[string, *board](maxBoards)
	if err != nil {
		panic(err) // the size is not positive
	}
	return &boardCache{folder: folder, boards: boards}
}

// board returns the board of these runs. Each has a name that tells nothing.
func (c *boardCache) board(records []job.Record) *board {
	runs, active := make([]string, len(records)), false
	for i, rec := range records {
		runs[i], active = rec.Run, active || rec.Active()
	}
	sum := sha256.Sum256([]byte(strings.Join(runs, ",")))
	name := hex.EncodeToString(sum[:16])
	c.mu.Lock()
	defer c.mu.Unlock()
	b, found := c.boards.Get(name)
	if !found {
		b = &board{name: name, runs: runs, folder: c.folder}
		c.boards.Add(name, b)
	}
	b.active.Store(active)
	return b
}

// old reports whether the event files may say more than the process has.
func (b *board) old() bool {
	if b.active.Load() {
		return time.Since(b.looked) >= lookActive
	}
	return time.Since(b.looked) >= lookOver
}

// read returns the curves of all runs: run, curve, points of step, time and value.
func (b *board) read() map[string]map[string][][3]float64 {
	b.looked = time.Now()
	out := map[string]map[string][][3]float64{}
	for _, run := range b.runs {
		out[run] = map[string][][3]float64{}
		for _, log := range logs(b.folder(run)) {
			name := run
			if log.Folder != "" {
				name += "/" + results.Plain(log.Folder, "log")
			}
			lines := map[string][][3]float64{}
			for _, c := range log.Curves {
				if line := points(c.Points, max(2, min(maxPoints, maxSent/(len(b.runs)*tensorboard.MaxTags)))); len(line) > 0 {
					lines[results.Plain(c.Tag, "value")] = line
				}
			}
			if len(lines) > 0 {
				out[name] = lines
			}
		}
	}
	return out
}

// points are at most n points of a curve, evenly, with the first and the last.
func points(all []tensorboard.Point, n int) [][3]float64 {
	out := make([][3]float64, min(len(all), n))
	for i := range out {
		p := all[i]
		if len(all) > n {
			p = all[i*(len(all)-1)/(n-1)]
		}
		out[i] = [3]float64{float64(p.Step), p.Wall, p.Value}
	}
	return out
}

// logs reads the event files of a run: those of a training, and of a script those below its output. Links are not followed.
func logs(dir disk.Folder) []tensorboard.Log {
	var found []tensorboard.File
	for _, part := range []string{boardDir, strings.TrimSuffix(results.OutDir, "/")} {
		folders := []string{part}
		for i := 0; i < len(folders) && i < maxFolders && len(found) < maxFiles; i++ {
			files, inner := listed(dir, folders[i])
			found = append(found, files...)
			if strings.Count(folders[i], "/") < maxDepth {
				folders = append(folders, inner...)
			}
		}
		if len(found) > 0 {
			break // a training delivers the same files again
		}
	}
	read, _ := tensorboard.Read(found[:min(len(found), maxFiles)])
	for i, log := range read {
		folder, _, _ := strings.Cut(log.Folder, "/")
		read[i].Folder = strings.TrimPrefix(strings.TrimPrefix(log.Folder, folder), "/")
	}
	return read
}

// listed are the event files in a folder of a run, and the folders in it.
func listed(dir disk.Folder, name string) (files []tensorboard.File, folders []string) {
	root, err := dir.In(name).Open()
	if err != nil {
		return nil, nil
	}
	defer func() { _ = root.Close() }()
	entries, err := disk.List(root, ".", maxFolders)
	if err != nil {
		return nil, nil
	}
	for _, e := range entries {
		at := path.Join(name, e.Name())
		switch {
		case e.IsDir():
			folders = append(folders, at)
		case e.Type()&fs.ModeType == 0 && tensorboard.IsFile(e.Name()):
			files = append(files, tensorboard.File{Path: at, Open: func() (io.ReadCloser, error) { return open(dir, at) }})
		}
	}
	return files, folders
}

func open(dir disk.Folder, name string) (io.ReadCloser, error) {
	root, err := dir.In(path.Dir(name)).Open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	f, _, err := disk.Open(root, path.Base(name))
	return f, err
}
