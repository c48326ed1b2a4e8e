// Package trainer carries the training program inside the service, so that a service always brings the trainer that it was
// tested with. The program itself is the Python in this folder.
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
	"slices"
)

//go:embed *.py schema/*.json
var sources embed.FS

// digestLength is how many hex digits name a version of the trainer.
const digestLength = 16

// Schema returns a JSON Schema of the contract by its name, such as "spec".
func Schema(name string) ([]byte, error) {
	return sources.ReadFile("schema/" + name + ".schema.json")
}

// Digest names the embedded trainer by its content.
func Digest() (string, error) {
	names, err := files()
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, name := range names {
		body, err := sources.ReadFile(name)
		if err != nil {
			return "", err
		}
		_, _ = fmt.Fprintf(sum, "%s %d\n", name, len(body))
		sum.Write(body)
	}
	return hex.EncodeToString(sum.Sum(nil))[:digestLength], nil
}

// Install lays the trainer into dir, under its digest, and returns the folder to put on PYTHONPATH and the digest. What is
// there already is left alone. It may be called by many at once and be killed at any instant: the folder appears whole or
// not at all.
func Install(dir string) (path, digest string, err error) {
	if digest, err = Digest(); err != nil {
		return "", "", err
	}
	path = filepath.Join(dir, digest)
	if _, err := os.Stat(path); err == nil {
		return path, digest, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // the pods of Ray read it as another user
		return "", "", fmt.Errorf("install the trainer: %w", err)
	}
	part, err := os.MkdirTemp(dir, ".part-")
	if err != nil {
		return "", "", fmt.Errorf("install the trainer: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(part)) }()
	if err := write(part); err != nil {
		return "", "", fmt.Errorf("install the trainer: %w", err)
	}
	if err := os.Rename(part, path); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", "", fmt.Errorf("install the trainer: %w", err)
	}
	return path, digest, nil
}

// write puts every file below dir/trainer, readable for all.
func write(dir string) error {
	names, err := files()
	if err != nil {
		return err
	}
	if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // as above
		return err
	}
	for _, name := range names {
		body, err := sources.ReadFile(name)
		if err != nil {
			return err
		}
		to := filepath.Join(dir, "trainer", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil { //nolint:gosec // as above
			return err
		}
		if err := os.WriteFile(to, body, 0o644); err != nil { //nolint:gosec // as above
			return err
		}
	}
	return nil
}

// files lists the embedded files in order.
func files() ([]string, error) {
	var names []string
	err := fs.WalkDir(sources, ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, path)
		}
		return err
	})
	slices.Sort(names)
	return names, err
}
