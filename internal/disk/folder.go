package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

const (
	// folderMode allows only the service to change the entries of a folder.
	folderMode = 0o755
	// sharedMode allows the pods of Ray, which run as another user of the same group, to write into a folder.
	sharedMode = 0o775
)

// ErrNotAllowed is wrapped by the error about a link, a pipe, a device or a folder in the place of a regular file, and about a link or a
// file in the place of a folder.
var ErrNotAllowed = errors.New("not allowed here")

// Folder is a folder on a volume that other programs write to.
type Folder struct {
	// Volume is a path that the operator sets. Links in it are followed.
	Volume string
	// Name is the path below Volume, with slashes. If it is empty, the folder is Volume itself. A link in it is refused.
	Name string
}

// Path is the path of the folder, for messages and for programs that the operator starts. Do not open it: a program may have replaced
// the folder.
func (f Folder) Path() string { return filepath.Join(f.Volume, filepath.FromSlash(f.Name)) }

// In returns the folder name below f. The name may have slashes.
func (f Folder) In(name string) Folder {
	return Folder{Volume: f.Volume, Name: strings.Trim(f.Name+"/"+name, "/")}
}

// Open opens the folder. The caller closes it. The error wraps fs.ErrNotExist if the folder does not exist, and ErrNotAllowed if a link
// or a file is in its place.
func (f Folder) Open() (*os.Root, error) {
	if root, ok := f.openAtOnce(); ok {
		return root, nil
	}
	return f.walk(openFolder)
}

// Make opens the folder, and makes it and its parents if they are missing. Only the service may write to it. After a nil error a new
// folder is on disk.
func (f Folder) Make() (*os.Root, error) {
	if root, ok := f.openAtOnce(); ok {
		return root, nil
	}
	above, name := path.Split(filepath.ToSlash(filepath.Clean(f.Name)))
	if parent, ok := (Folder{Volume: f.Volume, Name: strings.TrimSuffix(above, "/")}).openAtOnce(); ok && filepath.IsLocal(f.Name) {
		root, err := makeFolder(parent, name)
		return root, errors.Join(err, parent.Close())
	}
	if err := os.MkdirAll(f.Volume, folderMode); err != nil {
		return nil, err
	}
	return f.walk(makeFolder)
}

// MakeUnsynced is Make for a folder that a power cut may take away: because it can be made again with its content, or because the caller syncs
// its parent later. New parents are on disk after a nil error.
func (f Folder) MakeUnsynced() (*os.Root, error) {
	if root, ok := f.openAtOnce(); ok {
		return root, nil
	}
	above, name := path.Split(filepath.ToSlash(filepath.Clean(f.Name)))
	if above == "" || !filepath.IsLocal(f.Name) {
		return f.Make()
	}
	parent, err := Folder{Volume: f.Volume, Name: strings.TrimSuffix(above, "/")}.Make()
	if err != nil {
		return nil, err
	}
	err = parent.Mkdir(name, folderMode)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, errors.Join(err, parent.Close())
	}
	root, err := openFolder(parent, name)
	return root, errors.Join(err, parent.Close())
}

// makeFolder opens a folder directly below parent, and makes it if it is missing.
func makeFolder(parent *os.Root, name string) (*os.Root, error) {
	err := parent.Mkdir(name, folderMode)
	if err == nil {
		err = SyncFolder(parent, ".")
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return openFolder(parent, name)
}

// MakeShared is MakeUnsynced for a folder that the group of the volume may also write to. Its parents are not shared.
func (f Folder) MakeShared() (*os.Root, error) {
	root, err := f.MakeUnsynced()
	if err != nil {
		return nil, err
	}
	info, err := root.Stat(".")
	if err == nil && info.Mode().Perm()&sharedMode != sharedMode {
		err = root.Chmod(".", info.Mode()|sharedMode) // other bits, such as the setgid bit, stay
	}
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return root, nil
}

// Remove removes the entry name of the folder with all its content. Links are removed and not followed. It returns nil if the entry does
// not exist.
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

// FreshSize returns the size of a regular file in the folder, for a look that mostly finds nothing new. It opens the file, because NFS tells a new
// size at an open only, and needs a third of the calls of Open and disk.Open. The error wraps fs.ErrNotExist if there is no such file or folder. After
// another error the caller opens folder and file, which tells the reason.
func (f Folder) FreshSize(name string) (int64, error) {
	if !filepath.IsLocal(f.Name) || !filepath.IsLocal(name) {
		return 0, ErrNotAllowed
	}
	return freshSize(f.Volume, path.Join(f.Name, name))
}

// openAtOnce opens a folder that exists, where the system can do that in one step without following a link. It reports false if that failed
// for any reason: walk then learns the reason.
func (f Folder) openAtOnce() (*os.Root, bool) {
	if f.Name == "" || !filepath.IsLocal(f.Name) {
		return nil, false
	}
	return openBelow(f.Volume, f.Name)
}

// walk opens the parts of the name one after the other.
func (f Folder) walk(open func(parent *os.Root, name string) (*os.Root, error)) (*os.Root, error) {
	root, err := os.OpenRoot(f.Volume)
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, fmt.Errorf("open the volume: %w", failed.Err) // users may read this error, and it must not show a server path
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

// openFolder opens a folder directly below parent. os.Root follows links that stay inside, so the opened folder is compared with the
// entry. The dot at the end makes the system refuse anything but a folder: to open a pipe would block.
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

// notAllowed returns an error about what is in the place of a file or a folder.
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
