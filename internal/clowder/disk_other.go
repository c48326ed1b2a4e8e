//go:build !linux

package clowder

import (
	"errors"
	"os"
	"path/filepath"
)

// syncFileSystem syncs every file in dir, where the system has no single call for it.
func syncFileSystem(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.Type().IsRegular() {
			err = errors.Join(err, syncPath(filepath.Join(dir, entry.Name())))
		}
	}
	return err
}

func startWriting(*os.File, int64, int64) {}

func freeBytes(string) (int64, bool) { return 0, false }
