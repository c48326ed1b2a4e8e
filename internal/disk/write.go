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
func Write(root *os.Root, name string, write func(io.Writer) error) (err error) {
	folder, base := path.Split(filepath.ToSlash(name))
	part := fmt.Sprintf("%s.%s-%08x.part", folder, strings.TrimLeft(base, "."), rand.Uint32()) //nolint:gosec // a name, not a secret
	f, err := root.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return err
	}
	err = write(f)
	if err = errors.Join(err, f.Chmod(fs.FileMode(fileMode)), f.Sync(), f.Close()); err == nil {
		err = root.Rename(part, name)
	}
	if err != nil {
		return errors.Join(err, root.Remove(part))
	}
	return SyncFolder(root, path.Clean(folder+"."))
}

// SyncFolder makes the names in a folder below root durable.
func SyncFolder(root *os.Root, name string) error {
	f, err := root.OpenFile(name, os.O_RDONLY|folderOnly, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
