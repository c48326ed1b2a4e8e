package main

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/registry"
)

func TestAManifestServesAVersionOrTheChampion(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	models := registry.New(disk.Folder{Volume: filepath.Join(dir, "shared"), Name: "registry"})
	for _, run := range []string{"ft-one", "ft-two"} {
		from := disk.Folder{Volume: filepath.Join(dir, run)}
		require.NoError(t, os.MkdirAll(from.Path(), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(from.Path(), "a.bin"), []byte(run), 0o600))
		sum := sha256.Sum256([]byte(run))
		_, err := models.Register(t.Context(), registry.Version{
			Name: "films", Run: run, Base: "bert-tiny", Created: time.Unix(1e9, 0).UTC(), Files: []registry.File{{Path: "a.bin", Size: int64(len(run)), SHA256: hex.EncodeToString(sum[:])}},
		}, from, func(*registry.Version) (bool, string) { return run == "ft-one", "" })
		require.NoError(t, err)
	}
	champion, err := models.Champion(registry.Dataset{ID: registry.Local}, "films")
	require.NoError(t, err)
	require.Equal(t, 1, champion.Version, "the newest version is no champion")
	sum, err := models.Digest(*champion)
	require.NoError(t, err)
	for ref, name := range map[string]string{"films@champion": "model-films-1", "films/1": "model-films-1", "films/2": "model-films-2"} {
		for _, as := range []string{"deployment", "kserve", "rayservice"} {
			code, stdout, stderr := execute(t, dir, "models", "manifest", "local", ref, "--as", as, "--claim", "volume-of-tests")
			require.Zero(t, code, stderr)
			require.Contains(t, stdout, "name: "+name+"\n", as)
			require.Contains(t, stdout, "volume-of-tests", as)
			if name == "model-films-1" {
				require.Contains(t, stdout, sum, as)
			}
		}
	}
	for _, ref := range []string{"films", "films@newest", "others@champion", "films/3", "@champion"} {
		code, stdout, stderr := execute(t, dir, "models", "manifest", "local", ref)
		require.Equal(t, exitBadInput, code, "%s: %s", ref, stderr)
		require.Empty(t, stdout)
	}
	code, _, stderr := execute(t, dir, "models", "manifest", "local", "films/1", "--as", "helm")
	require.Equal(t, exitBadInput, code)
	require.Contains(t, stderr, "choose deployment, kserve or rayservice")
}
