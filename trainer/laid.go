package trainer

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"sync"

	"github.com/ncsa/clowder-ray/internal/disk"
)

const (
	// The trainer belongs to the service: Ray runs as another user, who may read it.
	folderMode = 0o755
	fileMode   = 0o444
	// writers are the bits of a mode that let others than the owner write.
	writers = 0o022
)

// laid is the program as it lies on a volume: the folders, and the size and sha256 of each file.
type laid struct {
	folders map[string]bool
	files   map[string]laidFile
}

type laidFile struct {
	size int64
	sum  [sha256.Size]byte
}

// embedded is what must lie on a volume; it is the same as long as the process lives.
var embedded = sync.OnceValues(func() (laid, error) {
	l := laid{folders: map[string]bool{".": true}, files: map[string]laidFile{}}
	err := each(func(name string, data []byte) error {
		name = path.Join(packageName, name)
		l.files[name] = laidFile{int64(len(data)), sha256.Sum256(data)}
		for dir := path.Dir(name); !l.folders[dir]; dir = path.Dir(dir) {
			l.folders[dir] = true
		}
		return nil
	})
	return l, err
})

// check says what is wrong with the program in a folder, nil where it holds the embedded files and nothing else.
func check(folder disk.Folder) (err error) {
	want, err := embedded()
	if err != nil {
		return err
	}
	root, err := folder.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	found := 0
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if !want.folders[name] {
				return fmt.Errorf("the folder %s is not part of it", name)
			}
			shut(root, name, d, folderMode)
			return nil
		}
		file, ok := want.files[name]
		if !ok {
			return fmt.Errorf("the file %s is not part of it", name)
		}
		found++
		shut(root, name, d, fileMode)
		return file.check(root, name)
	})
	if err == nil && found < len(want.files) {
		err = fmt.Errorf("%d of its files are missing", len(want.files)-found)
	}
	return err
}

func (f laidFile) check(root *os.Root, name string) error {
	data, err := disk.ReadFile(root, name, f.size)
	if err != nil {
		return err
	}
	if sha256.Sum256(data) != f.sum {
		return fmt.Errorf("the file %s was changed", name)
	}
	return nil
}

// shut takes away what lets others write, which a kubelet gives to the group of a volume when it sees it for the first time. Some
// file systems have one mode for all files, and nothing can be done there.
func shut(root *os.Root, name string, d fs.DirEntry, mode fs.FileMode) {
	if info, err := d.Info(); err == nil && (d.IsDir() || info.Mode().IsRegular()) && info.Mode().Perm()&writers != 0 {
		_ = root.Chmod(name, mode|info.Mode()&fs.ModeSetgid)
	}
}

// write puts the program into a new folder below root, onto the disk, and returns its name.
func write(root *os.Root) (made string, err error) {
	made = temporary()
	defer func() {
		if err != nil {
			err = errors.Join(err, root.RemoveAll(made))
		}
	}()
	if err := folderIn(root, made); err != nil {
		return "", err
	}
	err = each(func(name string, data []byte) error {
		to := path.Join(made, packageName, name)
		if err := folderIn(root, path.Dir(to)); err != nil {
			return err
		}
		f, err := root.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
		if err != nil {
			return err
		}
		_, err = f.Write(data)
		return errors.Join(err, f.Chmod(fileMode), f.Sync(), f.Close())
	})
	return made, err
}

// folderIn makes a folder and those on the way to it, which everybody may read and the owner change, whatever the process was
// told to take away from new folders.
func folderIn(root *os.Root, name string) error {
	if err := root.MkdirAll(name, folderMode); err != nil {
		return err
	}
	info, err := root.Lstat(name)
	if err != nil || info.Mode().Perm() == folderMode {
		return err
	}
	return root.Chmod(name, folderMode|info.Mode()&fs.ModeSetgid)
}
