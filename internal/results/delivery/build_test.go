package delivery

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"image/png"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/manifest"
	"github.com/ncsa/clowder-ray/internal/results/report/chart"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
)

func TestBuildMakesWhatTheUserGets(t *testing.T) {
	t.Parallel()
	f := resultstest.New(t)
	artifacts, err := buildAll(t, f)
	require.NoError(t, err)
	var names []string
	for _, a := range artifacts {
		names = append(names, a.Name)
		requireWhole(t, a)
		require.NotEmpty(t, a.ContentType)
		require.NotEmpty(t, a.Show)
		require.NotEmpty(t, a.Title)
		require.NotEmpty(t, a.Description)
	}
	require.Equal(t, []string{
		"log.txt", "manifest.json", "model_card.md", "loss_curve.vl.json", "plots/loss.png", "confusion.vl.json", "plots/confusion.png",
		"predictions.csv", "metrics.json", "model.zip", "report.html",
	}, names)
}

func TestBuildGivesTheSameBytesAgain(t *testing.T) {
	t.Parallel()
	f := newLarge(t)
	first, err := buildAll(t, f)
	require.NoError(t, err)

	before := inFolder(t, f)
	require.Equal(t, []string{builtFile, "model.zip"}, slices.Sorted(maps.Keys(before)), "what is small stays in memory")
	again, err := buildAll(t, f)
	require.NoError(t, err)
	require.Equal(t, first, again)
	require.Equal(t, before, inFolder(t, f), "what is there and whole is kept")

	require.NoError(t, os.RemoveAll(f.Path("deliver")))
	again, err = buildAll(t, f)
	require.NoError(t, err)
	require.Equal(t, first, again, "built again")
}

