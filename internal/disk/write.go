package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// fileMode allows the pods of Ray, which may run as another user, to read the file. Only the service may change it.
const fileMode = 0o644

// WriteFile writes a file below root. A reader sees the old file or the complete new one, also after a power cut. After a nil error the
// file and its name are on disk. A link in its place is replaced and not followed. The folder must exist.
func WriteFile(root *os.Root, name string, doc []byte) error {
	return Write(root, name, func(w io.Writer) error {
		_, err := w.Write(doc)
		return err
	})
}

// Write is WriteFile for content that the function write produces.
func Write(root *os.Root, name string, write func(io.Writer) error) error {
	f, err := replace(root, name, func(f *os.File) error { return errors.Join(write(f), f.Sync()) })
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return SyncFolder(root, path.Clean(path.Dir(filepath.ToSlash(name))))
}

// Replace is WriteFile without the syncs. The caller syncs the returned file and its folder before it relies on them, and closes the file. Until
// then a power cut may leave the old file, the new one, or a part of it.
func Replace(root *os.Root, name string, doc []byte) (*os.File, error) {
	return replace(root, name, func(f *os.File) error {
		_, err := f.Write(doc)
		return err
	})
}

// replace writes a file beside its place, moves it there, and returns it open.
func replace(root *os.Root, name string, write func(*os.File) error) (*os.File, error) {
	folder, base := path.Split(filepath.ToSlash(name))
	part := fmt.Sprintf("%s.%s-%08x.part", folder, strings.TrimLeft(base, "."), rand.Uint32()) //nolint:gosec // a name, not a secret
	f, err := root.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return nil, err
	}
	if err = errors.Join(f.Chmod(fs.FileMode(fileMode)), write(f)); err == nil {
		err = root.Rename(part, name)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close(), root.Remove(part))
	}
	return f, nil
}
