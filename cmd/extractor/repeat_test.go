package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/manifest"
)

// dataset is a folder with two files and their inputs as a run in Clowder saw them.
func dataset(t *testing.T) (dir string, inputs []job.Input) {
	t.Helper()
	dir = t.TempDir()
	for name, body := range map[string]string{"train.csv": "a,b\n", "raw/test.csv": "c,d\n"} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(body), 0o600))
		sum := sha256.Sum256([]byte(body))
		inputs = append(inputs, job.Input{ID: "id-of-" + name, Name: name, Path: name, Size: int64(len(body)), SHA256: hex.EncodeToString(sum[:])})
	}
	return dir, inputs
}

// oldRun is the manifest of a training on inputs.
func oldRun(weights string, inputs []job.Input, settings ...results.Setting) manifest.Manifest {
	return manifest.Manifest{
		Schema: 2, Kind: results.ResultTraining, Task: "text-classification", Run: "ft-old", Settings: settings,
		Dataset: manifest.Dataset{SHA256: "d", Files: inputs}, Model: &manifest.Model{WeightsSHA256: weights},
	}
}

func TestARunIsRepeatedWithTheSettingsOfItsManifest(t *testing.T) {
	t.Parallel()
	_, inputs := dataset(t)
	m := oldRun("aa", inputs,
		results.Setting{Name: "epochs", Value: 2.0}, results.Setting{Name: "seed", Value: 7.0}, results.Setting{Name: "use_gpu", Value: "no"},
		results.Setting{Name: "data_file", Value: "id-of-raw/test.csv"}, results.Setting{Name: "learning_rate", Value: 1e-5},
		results.Setting{Name: "weight_decay", Value: 0.05}, results.Setting{Name: "max_examples", Value: 1e9},
		results.Setting{Name: "deterministic", Value: true}, results.Setting{Name: "split_column", Value: ""}, results.Setting{Name: "metric"})
	form := map[string]any{"epochs": 3, "seed": 42, "use_gpu": "auto", "data_file": "", "learning_rate": 0.0, "more_options": "", "batch_size": 32}
	require.Equal(t, map[string]any{
		"epochs": 2.0, "seed": 7.0, "use_gpu": "no", "data_file": "raw/test.csv", "learning_rate": 1e-5,
		"more_options": "deterministic: true\nmax_examples: 1000000000\nweight_decay: 0.05",
	}, settingsOf(m, form))
}

