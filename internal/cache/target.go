package cache

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

// Target is a folder that is filled with bodies of a cache. Pods of an earlier attempt may have written to it. It is safe for
// concurrent use.
type Target struct {
	cache *Cache
	root  *os.Root
	links *disk.Linker // from the cache into the folder

	mu      sync.Mutex
	checked map[string]bool // folders that are known to be real folders
}

// Target opens a folder and makes it if it is missing. A link or a file in its place is replaced. A link in the place of one of
// its parents is refused. A new folder is on disk once the caller has synced its parent. The caller closes the target.
func (c *Cache) Target(dir disk.Folder) (*Target, error) {
	root, err := dir.MakeUnsynced()
	if errors.Is(err, disk.ErrNotAllowed) && dir.Name != "" {
		if err = removeInPlaceOf(dir); err == nil {
			root, err = dir.MakeUnsynced()
		}
	}
	if err != nil {
		return nil, err
	}
	return &Target{cache: c, root: root, links: disk.NewLinker(c.root, root), checked: map[string]bool{".": true}}, nil
}

// removeInPlaceOf removes what has the name of the folder and is not a folder.
func removeInPlaceOf(dir disk.Folder) (err error) {
	above, name := path.Split(dir.Name)
	parent, err := disk.Folder{Volume: dir.Volume, Name: strings.TrimSuffix(above, "/")}.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, parent.Close()) }()
	return removeUnlessFolder(parent, name)
}

// removeUnlessFolder removes a link, a file or anything else with this name, unless it is a folder.
func removeUnlessFolder(root *os.Root, name string) error {
	info, err := root.Lstat(name)
	if err != nil || info.IsDir() {
		return err
	}
	return root.Remove(name)
}

// Close closes the folder. It cannot fail, because nothing was written through the handle.
func (t *Target) Close() {
	t.links.Close()
	_ = t.root.Close()
}

// placeTries is how often a link is tried. A link fails while another run replaces the same body by a rename.
const placeTries = 3

// Place links the body to a path in the folder, or copies it if the file system cannot link. A link of the same body stays.
func (t *Target) Place(sum, local string) error {
	if err := t.makeFolder(path.Dir(local)); err != nil {
		return err
	}
	var err error
	for range placeTries {
		err = t.links.Link(sum, local)
		if err != nil && !errors.Is(err, fs.ErrExist) && !errors.Is(err, fs.ErrNotExist) {
			err = t.copy(sum, local)
		}
		switch {
		case err == nil && t.regular(local), errors.Is(err, fs.ErrExist) && t.same(sum, local):
			return nil
		case err == nil:
			// A program replaced the body by a link after the check. A link can be linked like a file.
			err = errors.Join(fmt.Errorf("the downloaded file was replaced: %w", disk.ErrNotAllowed), t.root.RemoveAll(local))
		case errors.Is(err, fs.ErrExist):
			if err := t.root.RemoveAll(local); err != nil {
				return err
			}
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
	}
	return err
}

func (t *Target) regular(local string) bool {
	info, err := t.root.Lstat(local)
	return err == nil && info.Mode().IsRegular()
}

// same reports whether the path is a link of the body.
func (t *Target) same(sum, local string) bool {
	body, err := t.cache.root.Lstat(sum)
	if err != nil || !body.Mode().IsRegular() {
		return false
	}
	info, err := t.root.Lstat(local)
	return err == nil && os.SameFile(body, info)
}

// copy writes the body to a new file, which is on disk after a nil error.
func (t *Target) copy(sum, local string) error {
	from, _, err := disk.Open(t.cache.root, sum)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }()
	to, err := t.root.OpenFile(local, os.O_CREATE|os.O_EXCL|os.O_WRONLY, bodyMode)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	if err = errors.Join(err, to.Sync(), to.Close()); err != nil {
		return errors.Join(err, t.root.Remove(local))
	}
	return nil
}

// targetMode allows the pods of Ray, which may run as another user, to read the folder.
const targetMode = 0o755

// makeFolder makes a folder and its parents, and replaces anything in their places that is not a folder.
func (t *Target) makeFolder(name string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.checked[name] {
		return nil
	}
	for end := range len(name) + 1 {
		if end < len(name) && name[end] != '/' || t.checked[name[:end]] {
			continue
		}
		if err := removeUnlessFolder(t.root, name[:end]); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := t.root.Mkdir(name[:end], targetMode); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		t.checked[name[:end]] = true
	}
	return nil
}

// Folders lists the folders of the placed files and their parents, sorted. The target itself is ".". A nil target has none.
func (t *Target) Folders() []string {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Sorted(maps.Keys(t.checked))
}
