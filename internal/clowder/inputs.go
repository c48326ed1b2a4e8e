package clowder

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/ncsa/clowder-ray/internal/disk"
)

// inputs is a folder that Stage fills. Pods of an earlier attempt may have written to it.
type inputs struct {
	root  *os.Root
	cache *cache

	mu   sync.Mutex
	made map[string]bool // the folders that are real ones
}

// openInputs opens the folder and makes it where it is missing. A link or a file in its place is replaced; one in the place of
// a folder above it is refused.
func openInputs(dir disk.Folder, c *cache) (*inputs, error) {
	root, err := dir.Make()
	if errors.Is(err, disk.ErrNotAllowed) && dir.Name != "" {
		if err = replaceFolder(dir); err == nil {
			root, err = dir.Make()
		}
	}
	if err != nil {
		return nil, err
	}
	return &inputs{root: root, cache: c, made: map[string]bool{".": true}}, nil
}

// replaceFolder removes what is in the place of a folder.
func replaceFolder(dir disk.Folder) (err error) {
	above, name := path.Split(dir.Name)
	parent, err := disk.Folder{Volume: dir.Volume, Name: strings.TrimSuffix(above, "/")}.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, parent.Close()) }()
	return removeUnlessFolder(parent, name)
}

// removeUnlessFolder removes a link, a file or whatever else has the name and is no folder.
func removeUnlessFolder(root *os.Root, name string) error {
	info, err := root.Lstat(name)
	if err != nil || info.IsDir() {
		return err
	}
	return root.Remove(name)
}

func (in *inputs) close() { _ = in.root.Close() } // nothing was written through it

// placeTries is how often a link is tried: it fails in the instant in which another run replaces the same body by a rename.
const placeTries = 3

// place links the body to its path, or copies it where the file system cannot link. A link that is there already stays.
func (in *inputs) place(sum, local string) error {
	if err := in.folder(path.Dir(local)); err != nil {
		return err
	}
	var err error
	for range placeTries {
		err = disk.Link(in.cache.root, sum, in.root, local)
		if err != nil && !errors.Is(err, fs.ErrExist) && !errors.Is(err, fs.ErrNotExist) {
			err = in.copy(sum, local)
		}
		switch {
		case err == nil && in.regular(local), errors.Is(err, fs.ErrExist) && in.same(sum, local):
			return nil
		case err == nil:
			// The body was replaced by a link after it was looked at, and a link can be linked like a file.
			err = errors.Join(fmt.Errorf("the downloaded file was replaced: %w", disk.ErrNotAllowed), in.root.RemoveAll(local))
		case errors.Is(err, fs.ErrExist):
			if err := in.root.RemoveAll(local); err != nil {
				return err
			}
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
	}
	return err
}

func (in *inputs) regular(local string) bool {
	info, err := in.root.Lstat(local)
	return err == nil && info.Mode().IsRegular()
}

// same reports whether the path is a link of the body.
func (in *inputs) same(sum, local string) bool {
	body, err := in.cache.root.Lstat(sum)
	if err != nil || !body.Mode().IsRegular() {
		return false
	}
	info, err := in.root.Lstat(local)
	return err == nil && os.SameFile(body, info)
}

// copy writes the body to a new file, which is on disk after a nil error.
func (in *inputs) copy(sum, local string) error {
	from, _, err := disk.Open(in.cache.root, sum)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }()
	to, err := in.root.OpenFile(local, os.O_CREATE|os.O_EXCL|os.O_WRONLY, bodyMode)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	if err = errors.Join(err, to.Sync(), to.Close()); err != nil {
		return errors.Join(err, in.root.Remove(local))
	}
	return nil
}

// inputFolderMode lets the pods of Ray, which may run as another user, read what the service puts there.
const inputFolderMode = 0o755

// folder makes a folder and those above it, and replaces what is in their places and is none.
func (in *inputs) folder(name string) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.made[name] {
		return nil
	}
	for end := range len(name) + 1 {
		if end < len(name) && name[end] != '/' || in.made[name[:end]] {
			continue
		}
		if err := removeUnlessFolder(in.root, name[:end]); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := in.root.Mkdir(name[:end], inputFolderMode); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		in.made[name[:end]] = true
	}
	return nil
}

// folders names the folders in which files lie, and those above them.
func (in *inputs) folders() []string {
	in.mu.Lock()
	defer in.mu.Unlock()
	return slices.Sorted(maps.Keys(in.made))
}

// syncFolders makes the names in the folders durable.
func syncFolders(root *os.Root, names []string) error {
	if len(names) > fewSyncs {
		return syncFileSystem(root)
	}
	for _, name := range names {
		if err := disk.SyncFolder(root, name); err != nil {
			return err
		}
	}
	return nil
}
