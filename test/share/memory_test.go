package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheFolderOfAKilledProcessIsRemoved(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	dead := exec.CommandContext(t.Context(), "true")
	require.NoError(t, dead.Run())
	name := func(pid int) string { return filepath.Join(parent, "tests-"+strconv.Itoa(pid)) }
	for _, folder := range []string{name(dead.Process.Pid), name(os.Getpid()), name(os.Getppid()), filepath.Join(parent, "tests-of-others")} {
		require.NoError(t, os.MkdirAll(filepath.Join(folder, "old"), 0o700))
	}
	folder, err := makeFolder(parent)
	require.NoError(t, err)
	require.Equal(t, name(os.Getpid()), folder)
	require.NoDirExists(t, filepath.Join(folder, "old"), "it is empty")
	require.NoDirExists(t, name(dead.Process.Pid))
	require.DirExists(t, name(os.Getppid()))
	require.DirExists(t, filepath.Join(parent, "tests-of-others"))
}