func TestBuildMakesAnewWhatIsNotWhole(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(t *testing.T, f *resultstest.Fixture){
		"a changed file": func(t *testing.T, f *resultstest.Fixture) { t.Helper(); f.Write(t, "deliver/model.zip", []byte("x")) },
		"a missing file": func(t *testing.T, f *resultstest.Fixture) {
			t.Helper()
			require.NoError(t, os.Remove(f.Path("deliver/model.zip")))
		},
		"no list": func(t *testing.T, f *resultstest.Fixture) {
			t.Helper()
			require.NoError(t, os.Remove(f.Path("deliver/"+builtFile)))
		},
		"a broken list": func(t *testing.T, f *resultstest.Fixture) { t.Helper(); f.Write(t, "deliver/"+builtFile, []byte("{")) },
		"a part left by a death": func(t *testing.T, f *resultstest.Fixture) {
			t.Helper()
			require.NoError(t, os.Remove(f.Path("deliver/"+builtFile)))
			f.Write(t, "deliver/model.zip.part", []byte("half"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newLarge(t)
			first, err := buildAll(t, f)
			require.NoError(t, err)
			damage(t, f)
			again, err := buildAll(t, f)
			require.NoError(t, err)
			require.Equal(t, first, again)
			parts, err := filepath.Glob(f.Path("deliver/*.part"))
			require.NoError(t, err)
			require.Empty(t, parts)
		})
	}
}

func TestBuildFollowsNoLinkThatAStrangerLeft(t *testing.T) {
	t.Parallel()
	f := newLarge(t)
	victim := filepath.Join(t.TempDir(), "victim")
	require.NoError(t, os.WriteFile(victim, []byte("untouched"), 0o600))
	require.NoError(t, os.MkdirAll(f.Path("deliver"), 0o755))
	require.NoError(t, os.Symlink(victim, f.Path("deliver/model.zip")))
	require.NoError(t, os.Symlink(victim, f.Path("deliver/model.zip.part")))
	_, err := buildAll(t, f)
	require.NoError(t, err)
	body, err := os.ReadFile(victim)
	require.NoError(t, err)
	require.Equal(t, "untouched", string(body))
}

func TestBuildRefusesWeightsThatChangedAfterTheyWereVerified(t *testing.T) {
	t.Parallel()
	f := resultstest.New(t)
	body := resultstest.Safetensors(4096)
	body[len(body)-1] ^= 1
	f.Write(t, "out/model/model.safetensors", body)
	_, err := buildAll(t, f)
	require.ErrorContains(t, err, "sha256")
	kind, _ := job.Classify(err)
	require.Equal(t, job.KindRetryable, kind)
}

func TestBuildWithoutEventsOrPredictions(t *testing.T) {
	t.Parallel()
	f := resultstest.New(t)
	require.NoError(t, os.Remove(f.Path(results.EventsFile)))
	require.NoError(t, os.Remove(f.Path("log.txt")))
	f.Result.Outputs = f.Result.Outputs[:4]
	artifacts, err := buildAll(t, f)
	require.NoError(t, err)
	var names []string
	for _, a := range artifacts {
		names = append(names, a.Name)
	}
	require.Equal(t, []string{"log.txt", "manifest.json", "model_card.md", "confusion.vl.json", "plots/confusion.png", "metrics.json", "model.zip", "report.html"}, names)
}

func TestArchiveHoldsTheModelAndHowToLoadIt(t *testing.T) {
	t.Parallel()
	f := resultstest.New(t)
	deliverAll(t, f)
	z, err := zip.OpenReader(f.Path("user/model.zip"))
	require.NoError(t, err)
	defer func() { require.NoError(t, z.Close()) }()
	var names []string
	for _, e := range z.File {
		names = append(names, e.Name)
		require.True(t, e.Modified.Equal(f.Meta.Started), e.Modified)
		r, err := e.Open()
		require.NoError(t, err)
		body, err := io.ReadAll(r)
		require.NoError(t, err)
		switch e.Name {
		case "README.md":
			require.Contains(t, string(body), "from transformers import pipeline")
		case "model/model.safetensors":
			require.Equal(t, resultstest.Safetensors(4096), body)
		}
	}
	require.Equal(t, []string{"README.md", "manifest.json", "model_card.md", "model/config.json", "model/model.safetensors", "model/tokenizer.json"}, names)
}

func TestMetricsAndManifestAreWhatTheyPromise(t *testing.T) {
	t.Parallel()
	f := resultstest.NewGolden(t, results.ResultFile)
	deliverAll(t, f)
	var metrics DeliveredMetrics
	readJSON(t, f.Path("user/metrics.json"), &metrics)
	require.Equal(t, f.Result.Metrics, metrics.Metrics)
	require.NotEmpty(t, metrics.Training.PerWorker, "what each worker used is told to programs too")
	require.Equal(t, f.Result.Training, metrics.Training)
	var man map[string]any
	readJSON(t, f.Path("user/manifest.json"), &man)
	require.Equal(t, f.Result.Run, man["run"])
	require.Len(t, man["dataset"].(map[string]any)["files"], len(f.Meta.Inputs))
	require.Len(t, man["outputs"], len(f.Result.Outputs))
}

func TestPictureIsAPictureAndTheChartHoldsItsData(t *testing.T) {
	t.Parallel()
	f := resultstest.New(t)
	deliverAll(t, f)
	file, err := os.Open(f.Path("user/plots/loss.png"))
	require.NoError(t, err)
	defer func() { require.NoError(t, file.Close()) }()
	config, err := png.DecodeConfig(file)
	require.NoError(t, err)
	require.Equal(t, chart.PNGWidth, config.Width)
	require.Equal(t, chart.PNGHeight, config.Height)

	var spec map[string]any
	readJSON(t, f.Path("user/loss_curve.vl.json"), &spec)
	require.EqualValues(t, chart.VegaWidth, spec["width"])
	values := spec["data"].(map[string]any)["values"].([]any)
	require.Len(t, values, 60+3)
	require.Len(t, spec["layer"], 3)
}

func TestFolderNamesAreSafe(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		base, runName, want string
	}{
		"a model of the hub":     {"google/bert-tiny", "", "2026-11-21-bert-tiny-abcdefgh"},
		"from scratch":           {"bert-tiny shape", "", "2026-11-21-bert-tiny-shape-abcdefgh"},
		"the user's name for it": {"google/bert-tiny", "Try 2: more / epochs!", "2026-11-21-try-2-more-epochs-abcdefgh"},
		"nothing that is safe":   {"x", "../..//", "2026-11-21-run-abcdefgh"},
		"other alphabets":        {"x", "Пример", "2026-11-21-run-abcdefgh"},
		"very long":              {"x", strings.Repeat("ab ", 100), "2026-11-21-" + strings.Repeat("ab-", 13) + "a-abcdefgh"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := manifest.Meta{Run: resultstest.TestRun, RunName: tc.runName, Started: time.Date(2026, 11, 21, 23, 59, 0, 0, time.UTC)}
			require.Equal(t, []string{"finetune", tc.want}, Folder(m, &results.Result{Model: results.Model{Base: tc.base}}))
		})
	}
}

