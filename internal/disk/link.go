package disk

import (
	"errors"
	"os"
	"path"
	"sync"
)

// keptFolders is how many folders a Linker holds open.
const keptFolders = 64

// Linker makes hard links from one root to another. It opens a folder for its first link only, because that costs more than a link. It is
// safe for concurrent use.
type Linker struct {
	from, to *os.Root

	mu              sync.Mutex
	sources, places map[string]*os.File // open folders by their names
}

// NewLinker returns a linker. The roots must stay open until it is closed.
func NewLinker(from, to *os.Root) *Linker {
	return &Linker{from: from, to: to, sources: map[string]*os.File{}, places: map[string]*os.File{}}
}

// Link makes a hard link named name below the second root, to the file old below the first one. A link at old or name is never followed. If
// name exists, the error wraps fs.ErrExist. A folder that another program has moved or removed after its first link stays the same folder for
// this linker.
func (l *Linker) Link(old, name string) (err error) {
	source, done, err := l.folder(l.from, l.sources, path.Dir(old))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	place, release, err := l.folder(l.to, l.places, path.Dir(name))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	return linkAt(source, path.Base(old), place, path.Base(name))
}

// folder opens a folder, or returns the one that is kept open. The caller calls done after its use.
func (l *Linker) folder(root *os.Root, kept map[string]*os.File, name string) (f *os.File, done func() error, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f := kept[name]; f != nil {
		return f, nothing, nil
	}
	if f, err = root.OpenFile(name, os.O_RDONLY|folderOnly, 0); err != nil {
		return nil, nil, err
	}
	if len(kept) >= keptFolders {
		return f, f.Close, nil
	}
	kept[name] = f
	return f, nothing, nil
}

func nothing() error { return nil }

// Close closes the folders that are kept open. That cannot fail, because nothing was written through them.
func (l *Linker) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, kept := range []map[string]*os.File{l.sources, l.places} {
		for _, f := range kept {
			_ = f.Close()
		}
		clear(kept)
	}
}
