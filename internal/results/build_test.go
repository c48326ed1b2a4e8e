package results

import (
	"archive/zip"
	"encoding/json"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
)

func TestBuildMakesWhatTheUserGets(t *testing.T) {
	t.Parallel()
	f := setup(t)
	artifacts, err := f.build(t)
	require.NoError(t, err)
	var names []string
	for _, a := range artifacts {
		names = append(names, a.Name)
		info, err := os.Stat(pathOf(a))
		require.NoError(t, err)
		require.Equal(t, a.Size, info.Size())
		require.Len(t, a.SHA256, 64)
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
	f := setup(t)
	first, err := f.build(t)
	require.NoError(t, err)

	before := modified(t, first)
	again, err := f.build(t)
	require.NoError(t, err)
	require.Equal(t, first, again)
	require.Equal(t, before, modified(t, again), "what is there and whole is kept")

	require.NoError(t, os.RemoveAll(f.path("deliver")))
	again, err = f.build(t)
	require.NoError(t, err)
	require.Equal(t, first, again, "made anew")
}

func TestBuildMakesAnewWhatIsNotWhole(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(t *testing.T, f *fixture){
		"a changed file": func(t *testing.T, f *fixture) { t.Helper(); f.write(t, "deliver/report.html", []byte("x")) },
		"a missing file": func(t *testing.T, f *fixture) { t.Helper(); require.NoError(t, os.Remove(f.path("deliver/model.zip"))) },
		"no list": func(t *testing.T, f *fixture) {
			t.Helper()
			require.NoError(t, os.Remove(f.path("deliver/"+builtFile)))
		},
		"a broken list": func(t *testing.T, f *fixture) { t.Helper(); f.write(t, "deliver/"+builtFile, []byte("{")) },
		"a part left by a death": func(t *testing.T, f *fixture) {
			t.Helper()
			require.NoError(t, os.Remove(f.path("deliver/"+builtFile)))
			f.write(t, "deliver/model.zip.part", []byte("half"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := setup(t)
			first, err := f.build(t)
			require.NoError(t, err)
			damage(t, f)
			again, err := f.build(t)
			require.NoError(t, err)
			require.Equal(t, first, again)
			parts, err := filepath.Glob(f.path("deliver/*.part"))
			require.NoError(t, err)
			require.Empty(t, parts)
		})
	}
}

func TestBuildFollowsNoLinkThatAStrangerLeft(t *testing.T) {
	t.Parallel()
	f := setup(t)
	victim := filepath.Join(t.TempDir(), "victim")
	require.NoError(t, os.WriteFile(victim, []byte("untouched"), 0o600))
	require.NoError(t, os.MkdirAll(f.path("deliver"), 0o755))
	require.NoError(t, os.Symlink(victim, f.path("deliver/report.html")))
	require.NoError(t, os.Symlink(victim, f.path("deliver/report.html.part")))
	_, err := f.build(t)
	require.NoError(t, err)
	body, err := os.ReadFile(victim)
	require.NoError(t, err)
	require.Equal(t, "untouched", string(body))
}

func TestBuildRefusesWeightsThatChangedAfterTheyWereVerified(t *testing.T) {
	t.Parallel()
	f := setup(t)
	body := safetensors(4096)
	body[len(body)-1] ^= 1
	f.write(t, "out/model/model.safetensors", body)
	_, err := f.build(t)
	require.ErrorContains(t, err, "sha256")
	kind, _ := job.Classify(err)
	require.Equal(t, job.KindRetryable, kind)
}

func TestBuildWithoutEventsOrPredictions(t *testing.T) {
	t.Parallel()
	f := setup(t)
	require.NoError(t, os.Remove(f.path(EventsFile)))
	require.NoError(t, os.Remove(f.path("log.txt")))
	f.result.Outputs = f.result.Outputs[:4]
	artifacts, err := f.build(t)
	require.NoError(t, err)
	var names []string
	for _, a := range artifacts {
		names = append(names, a.Name)
	}
	require.Equal(t, []string{"log.txt", "manifest.json", "model_card.md", "confusion.vl.json", "plots/confusion.png", "metrics.json", "model.zip", "report.html"}, names)
}

func TestArchiveHoldsTheModelAndHowToLoadIt(t *testing.T) {
	t.Parallel()
	f := setup(t)
	_, err := f.build(t)
	require.NoError(t, err)
	z, err := zip.OpenReader(f.path("deliver/model.zip"))
	require.NoError(t, err)
	defer func() { require.NoError(t, z.Close()) }()
	var names []string
	for _, e := range z.File {
		names = append(names, e.Name)
		require.True(t, e.Modified.Equal(f.meta.Started), e.Modified)
		r, err := e.Open()
		require.NoError(t, err)
		body, err := io.ReadAll(r)
		require.NoError(t, err)
		switch e.Name {
		case "README.md":
			require.Contains(t, string(body), snippet("text"))
		case "model/model.safetensors":
			require.Equal(t, safetensors(4096), body)
		}
	}
	require.Equal(t, []string{"README.md", "manifest.json", "model_card.md", "model/config.json", "model/model.safetensors", "model/tokenizer.json"}, names)
}

func TestMetricsAndManifestAreWhatTheyPromise(t *testing.T) {
	t.Parallel()
	f := setupGolden(t, ResultFile)
	_, err := f.build(t)
	require.NoError(t, err)
	var metrics DeliveredMetrics
	readJSON(t, f.path("deliver/metrics.json"), &metrics)
	require.Equal(t, f.result.Metrics, metrics.Metrics)
	require.NotEmpty(t, metrics.Training.PerWorker, "what each worker used is told to programs too")
	require.Equal(t, f.result.Training, metrics.Training)
	var man map[string]any
	readJSON(t, f.path("deliver/manifest.json"), &man)
	require.Equal(t, f.result.Run, man["run"])
	require.Len(t, man["dataset"].(map[string]any)["files"], len(f.meta.Inputs))
	require.Len(t, man["outputs"], len(f.result.Outputs))
}

func TestPictureIsAPictureAndTheChartHoldsItsData(t *testing.T) {
	t.Parallel()
	f := setup(t)
	_, err := f.build(t)
	require.NoError(t, err)
	file, err := os.Open(f.path("deliver/plots/loss.png"))
	require.NoError(t, err)
	defer func() { require.NoError(t, file.Close()) }()
	config, err := png.DecodeConfig(file)
	require.NoError(t, err)
	require.Equal(t, pngWidth, config.Width)
	require.Equal(t, pngHeight, config.Height)

	var spec map[string]any
	readJSON(t, f.path("deliver/loss_curve.vl.json"), &spec)
	require.EqualValues(t, vegaWidth, spec["width"])
	values := spec["data"].(map[string]any)["values"].([]any)
	require.Len(t, values, 60+3)
	require.Len(t, spec["layer"], 3)
}

func TestPlotsOfStrangeTrainings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]curves{
		"one point":          {ValidationLoss: []point{{1, 0.5}}, Epochs: 1, Best: 1},
		"all the same":       {Steps: []point{{0.1, 2}, {0.2, 2}, {1, 2}}, Epochs: 1},
		"zero":               {Steps: []point{{0, 0}, {1, 0}}, Epochs: 1},
		"huge":               {Steps: []point{{0, 1e300}, {1, -1e300}}, Epochs: 1},
		"tiny":               {Steps: []point{{0, 1e-300}, {1, 2e-300}}, Epochs: 1},
		"many epochs":        {Steps: []point{{0, 3}, {10_000, 1}}, Epochs: 10_000, Best: 9_000},
		"best after the end": {Steps: []point{{0, 3}, {1, 1}}, Epochs: 1, Best: 7},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.NoError(t, plotLoss(io.Discard, c))
			require.NoError(t, writeVegaLoss(io.Discard, c))
			ch := lossChart(c)
			require.NotNil(t, ch)
			require.LessOrEqual(t, len(ch.XTicks), 20)
			require.LessOrEqual(t, len(ch.YTicks), 20)
		})
	}
}