func TestMetadataIsSmallAndJSON(t *testing.T) {
	t.Parallel()
	f := resultstest.New(t)
	content := Metadata(f.Meta, &f.Result)
	doc, err := json.Marshal(content)
	require.NoError(t, err)
	require.Less(t, len(doc), 2000)
	require.Equal(t, resultstest.TestRun, content["run"])
	require.InDelta(t, 0.842, content["test_value"], 1e-9)
	require.LessOrEqual(t, len(content), 30)
}

// inFolder is when the files in the folder of the deliverables were written.
func inFolder(t *testing.T, f *resultstest.Fixture) map[string]time.Time {
	t.Helper()
	entries, err := os.ReadDir(f.Path("deliver"))
	require.NoError(t, err)
	written := map[string]time.Time{}
	for _, e := range entries {
		info, err := e.Info()
		require.NoError(t, err)
		written[e.Name()] = info.ModTime()
	}
	return written
}

func TestADeliverableMovesToTheDiskWhenItOutgrowsTheMemory(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]int{"empty": 0, "the largest in memory": inMemory, "one byte more": inMemory + 1, "much more": 10 * inMemory} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			body := bytes.Repeat([]byte("x"), size)
			plan := []deliverable{{Artifact{Name: "plots/a.png"}, func(w io.Writer) error {
				for piece := range slices.Chunk(body, 1000) {
					if _, err := w.Write(piece); err != nil {
						return err
					}
				}
				return nil
			}}}
			made, err := build(t.Context(), disk.Folder{Volume: dir, Name: "deliver/ft-1"}, "key", nil, plan)
			require.NoError(t, err)
			require.Equal(t, body, append([]byte{}, requireWhole(t, made[0])...))
			if size <= inMemory {
				require.NoDirExists(t, filepath.Join(dir, "deliver"))
				return
			}
			require.FileExists(t, filepath.Join(dir, "deliver/ft-1/plots/a.png"))
		})
	}
}

func TestADeliverableThatCannotBeWrittenLeavesNoPart(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]int{"in memory": 1, "a file": inMemory + 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newLarge(t)
			broken := errors.New("the weights changed")
			plan := []deliverable{{Artifact{Name: "a.bin"}, func(w io.Writer) error {
				_, err := w.Write(make([]byte, size))
				return errors.Join(err, broken)
			}}}
			_, err := build(t.Context(), f.Run().In("deliver"), "key", nil, plan)
			require.ErrorIs(t, err, broken)
			require.ErrorContains(t, err, "make a.bin")
			left, err := filepath.Glob(f.Path("deliver/*"))
			require.NoError(t, err)
			require.Empty(t, left)
		})
	}
}

func readJSON(t *testing.T, path string, v any) {
	t.Helper()
	doc, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(doc, v))
}

func BenchmarkBuild(b *testing.B) {
	f := resultstest.New(b)
	f.Result.Outputs = nil
	f.Write(b, "out/model/model.safetensors", resultstest.Safetensors(4<<20))
	f.List(b, "out/model/model.safetensors")
	b.SetBytes(f.Result.Outputs[0].Size)
	b.ReportAllocs()
	for b.Loop() {
		require.NoError(b, os.RemoveAll(f.Path("deliver")))
		_, err := buildAll(b, f)
		require.NoError(b, err)
	}
}
