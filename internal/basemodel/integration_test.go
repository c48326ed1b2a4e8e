//go:build integration

package basemodel_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/basemodel"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/rayjob/raytest"
)

// python runs a program of testdata with the trainer and returns the last line that it prints.
func python(t *testing.T, args ...string) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), raytest.Python(t), args...)
	cmd.Env = append(os.Environ(), "PYTHONPATH="+root, "HF_HUB_OFFLINE=1", "OMP_NUM_THREADS=1", "PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return lines[len(lines)-1]
}

// documented is the program of docs/models.md that converts weights in pickled form.
func documented(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/models.md")
	require.NoError(t, err)
	_, program, found := strings.Cut(string(page), "```python\n")
	require.True(t, found)
	program, _, found = strings.Cut(program, "```")
	require.True(t, found)
	return program
}

func TestAnEarlyRepositoryIsConvertedAsDocumentedInstalledAndTrained(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"zip", "old"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			repository, shared := t.TempDir(), t.TempDir()
			python(t, "testdata/bare_bert.py", repository, kind)
			program := filepath.Join(t.TempDir(), "convert.py")
			require.NoError(t, os.WriteFile(program, []byte(documented(t)), 0o600))
			python(t, program, repository)
			from, err := basemodel.OpenFolder(repository)
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, from.Close()) })
			s := basemodel.New(disk.Folder{Volume: shared, Name: "models"})
			m, err := install(t, s, from, basemodel.Options{Name: tiny})
			require.NoError(t, err)
			require.Equal(t, "mit", m.License)
			require.Equal(t, basemodel.KindText, m.Kind)
			require.NoFileExists(t, filepath.Join(shared, "models", tiny, "pytorch_model.bin"))

			var trained struct {
				Base        string `json:"base"`
				FromScratch bool   `json:"from_scratch"`
				License     string `json:"license"`
			}
			last := python(t, "testdata/train_on.py", shared, tiny, filepath.Join(repository, "pytorch_model.bin"))
			require.NoError(t, json.Unmarshal([]byte(last), &trained), last)
			require.Equal(t, tiny, trained.Base)
			require.False(t, trained.FromScratch)
			require.Equal(t, "mit", trained.License)
		})
	}
}
