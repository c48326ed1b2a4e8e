package scripts

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
)

func TestAScriptOfALocalFolderIsFound(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	dataset, outside := filepath.Join(top, "data"), filepath.Join(top, "train.py")
	require.NoError(t, os.MkdirAll(filepath.Join(dataset, "code"), 0o750))
	for _, file := range []string{outside, filepath.Join(dataset, "train.py"), filepath.Join(dataset, "code", "main.py")} {
		require.NoError(t, os.WriteFile(file, nil, 0o600))
	}
	for entry, want := range map[string]map[string]any{
		"train.py": {"script": "train.py"}, "code/main.py": {"script": "code/main.py"}, "./code/../train.py": {"script": "train.py"},
		filepath.Join(dataset, "code", "main.py"): {"script": "code/main.py"}, Auto: {},
	} {
		got, err := Local(dataset, entry, nil)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for entry, want := range map[string]string{outside: "is not in the folder", "missing.py": "there is no file missing.py", "code": "there is no file code"} {
		_, err := Local(dataset, entry, nil)
		require.ErrorContains(t, err, want)
		kind, _ := job.Classify(err)
		require.Equal(t, job.KindPermanent, kind)
	}
}

func TestArgumentsKeepTheirBorders(t *testing.T) {
	t.Parallel()
	got, err := Local(t.TempDir(), Auto, []string{"--lr=1e-3", "--text", "it's a b", "", "{out}", "$HOME"})
	require.NoError(t, err)
	require.Equal(t, `--lr=1e-3 --text 'it'"'"'s a b' '' {out} '$HOME'`, got["arguments"])
}
