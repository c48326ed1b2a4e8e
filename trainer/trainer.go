// Package trainer carries the training program, so that a service always runs the trainer that it was built with.
//
// The program is Python: Install lays it onto the shared volume, where the Ray workers import it. The schemas of the files
// that service and trainer exchange travel with it.
package trainer

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"github.com/ncsa/clowder-ray/internal/disk"
)

// Sources and schemas only: tests, golden files and requirements stay at home.
//
//go:embed *.py answer/*.py archive/*.py board/*.py config/*.py core/*.py core/*/*.py data/*.py data/*/*.py estimators/*.py export/*.py kinds/*.py kinds/*/*.py kinds/*/*/*.py launch/*.py measure/*.py models/*.py parted/*.py run_folder/*.py script/*.py script/*/*.py search/*.py shift/*.py standby/*.py targets/*.py train/*.py training/*.py warm/*.py schema/*.json
var program embed.FS

const (
	packageName  = "trainer"
	digestLength = 16 // hex digits: enough to tell versions apart, short enough for a path
	// unfinished begins the names of folders that are being made or are on their way out. Retention removes old ones.
	unfinished = ".installing-"
)

// installing lets one goroutine at a time lay the program down or replace it.
var installing sync.Mutex

// Install makes the program importable from below a folder and returns the path to put on PYTHONPATH and the program's digest.
// The path is named by the digest, so that versions stand side by side and a running job keeps its own.
//
// After a nil error exactly the files of the program are there, with the bytes that the service was built with: every file is
// compared by its sha256, and one too many, such as a module or compiled code that somebody has planted, is as bad as one too
// few. What is damaged is replaced; a job that runs with it keeps what it has loaded. Where all is well nothing is changed, in
// some milliseconds, so that it can be called before each job. Callers may do so at the same time, in several processes and on
// several machines: the folder appears at once and complete, by a rename.
func Install(folder disk.Folder) (path, name string, err error) {
	name, err = Digest()
	if err != nil {
		return "", "", err
	}
	installing.Lock()
	defer installing.Unlock()
	path = folder.In(name).Path()
	if check(folder.In(name)) == nil {
		return path, name, nil
	}
	root, err := folder.Make()
	if err != nil {
		return "", "", fmt.Errorf("make the trainer folder: %w", err)
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	made, err := write(root)
	if err != nil {
		return "", "", fmt.Errorf("write the trainer: %w", err)
	}
	if err := replace(root, made, name); err != nil {
		return "", "", fmt.Errorf("install the trainer: %w", err)
	}
	// Others may do the same at this moment, with the same result.
	if err := check(folder.In(name)); err != nil {
		return "", "", fmt.Errorf("the trainer in %s is damaged and stays so: see who writes there, and remove that folder: %w", path, err)
	}
	return path, name, nil
}

// replace gives the folder made the name of the program. What has that name is moved aside: a job may still run with it, so
// that it is removed later.
func replace(root *os.Root, made, name string) error {
	err := root.Rename(made, name)
	if err != nil {
		aside := temporary()
		if err := root.Rename(name, aside); err == nil {
			_ = root.Chtimes(aside, time.Time{}, time.Now()) // its age counts from now on; of a link or a file nothing is lost
		} else if !errors.Is(err, fs.ErrNotExist) {
			return errors.Join(err, root.RemoveAll(made))
		}
		err = root.Rename(made, name)
	}
	if err != nil {
		return errors.Join(err, root.RemoveAll(made))
	}
	return disk.SyncFolder(root, ".")
}

func temporary() string {
	return fmt.Sprintf("%s%016x", unfinished, rand.Uint64()) //nolint:gosec // a name, not a secret
}

// Digest names this version of the program: the same files have the same digest, no matter who built it.
func Digest() (string, error) { return digest() }

// digest is computed once: the program never changes while the process lives.
var digest = sync.OnceValues(func() (string, error) {
	sum := sha256.New()
	err := each(func(name string, data []byte) error {
		_, err := fmt.Fprintf(sum, "%s\x00%d\x00%s", name, len(data), data)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("read the embedded trainer: %w", err)
	}
	return hex.EncodeToString(sum.Sum(nil))[:digestLength], nil
})

// each calls do for every embedded file in order of its path.
func each(do func(name string, data []byte) error) error {
	return fs.WalkDir(program, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := program.ReadFile(name)
		if err != nil {
			return err
		}
		return do(name, data)
	})
}
