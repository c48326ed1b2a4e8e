// Package answertest makes registered models for tests: the trainer trains them in seconds, without Ray.
package answertest

import (
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/registry"
	"github.com/ncsa/clowder-ray/trainer"
)

// Python returns an interpreter that can train and answer: RAY_PYTHON, or the first on PATH. Where there is none the test is skipped.
func Python(tb testing.TB) string {
	tb.Helper()
	for _, name := range []string{os.Getenv("RAY_PYTHON"), "python", "python3"} {
		python, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		find := "import importlib.util as u, sys; sys.exit(not all(map(u.find_spec, ('torch', 'onnxruntime', 'tokenizers'))))"
		if exec.CommandContext(tb.Context(), python, "-c", find).Run() == nil { //nolint:gosec // the tester names the interpreter
			return python
		}
	}
	tb.Skip("no Python with torch and onnxruntime is here: set RAY_PYTHON to one")
	return ""
}

// Volume is a shared volume with runs and a registry.
type Volume struct {
	Volume   string
	Registry *registry.Registry
	python   string
	trainer  string
}

// NewVolume returns an empty volume whose models the interpreter trains.
func NewVolume(tb testing.TB, python string) *Volume {
	tb.Helper()
	return On(tb, python, tb.TempDir())
}

// On returns a Volume on a folder that is there.
func On(tb testing.TB, python, volume string) *Volume {
	tb.Helper()
	at, _, err := trainer.Install(disk.Folder{Volume: volume, Name: "trainer"})
	require.NoError(tb, err)
	return &Volume{Volume: volume, Registry: registry.New(disk.Folder{Volume: volume, Name: "registry"}), python: python, trainer: at}
}

// Trainer is the folder for PYTHONPATH.
func (v *Volume) Trainer() (string, error) { return v.trainer, nil }

// Trained is a registered model with what its training answered on the test rows.
type Trained struct {
	Version registry.Version
	// Rows are the lines of predictions.csv by column.
	Rows []map[string]string
}

// Train trains on the files of a dataset and registers the model, which becomes the champion.
func (v *Volume) Train(tb testing.TB, of registry.Dataset, name, run string, files map[string][]byte, settings map[string]any) Trained {
	tb.Helper()
	folder := disk.Folder{Volume: v.Volume, Name: path.Join("runs", run)}
	v.writeSpec(tb, folder, run, files, settings)
	cmd := exec.CommandContext(tb.Context(), v.python, "-B", "-m", "trainer", "run", filepath.Join(folder.Path(), "spec.json"), "--launcher", "local")
	cmd.Env = append(os.Environ(), "PYTHONPATH="+v.trainer)
	out, err := cmd.CombinedOutput()
	require.NoError(tb, err, "%s", out)

	var result struct {
		Task, Metric string
		Model        struct {
			Kind, Base    string
			Labels        []string
			WeightsSHA256 string `json:"weights_sha256"`
		}
		Metrics struct {
			Test map[string]struct{ Value float64 }
		}
		Artifacts []registry.File
	}
	decode(tb, filepath.Join(folder.Path(), "result.json"), &result)
	version := registry.Version{
		Name: name, Run: run, Clowder: of.Clowder, DatasetID: of.ID, DatasetName: name, Task: result.Task, Kind: result.Model.Kind, Base: result.Model.Base,
		Labels: result.Model.Labels, Metric: result.Metric, WeightsSHA256: result.Model.WeightsSHA256, Created: time.Now().UTC().Truncate(time.Second),
	}
	for _, a := range result.Artifacts {
		if file, ok := strings.CutPrefix(a.Path, "out/model/"); ok {
			version.Files = append(version.Files, registry.File{Path: file, Size: a.Size, SHA256: a.SHA256})
		}
	}
	rows := predictions(tb, filepath.Join(folder.Path(), "out", "predictions.csv"))
	version.Test = &registry.Score{Value: result.Metrics.Test[result.Metric].Value, N: len(rows)}
	version, err = v.Registry.Register(tb.Context(), version, folder.In("out/model"), func(*registry.Version) (bool, string) { return true, "it is the first version" })
	require.NoError(tb, err)
	return Trained{Version: version, Rows: rows}
}

func (v *Volume) writeSpec(tb testing.TB, folder disk.Folder, run string, files map[string][]byte, settings map[string]any) {
	tb.Helper()
	var inputs []map[string]any
	for i, name := range slices.Sorted(maps.Keys(files)) {
		file := filepath.Join(folder.Path(), "inputs", filepath.FromSlash(name))
		require.NoError(tb, os.MkdirAll(filepath.Dir(file), 0o750))
		require.NoError(tb, os.WriteFile(file, files[name], 0o600))
		sum := sha256.Sum256(files[name])
		inputs = append(inputs, map[string]any{
			"id": "file" + strconv.Itoa(i), "name": name, "path": name, "size": len(files[name]), "sha256": hex.EncodeToString(sum[:]),
		})
	}
	spec := map[string]any{
		"schema": 3, "kind": "train", "run": run, "attempt": 1, "dataset": map[string]any{"id": "d1", "name": "A dataset"},
		"settings": settings, "sources": map[string]any{}, "inputs": inputs,
	}
	doc, err := json.Marshal(spec)
	require.NoError(tb, err)
	require.NoError(tb, os.WriteFile(filepath.Join(folder.Path(), "spec.json"), doc, 0o600))
}

func decode(tb testing.TB, file string, into any) {
	tb.Helper()
	doc, err := os.ReadFile(file)
	require.NoError(tb, err)
	require.NoError(tb, json.Unmarshal(doc, into))
}

func predictions(tb testing.TB, file string) []map[string]string {
	tb.Helper()
	doc, err := os.ReadFile(file)
	require.NoError(tb, err)
	lines, err := csv.NewReader(bytes.NewReader(doc)).ReadAll()
	require.NoError(tb, err)
	var rows []map[string]string
	for _, line := range lines[1:] {
		row := map[string]string{}
		for i, cell := range line {
			row[lines[0][i]] = cell
		}
		rows = append(rows, row)
	}
	return rows
}
