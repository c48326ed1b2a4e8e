package main

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/prometheus/procfs"
)

const (
	// folderVariable names the folder for temporary files, for Go, Python and all programs of the tests.
	folderVariable = "TMPDIR"
	// memory is a file system in memory. The tests make and remove many small files, and the kernel needs much more time for each on a disk.
	memory = "/dev/shm"
	// room is what has to be free of it and of the machine's memory, in bytes: more than three times what the tests were seen to use.
	room = 8 << 30
)

// makeFolder makes a folder below parent that has the name of this process, and removes those of processes that were killed.
func makeFolder(parent string) (string, error) {
	const prefix = "tests-"
	old, err := filepath.Glob(filepath.Join(parent, prefix+"*"))
	if err != nil {
		return "", err
	}
	for _, folder := range old {
		pid, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(folder), prefix))
		if err != nil || pid != os.Getpid() && !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			continue
		}
		if err := os.RemoveAll(folder); err != nil {
			return "", err
		}
	}
	folder := filepath.Join(parent, prefix+strconv.Itoa(os.Getpid()))
	return folder, os.Mkdir(folder, 0o700)
}

// memoryHasRoom reports whether the temporary files of the tests fit into memory.
func memoryHasRoom() bool {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(memory, &fs); err != nil {
		return false
	}
	proc, err := procfs.NewDefaultFS()
	if err != nil {
		return false
	}
	info, err := proc.Meminfo()
	return err == nil && info.MemAvailableBytes != nil && *info.MemAvailableBytes >= room &&
		fs.Bavail*uint64(fs.Bsize) >= room //nolint:gosec // a size is not negative
}
