package disk

import (
	"errors"
	"os"
	"sync"
)

// maxSingleSyncs is the number of files and folders up to which each is synced on its own. For more, one sync of the whole file system is
// cheaper. One job asks for at most three, so while jobs come one by one, nothing of other programs is synced.
const maxSingleSyncs = 5

// Barrier makes files and folders durable for all callers that ask at the same time, because one sync can serve any number of them. The zero
// value is ready to use, and so is nil, which syncs for each caller alone. It is safe for concurrent use.
type Barrier struct {
	mu   sync.Mutex
	next *round        // nil: nobody waits
	last chan struct{} // of the round that was begun last, or will be; nil: none
}

// round is one sync. Its errors may be read once done is closed.
type round struct {
	files       []*os.File // files and folders
	whole       []*os.Root // everything on the file systems of these folders
	err         error      // about everything
	errs        map[*os.File]error
	after, done chan struct{}
}

// Sync makes the content of open files and the names in open folders durable. The caller keeps them open until it returns. Sync begins after it
// was called, so it covers everything that was written before. After an error the files must be written again: the system reports a write that
// failed only once.
func (b *Barrier) Sync(files ...*os.File) error { return b.join(files, nil) }

// SyncAll makes everything on the file systems of folders durable: one call for thousands of files.
func (b *Barrier) SyncAll(folders ...*os.Root) error { return b.join(nil, folders) }

// join adds what a caller wants to the round that begins next, and returns when that round is over. The first caller of a round does its work.
func (b *Barrier) join(files []*os.File, whole []*os.Root) error {
	if b == nil {
		b = new(Barrier)
	}
	r, first := b.enter(files, whole)
	if first {
		if r.after != nil {
			<-r.after
		}
		b.begin()
		r.sync()
		close(r.done)
	}
	<-r.done
	err := r.err
	for _, f := range files {
		err = errors.Join(err, r.errs[f])
	}
	return err
}

func (b *Barrier) enter(files []*os.File, whole []*os.Root) (r *round, first bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next == nil {
		b.next, first = &round{after: b.last, done: make(chan struct{})}, true
		b.last = b.next.done
	}
	b.next.files = append(b.next.files, files...)
	b.next.whole = append(b.next.whole, whole...)
	return b.next, first
}

// begin closes the waiting round: callers from now on wait for the next one, because this round may not see their changes.
func (b *Barrier) begin() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.next = nil
}

func (r *round) sync() {
	if len(r.whole) > 0 || len(r.files) > maxSingleSyncs {
		r.err = syncFileSystems(r.whole, r.files)
		return
	}
	r.errs = make(map[*os.File]error, len(r.files))
	for _, f := range r.files {
		r.errs[f] = f.Sync()
	}
}

// SyncFolder makes the names in a folder below root durable.
func SyncFolder(root *os.Root, name string) error {
	f, err := OpenNames(root, name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// OpenNames opens a folder below root to sync the names in it. A pipe or a file in its place is refused without waiting.
func OpenNames(root *os.Root, name string) (*os.File, error) {
	return root.OpenFile(name, os.O_RDONLY|folderOnly, 0)
}
