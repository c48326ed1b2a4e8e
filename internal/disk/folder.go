package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const (
	// folderMode keeps everybody but the service from changing what is in a folder.
	folderMode = 0o755
	// sharedMode lets the pods of Ray, which run as another user of the same group, write into a folder.
	sharedMode = 0o775
)

// ErrNotAllowed is wrapped by the error about a link, a pipe, a device or a folder where a regular file must be, and about a
// link where a folder must be.
var ErrNotAllowed = errors.New("not allowed here")

// Folder is a folder on a volume to which other programs write.
type Folder struct {
	// Volume is a path that the operator has set. Links in it are followed.
	Volume string
	// Name is the path below Volume, with slashes; empty is Volume itself. A link in it is refused.
	Name string
}

// Path is the path of the folder, for messages and for programs that the operator starts. What it leads to may have changed.
func (f Folder) Path() string { return filepath.Join(f.Volume, filepath.FromSlash(f.Name)) }

// In is the folder name below f, with slashes.
func (f Folder) In(name string) Folder {
	return Folder{Volume: f.Volume, Name: strings.Trim(f.Name+"/"+name, "/")}
}

// Open opens the folder. The caller closes it. The error wraps fs.ErrNotExist where the folder is not there, and ErrNotAllowed
// where a link or a file is in its place.
func (f Folder) Open() (*os.Root, error) { return f.walk(openFolder) }

// Make opens the folder and makes what is missing of it, for the service alone to write to. A folder that was made is on disk
// after a nil error.
func (f Folder) Make() (*os.Root, error) {
	if err := os.MkdirAll(f.Volume, folderMode); err != nil {
		return nil, err
	}
	return f.walk(func(parent *os.Root, name string) (*os.Root, error) {
		err := parent.Mkdir(name, folderMode)
		if err == nil {
			err = SyncFolder(parent, ".")
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		return openFolder(parent, name)
	})
}

// MakeShared is Make for a folder into which the group of the volume may write as well. Its parents are not shared.
func (f Folder) MakeShared() (*os.Root, error) {
	root, err := f.Make()
	if err != nil {
		return nil, err
	}
	info, err := root.Stat(".")
	if err == nil && info.Mode().Perm()&sharedMode != sharedMode {
		err = root.Chmod(".", info.Mode()|sharedMode) // what else is set, such as the group of what comes into it, stays
	}
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return root, nil
}

// Remove removes what is called name in the folder, with all that is in it. Links are removed and not followed. What is not there
// is no error.
func (f Folder) Remove(name string) error {
	root, err := f.Open()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(root.RemoveAll(name), root.Close())
}

// walk opens the parts of the name one below the other.
func (f Folder) walk(open func(parent *os.Root, name string) (*os.Root, error)) (*os.Root, error) {
	root, err := os.OpenRoot(f.Volume)
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, fmt.Errorf("open the volume: %w", failed.Err) // users may read it, and the path is none of their business
	}
	if err != nil || f.Name == "" {
		return root, err
	}
	if !filepath.IsLocal(f.Name) {
		return nil, errors.Join(fmt.Errorf("%q leads out of the volume: %w", f.Name, ErrNotAllowed), root.Close())
	}
	for name := range strings.SplitSeq(filepath.ToSlash(filepath.Clean(f.Name)), "/") {
		next, err := open(root, name)
		if err = errors.Join(err, root.Close()); err != nil {
			if next != nil {
				err = errors.Join(err, next.Close())
			}
			return nil, err
		}
		root = next
	}
	return root, nil
}

// openFolder opens a folder directly below parent. os.Root follows links that stay inside, so what was opened is compared with
// what was seen. The dot at the end has the system refuse what is no folder: a pipe would block.
func openFolder(parent *os.Root, name string) (*os.Root, error) {
	seen, err := parent.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !seen.IsDir() {
		return nil, notAllowed(name, seen.Mode(), "folder")
	}
	root, err := parent.OpenRoot(name + "/.")
	if err != nil {
		return nil, err
	}
	opened, err := root.Stat(".")
	if err == nil && !os.SameFile(seen, opened) {
		err = fmt.Errorf("%s was replaced while it was opened: %w", name, ErrNotAllowed)
	}
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return root, nil
}

// notAllowed says what is in the place of a file or a folder.
func notAllowed(name string, mode fs.FileMode, wanted string) error {
	found := "a device"
	switch {
	case mode.IsRegular():
		found = "a file"
	case mode.IsDir():
		found = "a folder"
	case mode&fs.ModeSymlink != 0:
		found = "a link"
	case mode&fs.ModeNamedPipe != 0:
		found = "a pipe"
	case mode&fs.ModeSocket != 0:
		found = "a socket"
	}
	return fmt.Errorf("%s is %s instead of a %s: %w", name, found, wanted, ErrNotAllowed)
}
