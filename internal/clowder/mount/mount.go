// Package mount finds files of Clowder on folders that the service sees as well, so that they need no download.
package mount

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ncsa/clowder-ray/internal/disk"
)

// Paths says which folder of this machine, the value, is which folder of Clowder's machine, the key.
type Paths map[string]string

// Parse reads the setting MOUNTED_PATHS: a JSON object of absolute paths, as pyclowder takes it. An empty text is no folders.
func Parse(setting string) (Paths, error) {
	if setting == "" {
		return nil, nil
	}
	var paths Paths
	if err := json.Unmarshal([]byte(setting), &paths); err != nil {
		return nil, errors.New(`it must be a JSON object of folders, for example {"/home/clowder/data": "/mnt/clowder"}`)
	}
	for there, here := range paths {
		if !path.IsAbs(there) || !filepath.IsAbs(here) || path.Clean(there) == "/" {
			return nil, fmt.Errorf("%q and %q must be absolute paths of folders below /", there, here)
		}
	}
	return paths, nil
}

// Folders are open folders. The zero value has none. They are safe for concurrent use.
type Folders []folder

type folder struct {
	there string // on Clowder's machine, clean
	here  *os.Root
}

// Open opens the folders of this machine, which must exist. The caller closes them.
func Open(paths Paths) (Folders, error) {
	var all Folders
	for there, here := range paths {
		root, err := os.OpenRoot(here)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("the folder of %s cannot be opened: %w", there, err), all.Close())
		}
		all = append(all, folder{path.Clean(there), root})
	}
	// The innermost folder comes first.
	slices.SortFunc(all, func(a, b folder) int { return strings.Compare(b.there, a.there) })
	return all, nil
}

// Close closes the folders.
func (all Folders) Close() error {
	var faults []error
	for _, f := range all {
		faults = append(faults, f.here.Close())
	}
	return errors.Join(faults...)
}

// Covers reports whether one of the folders holds the file that Clowder has at this path, if it is there.
func (all Folders) Covers(there string) bool {
	_, _, ok := all.locate(there)
	return ok
}

// OpenFile opens a regular file that Clowder has at this path, and returns what it is. It refuses a file in none of the folders, a link in the
// place of the file, and a path with a link that leads out of its folder.
func (all Folders) OpenFile(there string) (*os.File, os.FileInfo, error) {
	f, name, ok := all.locate(there)
	if !ok {
		return nil, nil, os.ErrNotExist
	}
	file, info, err := disk.Open(f.here, name)
	if err != nil {
		return nil, nil, err
	}
	return file, info, nil
}

func (all Folders) locate(there string) (f folder, name string, ok bool) {
	if !path.IsAbs(there) || strings.ContainsRune(there, 0) {
		return f, "", false
	}
	there = path.Clean(there)
	for _, f := range all {
		if name, ok := strings.CutPrefix(there, f.there+"/"); ok {
			return f, filepath.FromSlash(name), true
		}
	}
	return f, "", false
}
