package delivery

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/crash"
)

// Remote is a file in the folder of a run on the other side.
type Remote struct {
	ID string
	// Name is relative to the folder of the run, with slashes, as in Artifact.
	Name  string
	Size  int64
	State RemoteState
}

// RemoteState says how much of a file has arrived. The target decides, since only it knows how its side shows that.
type RemoteState int

// The states of a file on the other side.
const (
	RemoteComplete RemoteState = iota
	// RemoteArriving is listed but not stored yet: wait, then look again. The target sees to it that this ends.
	RemoteArriving
	// RemoteBroken will never be complete: remove it and upload again.
	RemoteBroken
)

// Target is the folder of one run on the user's platform. It belongs to the run alone.
type Target interface {
	// List returns all files of the folder, from all its pages. A failed read is an error and never an empty list.
	List(ctx context.Context) ([]Remote, error)
	// Upload stores one file and returns its id. Where the request went out and no answer came, the error is job.Unknown.
	Upload(ctx context.Context, a Artifact) (id string, err error)
	// Remove deletes a file. One that is gone already is no error.
	Remove(ctx context.Context, id string) error
}

// arrival is the pause before another look at a file that is still being stored.
const arrival = 2 * time.Second

// Deliver uploads the artifacts, several at the same time and small ones first, each exactly once whatever happened in an earlier call.
// beside are further effects that need no uploaded file, and are made among the uploads. Deliver returns the ids of the files by name. At
// its end the folder was listed once more and holds exactly one complete file of each name.
func Deliver(ctx context.Context, l *Ledger, target Target, artifacts []Artifact, beside ...Step) (map[string]string, error) {
	d := &delivery{target: target}
	steps := make([]Step, len(artifacts), len(artifacts)+len(beside))
	for i, a := range artifacts {
		steps[i] = d.step(a)
	}
	steps = append(steps, beside...)
	slices.SortStableFunc(steps, func(a, b Step) int { return cmp.Compare(a.Size, b.Size) })
	made, err := l.DoAll(ctx, steps)
	if err != nil {
		return nil, err
	}
	ids := make(map[string]string, len(artifacts))
	for i, s := range steps {
		if s.Kind == KindFile {
			ids[s.Name] = made[i]
		}
	}
	if err := d.check(ctx, l, ids); err != nil {
		return nil, err
	}
	crash.At(crash.FilesChecked)
	return ids, nil
}

// delivery is one call of Deliver. It lists the folder once for the first look at each file, because nobody else writes
// there; a second look at a file lists again.
type delivery struct {
	target Target

	mu     sync.Mutex
	first  []Remote
	listed bool
}

func (d *delivery) step(a Artifact) Step {
	looked := false
	return Step{
		Kind: KindFile, Name: a.Name, SHA256: a.SHA256, Size: a.Size,
		Look: func(ctx context.Context, prior Entry) (string, bool, error) {
			files, err := d.list(ctx, looked)
			if err != nil {
				return "", false, err
			}
			looked = true
			return d.adopt(ctx, a, prior, files)
		},
		Do: func(ctx context.Context) (string, error) {
			id, err := d.target.Upload(ctx, a)
			crash.At(crash.FileDone)
			return id, err
		},
	}
}

func (d *delivery) list(ctx context.Context, again bool) ([]Remote, error) {
	d.mu.Lock() // also while it is listed the first time, for which all files wait
	defer d.mu.Unlock()
	if d.listed && !again {
		return d.first, nil
	}
	files, err := d.target.List(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the folder of the run: %w", err)
	}
	if !d.listed {
		d.first, d.listed = files, true
	}
	return files, nil
}

// adopt finds the one good file of the artifact's name and removes the others: broken ones, those of another size, those of
// an earlier attempt, and doubles.
func (d *delivery) adopt(ctx context.Context, a Artifact, prior Entry, files []Remote) (string, bool, error) {
	stale := prior.State != StateAbsent && prior.SHA256 != a.SHA256
	var good, bad []Remote
	for _, f := range files {
		switch {
		case f.Name != a.Name:
		case f.State == RemoteArriving:
			return "", false, job.Later(arrival, fmt.Errorf("%s is still being stored", a.Name))
		case f.State == RemoteBroken, f.Size != a.Size, stale:
			bad = append(bad, f)
		default:
			good = append(good, f)
		}
	}
	slices.SortFunc(good, func(a, b Remote) int { return cmp.Compare(a.ID, b.ID) }) // always the same one stays
	for i, f := range slices.Concat(good, bad) {
		if i == 0 && len(good) > 0 {
			continue
		}
		if err := d.target.Remove(ctx, f.ID); err != nil {
			return "", false, fmt.Errorf("remove an incomplete or duplicate %s: %w", a.Name, err)
		}
	}
	if len(good) == 0 {
		return "", false, nil
	}
	return good[0].ID, true, nil
}

// check lists the folder a last time. Doubles, which a request that was thought lost may have made, are removed; a file that
// is gone is forgotten, so that the next call uploads it again.
func (d *delivery) check(ctx context.Context, l *Ledger, ids map[string]string) error {
	files, err := d.target.List(ctx)
	if err != nil {
		return fmt.Errorf("list the folder of the run: %w", err)
	}
	here := make(map[string]bool, len(ids))
	for _, f := range files {
		id, ours := ids[f.Name]
		switch {
		case !ours: // whatever a user put there stays
		case f.State == RemoteArriving:
			return job.Later(arrival, fmt.Errorf("%s is still being stored", f.Name))
		case f.ID == id && f.State == RemoteComplete:
			here[f.Name] = true
		default:
			if err := d.target.Remove(ctx, f.ID); err != nil {
				return fmt.Errorf("remove an incomplete or duplicate %s: %w", f.Name, err)
			}
		}
	}
	for _, e := range l.Entries() {
		if _, ours := ids[e.Name]; e.Kind == KindFile && ours && !here[e.Name] {
			if err := l.Forget(KindFile, e.Name); err != nil {
				return err
			}
			err = job.Retryable(fmt.Errorf("%s is missing from the folder of the run and will be uploaded again", e.Name))
		}
	}
	return err
}
