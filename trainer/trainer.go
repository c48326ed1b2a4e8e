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
	"os"
	"path/filepath"
)

// Sources and schemas only: tests, golden files and requirements stay at home.
//
//go:embed *.py data/*.py export/*.py launch/*.py measure/*.py tasks/*.py train/*.py schema/*.json
var program embed.FS

const (
	packageName  = "trainer"
	digestLength = 16 // hex digits: enough to tell versions apart, short enough for a path
)

// Install makes the program importable from below dir and returns the folder to put on PYTHONPATH and the program's digest.
// The folder is named by the digest, so that versions stand side by side and a running job keeps its own.
//
// After a nil error all files are there. Installing again does nothing. Callers may do so at the same time, in several
// processes and on several machines: the folder appears at once and complete, by a rename.
func Install(dir string) (path, digest string, err error) {
	digest, err = Digest()
	if err != nil {
		return "", "", err
	}
	path = filepath.Join(dir, digest)
	if complete(path) {
		return path, digest, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // read by the user that Ray runs as
		return "", "", fmt.Errorf("make the trainer folder: %w", err)
	}
	temporary, err := os.MkdirTemp(dir, ".installing-")
	if err != nil {
		return "", "", fmt.Errorf("make a temporary trainer folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temporary)) }() // nothing is left there after the rename
	if err := write(temporary); err != nil {
		return "", "", fmt.Errorf("write the trainer: %w", err)
	}
	if err := os.Rename(temporary, path); err != nil {
		if complete(path) { // someone else was faster
			return path, digest, nil
		}
		if _, statErr := os.Stat(path); statErr == nil {
			return "", "", fmt.Errorf("the trainer in %s is damaged: remove that folder while no job runs", path)
		}
		return "", "", fmt.Errorf("install the trainer: %w", err)
	}
	return path, digest, nil
}

// Digest names this version of the program: the same files have the same digest, whoever built it.
func Digest() (string, error) {
	sum := sha256.New()
	err := each(func(name string, data []byte) error {
		_, err := fmt.Fprintf(sum, "%s\x00%d\x00%s", name, len(data), data)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("read the embedded trainer: %w", err)
	}
	return hex.EncodeToString(sum.Sum(nil))[:digestLength], nil
}

// Schema returns the JSON Schema of one file of the contract: spec, event, result, metrics or error.
func Schema(name string) ([]byte, error) {
	data, err := program.ReadFile("schema/" + name + ".schema.json")
	if err != nil {
		return nil, fmt.Errorf("no schema is called %q: %w", name, err)
	}
	return data, nil
}

// complete says whether every file of the program lies below path. A folder that was made by a rename always does; one
// that an administrator has tidied up may not, and is then an error of Install and not of a job that fails to import.
func complete(path string) bool {
	return each(func(name string, data []byte) error {
		info, err := os.Stat(filepath.Join(path, packageName, filepath.FromSlash(name)))
		if err == nil && info.Size() != int64(len(data)) {
			err = errors.New("wrong size")
		}
		return err
	}) == nil
}

// write puts the program below dir and syncs its files. Everybody may read them: Ray may run as another user.
func write(dir string) error {
	if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // read by the user that Ray runs as
		return err
	}
	return each(func(name string, data []byte) error {
		to := filepath.Join(dir, packageName, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil { //nolint:gosec // as above
			return err
		}
		f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) //nolint:gosec // as above
		if err != nil {
			return err
		}
		_, err = f.Write(data)
		return errors.Join(err, f.Sync(), f.Close())
	})
}

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
