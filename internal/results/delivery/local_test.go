package delivery

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
)

func TestCopyToWritesExactlyTheArtifacts(t *testing.T) {
	t.Parallel()
	f := resultstest.New(t)
	artifacts, err := buildAll(t, f)
	require.NoError(t, err)
	out := filepath.Join(t.TempDir(), "a new folder")
	for range 2 { // the second time over the first
		require.NoError(t, CopyTo(t.Context(), out, artifacts))
		var names []string
		require.NoError(t, filepath.WalkDir(out, func(path string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				rel, _ := filepath.Rel(out, path)
				names = append(names, filepath.ToSlash(rel))
			}
			return err
		}))
		var want []string
		for _, a := range artifacts {
			want = append(want, a.Name)
		}
		require.ElementsMatch(t, want, names)
		require.Contains(t, names, "plots/loss.png")
	}
}

func TestCopyToRefusesAFileThatChanged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a"), []byte("x"), 0o600))
	out := filepath.Join(dir, "out")
	err := CopyTo(t.Context(), out, []Artifact{{Name: "a", Folder: disk.Folder{Volume: dir}, Size: 1, SHA256: strings.Repeat("0", 64)}})
	require.ErrorContains(t, err, "changed")
	left, err := os.ReadDir(out)
	require.NoError(t, err)
	require.Empty(t, left)
}
