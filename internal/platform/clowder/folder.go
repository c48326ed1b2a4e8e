package clowder

import (
	"context"
	"fmt"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/versions"
	"github.com/ncsa/clowder-ray/internal/results/delivery"
)

// runFolder is the folder of a run in Clowder as the delivery sees it: artifacts with a folder in their name lie in a folder
// of that name inside.
type runFolder struct {
	session           versions.Session
	ledger            *delivery.Ledger
	arrivals          *arrivals
	dataset, id, full string

	mu       sync.Mutex
	inner    map[string]string // name of an inner folder to its id
	creators map[string]string // id of a file to who has added it
}

var _ delivery.Target = (*runFolder)(nil)

func (c *Platform) runFolder(s versions.Session, l *delivery.Ledger, dataset, id string, names []string) *runFolder {
	return &runFolder{
		session: s, ledger: l, arrivals: &c.arrivals, dataset: dataset, id: id, full: strings.Join(names, "/"),
		inner: map[string]string{"": id}, creators: map[string]string{},
	}
}

// folder returns the id of the inner folder of an artifact, and makes it if needed.
func (f *runFolder) folder(ctx context.Context, artifact string) (string, error) {
	dir, _ := path.Split(artifact)
	name := strings.TrimSuffix(dir, "/")
	f.mu.Lock() // also while the folder is made, which then is made once
	defer f.mu.Unlock()
	if id, ok := f.inner[name]; ok {
		return id, nil
	}
	id, err := f.ledger.Do(ctx, folderStep(f.session, f.dataset, f.id, f.full+"/"+name, name))
	if err == nil {
		f.inner[name] = id
	}
	return id, err
}

// List returns the files of the folder and of the inner folders that this delivery has used or an earlier one made.
func (f *runFolder) List(ctx context.Context) ([]delivery.Remote, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range f.ledger.Entries() {
		if name, ok := strings.CutPrefix(e.Name, f.full+"/"); ok && e.Kind == delivery.KindFolder && e.State == delivery.StateDone {
			f.inner[name] = e.ID
		}
	}
	var out []delivery.Remote
	for name, id := range f.inner {
		files, err := f.session.FolderFiles(ctx, f.dataset, id)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			f.creators[file.ID] = file.Creator
			out = append(out, delivery.Remote{ID: file.ID, Name: path.Join(name, file.Name), Size: file.Size, State: f.arrivals.state(file)})
		}
	}
	return out, nil
}

// creator is who has added a file, as Clowder said when the folder was listed last.
func (f *runFolder) creator(file string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.creators[file]
}

// Upload adds one artifact.
func (f *runFolder) Upload(ctx context.Context, a delivery.Artifact) (string, error) {
	folder, err := f.folder(ctx, a.Name)
	if err != nil {
		return "", fmt.Errorf("make the folder of %s: %w", a.Name, err)
	}
	file, err := f.session.Upload(ctx, f.dataset, folder, bodyOf(a, path.Base(a.Name)))
	return file.ID, err
}

// Remove deletes a file that is broken or there twice.
func (f *runFolder) Remove(ctx context.Context, id string) error {
	return f.session.DeleteFile(ctx, id)
}

// arrivalLimit is how long a file may be seen arriving; one that takes longer was cut inside Clowder and never will be there.
const arrivalLimit = 15 * time.Minute

// arrivals remembers since when this process has seen files arrive. Clowder's own times are those of another clock.
type arrivals struct {
	mu    sync.Mutex
	since map[string]time.Time
}

func (a *arrivals) state(f clowder.File) delivery.RemoteState {
	a.mu.Lock()
	defer a.mu.Unlock()
	since, known := a.since[f.ID]
	switch {
	case f.InFlight && !known:
		if a.since == nil {
			a.since = map[string]time.Time{}
		}
		a.since[f.ID] = time.Now()
		return delivery.RemoteArriving
	case f.InFlight && time.Since(since) <= arrivalLimit:
		return delivery.RemoteArriving
	}
	delete(a.since, f.ID)
	if f.InFlight {
		return delivery.RemoteBroken
	}
	return delivery.RemoteComplete
}