func TestCurvesWhereATrainingWentBackInTime(t *testing.T) {
	t.Parallel()
	loss := func(attempt int, fraction, loss float64) Event {
		return Event{Attempt: attempt, Kind: KindProgress, Epochs: 2, Steps: 100, Fraction: fraction, Loss: &loss}
	}
	r := &Result{Attempt: 2, Metric: "accuracy"}
	c := newCurves([]Event{loss(1, 0.25, 3), loss(1, 0.5, 2.5), loss(1, 0.75, 2), loss(2, 0.5, 1), loss(2, 1, 0.5), loss(3, 0.1, 9)}, r)
	require.Equal(t, []point{{0.5, 3}, {1, 1}, {2, 0.5}}, c.Steps)
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
			m := Meta{Run: testRun, RunName: tc.runName, Started: time.Date(2026, 11, 21, 23, 59, 0, 0, time.UTC)}
			require.Equal(t, []string{"finetune", tc.want}, Folder(m, &Result{Model: Model{Base: tc.base}}))
		})
	}
}

func TestMetadataIsSmallAndJSON(t *testing.T) {
	t.Parallel()
	f := setup(t)
	content := Metadata(f.meta, &f.result)
	doc, err := json.Marshal(content)
	require.NoError(t, err)
	require.Less(t, len(doc), 2000)
	require.Equal(t, testRun, content["run"])
	require.InDelta(t, 0.842, content["test_value"], 1e-9)
	require.LessOrEqual(t, len(content), 30)
}

func modified(t *testing.T, artifacts []Artifact) []time.Time {
	t.Helper()
	var out []time.Time
	for _, a := range artifacts {
		info, err := os.Stat(pathOf(a))
		require.NoError(t, err)
		out = append(out, info.ModTime())
	}
	return out
}

func readJSON(t *testing.T, path string, v any) {
	t.Helper()
	doc, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(doc, v))
}

func BenchmarkBuild(b *testing.B) {
	f := setup(b)
	f.result.Outputs = nil
	f.write(b, "out/model/model.safetensors", safetensors(4<<20))
	f.list(b, "out/model/model.safetensors")
	b.SetBytes(f.result.Outputs[0].Size)
	b.ReportAllocs()
	for b.Loop() {
		require.NoError(b, os.RemoveAll(f.path("deliver")))
		_, err := f.build(b)
		require.NoError(b, err)
	}
}
