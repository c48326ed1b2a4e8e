package objects

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/s3"
)

const (
	checkpoints = "checkpoints"
	// kept is how many snapshots of a run are kept in the store.
	kept = 2
	// maxSnapshot bounds the manifest of a snapshot in bytes, maxFolders the folders beside it.
	maxSnapshot = 64 << 20
	maxFolders  = 10_000
	// pause is the time between two tries to copy a snapshot that could not be copied.
	pause = time.Minute
)

// snapshotForm is the name of a snapshot on the volume, which the trainer publishes by one rename.
var snapshotForm = regexp.MustCompile(`^[0-9]{6,12}$`)

// copies is what is known of the copies of one run.
type copies struct {
	rec job.Record
	say func(string)
	// wanted is the newest snapshot on the volume, done the last one that was copied.
	wanted, done string
	// failed is when a copy last failed. told says that the user knows of it.
	failed time.Time
	told   bool
}

// Look notices a new snapshot of a running job, which Run then copies to the target of the job. It returns at once. say takes sentences for
// the user.
func (m *Mover) Look(rec job.Record, say func(string)) {
	if Target(rec) == "" || m.store == nil {
		return
	}
	newest := m.newest(rec.Run)
	m.mu.Lock()
	defer m.mu.Unlock()
	known, ok := m.runs[rec.Run]
	if !ok {
		known = &copies{}
		m.runs[rec.Run] = known
	}
	known.rec, known.say, known.wanted = rec, say, newest
	if known.due() {
		select {
		case m.wake <- struct{}{}:
		default:
		}
	}
}

// Forget drops what is known of a run that is over.
func (m *Mover) Forget(run string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.runs, run)
}

// due reports that a snapshot should be copied now. The caller holds the lock.
func (c *copies) due() bool {
	return c.wanted != c.done && c.wanted != "" && time.Since(c.failed) >= pause
}

// Run copies snapshots, one at a time, until ctx ends. What it has not copied by then is copied by the next process.
func (m *Mover) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-m.wake:
		}
		for {
			task, ok := m.next()
			if !ok || ctx.Err() != nil {
				break
			}
			m.note(ctx, task, m.copySnapshot(ctx, task))
		}
	}
}

// next returns a snapshot to copy.
func (m *Mover) next() (copies, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, known := range m.runs {
		if known.due() {
			return *known, true
		}
	}
	return copies{}, false
}

// note keeps the outcome of a copy. The user reads of the first failure only; the run goes on.
func (m *Mover) note(ctx context.Context, task copies, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	known, ok := m.runs[task.rec.Run]
	if !ok || ctx.Err() != nil {
		return
	}
	if err == nil {
		known.done, known.failed, known.told = task.wanted, time.Time{}, false
		return
	}
	known.failed = time.Now()
	m.log.Warn("cannot copy a snapshot of a run to its object store", zap.String("run", task.rec.Run), zap.Error(err))
	if !known.told {
		known.told = true
		task.say(fmt.Sprintf("The checkpoints cannot be copied to %s now: %s; the run goes on", Target(task.rec), err))
	}
}

// newest returns the name of the newest snapshot on the volume, empty for none.
func (m *Mover) newest(run string) string {
	root, err := m.volume.Run(run).Open()
	if err != nil {
		return ""
	}
	defer func() { _ = root.Close() }()
	entries, err := disk.List(root, checkpoints, maxFolders)
	if err != nil {
		return ""
	}
	for _, e := range slices.Backward(entries) { // sorted by name, and the names have leading zeros
		if snapshotForm.MatchString(e.Name()) && e.IsDir() {
			return e.Name()
		}
	}
	return ""
}

// copySnapshot copies one snapshot and removes those that are too old. The trainer may remove a snapshot meanwhile, since it has a newer
// one.
func (m *Mover) copySnapshot(ctx context.Context, task copies) error {
	who, err := m.who(ctx, task.rec)
	if err != nil {
		return err
	}
	set, err := m.snapshot(task.rec.Run, task.wanted)
	if err == nil {
		if task.done != "" {
			set.Before = path.Join(checkpoints, task.done)
		}
		err = m.store.Upload(ctx, Target(task.rec), who, set)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	old, err := m.store.Sets(ctx, Target(task.rec), who, task.rec.Run, checkpoints)
	if err != nil {
		return err
	}
	slices.Sort(old)
	for _, name := range old[:max(0, len(old)-kept)] {
		if err := m.store.Remove(ctx, Target(task.rec), who, task.rec.Run, path.Join(checkpoints, name)); err != nil {
			return err
		}
	}
	return nil
}

// snapshot reads the manifest of a snapshot. Nothing in it is trusted: each file is compared with its sha256 while it is read.
func (m *Mover) snapshot(run, name string) (s3.Set, error) {
	folder := m.volume.Run(run).In(checkpoints).In(name)
	root, err := folder.Open()
	if err != nil {
		return s3.Set{}, err
	}
	defer func() { _ = root.Close() }()
	doc, err := disk.ReadFile(root, "manifest.json", maxSnapshot)
	if err != nil {
		return s3.Set{}, err
	}
	var manifest struct {
		Files []struct {
			Path   string `json:"path"`
			Size   int64  `json:"size"`
			SHA256 string `json:"sha256"`
		} `json:"files"`
	}
	if err := json.Unmarshal(doc, &manifest); err != nil {
		return s3.Set{}, job.Permanent(fmt.Errorf("the list of the snapshot %s is damaged", name))
	}
	set := s3.Set{Run: run, Name: path.Join(checkpoints, name)}
	for _, found := range manifest.Files {
		if !fs.ValidPath(found.Path) || found.Size < 0 {
			return s3.Set{}, job.Permanent(fmt.Errorf("the list of the snapshot %s has a file outside of it", name))
		}
		f := s3.File{Name: found.Path, Size: found.Size, SHA256: found.SHA256}
		f.Open = opener(folder, path.Join("files", found.Path), f)
		set.Files = append(set.Files, f)
	}
	return set, nil
}
