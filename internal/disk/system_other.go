//go:build !linux

package disk

import (
	"errors"
	"io/fs"
	"os"
)

const (
	nonblock   = 0
	folderOnly = 0
)

// Free is not known on this system.
func Free(string) (int64, bool) { return 0, false }

// linkAt is not supported on this system. The caller copies instead.
func linkAt(_ *os.File, _ string, _ *os.File, _ string) error { return errors.ErrUnsupported }

// TryLock locks nothing on this system and reports true.
func TryLock(*os.File) (bool, error) { return true, nil }

// Exchange is not supported on this system. The caller renames instead.
func Exchange(_ *os.Root, _, _ string) error { return errors.ErrUnsupported }

// openBelow is not supported on this system.
func openBelow(_, _ string) (*os.Root, bool) { return nil, false }

// freshSize: callers open the file themselves.
func freshSize(string, string) (int64, error) { return 0, errors.ErrUnsupported }

// syncFileSystems syncs each file, and every file and folder below the folders, where the system has no single call for it.
func syncFileSystems(folders []*os.Root, files []*os.File) error {
	for _, folder := range folders {
		if err := syncBelow(folder); err != nil {
			return err
		}
	}
	for _, f := range files {
		if err := f.Sync(); err != nil {
			return err
		}
	}
	return nil
}

func syncBelow(root *os.Root) error {
	return fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			return SyncFolder(root, name)
		case entry.Type().IsRegular():
			f, _, err := Open(root, name)
			if err != nil {
				return err
			}
			return errors.Join(f.Sync(), f.Close())
		default:
			return nil
		}
	})
}