func TestTheCommandLineOverridesTheManifestAndOtherFilesAreNamed(t *testing.T) {
	t.Parallel()
	dir, inputs := dataset(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "train.csv"), []byte("a,B\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "more.csv"), nil, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".hidden"), nil, 0o600))
	path := manifestOf(t, oldRun("aa", inputs, results.Setting{Name: "epochs", Value: 2.0}, results.Setting{Name: "weight_decay", Value: 0.05}))
	var out bytes.Buffer
	r := localRequest{dataset: dir, parameters: map[string]any{"epochs": "4", "more_options": "stride: 8"}}
	old, err := (&program{stdout: &out}).repeat(t.Context(), defaults(t), path, &r)
	require.NoError(t, err)
	require.Equal(t, "ft-old", old.Run)
	require.Equal(t, map[string]any{"epochs": "4", "more_options": "weight_decay: 0.05\nstride: 8"}, r.parameters)
	require.Equal(t, "Warning: the data differs from run ft-old, so the model will differ too; changed files: more.csv, train.csv\n", out.String())
}

func TestOnlyATrainingCanBeRepeated(t *testing.T) {
	t.Parallel()
	dir, _ := dataset(t)
	prediction := oldRun("", nil)
	prediction.Kind = results.ResultPrediction
	for path, want := range map[string]string{
		manifestOf(t, prediction):             "not the manifest of a training",
		filepath.Join(dir, "none.json"):       "none.json",
		filepath.Join(dir, "raw", "test.csv"): "use the manifest.json",
	} {
		code, _, stderr := execute(t, t.TempDir(), "run", dir, "--out", t.TempDir(), "--from", path)
		require.Equal(t, exitBadInput, code)
		require.Contains(t, stderr, want)
	}
}

func TestTheEndSaysWhetherTheWeightsAreTheSame(t *testing.T) {
	t.Parallel()
	_, inputs := dataset(t)
	old := oldRun("aa", inputs, results.Setting{Name: "seed", Value: 7.0}, results.Setting{Name: "data_file", Value: "id-of-train.csv"},
		results.Setting{Name: "upload", Value: "everything"})
	old.Versions, old.Hardware.CPU = map[string]string{"torch": "2.14.0"}, "A"
	for name, tc := range map[string]struct {
		change func(*manifest.Manifest)
		want   string
	}{
		"the same":   {func(m *manifest.Manifest) { m.Model.WeightsSHA256 = "aa" }, "The weights are the same as in run ft-old: sha256 aa\n"},
		"no cause":   {func(*manifest.Manifest) {}, "  no recorded difference: trainings on a GPU and trainings that were ended early are not reproducible\n"},
		"a seed":     {func(m *manifest.Manifest) { m.Settings[0].Value = 8.0 }, "  seed: 8 instead of 7\n"},
		"a library":  {func(m *manifest.Manifest) { m.Versions["torch"] = "2.15.0" }, "  torch: 2.15.0 instead of 2.14.0\n"},
		"a machine":  {func(m *manifest.Manifest) { m.Hardware.CPU = "" }, "  the CPU: nothing instead of A\n"},
		"a file":     {func(m *manifest.Manifest) { m.Dataset.Files[0].SHA256 = strings.Repeat("0", 64) }, "  the data: "},
		"other rows": {func(m *manifest.Manifest) { m.SplitSHA256 = "ab" }, "  the row split (sha256): ab instead of nothing\n"},
		"workers": {
			func(m *manifest.Manifest) {
				m.Settings = append(m.Settings, results.Setting{Name: "num_workers", Value: 2.0})
			}, "  several workers: floating-point sums may differ; num_workers=1 avoids this\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			made := oldRun("bb", slices.Clone(inputs), results.Setting{Name: "seed", Value: 7.0}, results.Setting{Name: "data_file", Value: "train.csv"})
			made.Versions, made.Hardware.CPU = map[string]string{"torch": "2.14.0"}, "A"
			tc.change(&made)
			var out bytes.Buffer
			require.NoError(t, (&program{stdout: &out}).compare(old, filepath.Dir(manifestOf(t, made))))
			if name != "the same" {
				first, causes, _ := strings.Cut(out.String(), "\n")
				require.Equal(t, "The weights differ from run ft-old: sha256 bb instead of aa. Differences:", first)
				require.Equal(t, 1, strings.Count(causes, "\n"), causes)
			}
			require.Contains(t, out.String(), tc.want)
		})
	}
}

// manifestOf writes a manifest.json and returns its path.
func manifestOf(t *testing.T, m manifest.Manifest) string {
	t.Helper()
	doc, err := json.Marshal(m)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "manifest.json")
	require.NoError(t, os.WriteFile(path, doc, 0o600))
	return path
}

func TestAScriptIsRepeatedAndItsFilesAreCompared(t *testing.T) {
	t.Parallel()
	dir, inputs := dataset(t)
	old := oldRun("", inputs, results.Setting{Name: "arguments", Value: "--lr 1e-3"}, results.Setting{Name: "max_minutes", Value: 20.0}, results.Setting{Name: "unknown", Value: 1.0})
	old.Kind, old.Task, old.Model = results.ResultScript, "script", nil
	old.Script = &manifest.Script{Entry: "train.py", CodeSHA256: "c"}
	old.Outputs = []results.Output{{Path: "out/a.pt", SHA256: "1"}, {Path: "out/b.txt", SHA256: "2"}}
	var out bytes.Buffer
	p := &program{stdout: &out}
	r := localRequest{dataset: dir, parameters: map[string]any{"max_minutes": "5"}}
	_, err := p.repeat(t.Context(), defaults(t), manifestOf(t, old), &r)
	require.NoError(t, err)
	require.Equal(t, scripter, r.extractor)
	require.Equal(t, map[string]any{"script": "train.py", "arguments": "--lr 1e-3", "max_minutes": "5"}, r.parameters)

	require.NoError(t, p.compareOutputs(old, old))
	require.Equal(t, "The files are the same as in run ft-old: 2 of 2\n", out.String())
	out.Reset()
	made := old
	made.Script = &manifest.Script{Entry: "train.py", CodeSHA256: "d"}
	made.Outputs = []results.Output{{Path: "out/a.pt", SHA256: "9"}, {Path: "out/c.txt", SHA256: "2"}}
	require.NoError(t, p.compareOutputs(old, made))
	require.Equal(t, "The files differ from run ft-old: a.pt, b.txt (missing), c.txt (new). Differences:\n  the code\n", out.String())
}
