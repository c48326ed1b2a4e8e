package results

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
)

// setupGolden is a run folder that holds what a golden result names.
func setupGolden(t *testing.T, name string, change ...func(*Result)) *fixture {
	t.Helper()
	r, err := DecodeResult(readGolden(t, name))
	require.NoError(t, err)
	f := &fixture{dir: t.TempDir(), meta: likelyMeta(r)}
	outputs := r.Outputs
	r.Outputs = nil
	f.result = *r
	for _, o := range outputs {
		body := []byte(o.Path + "\n")
		if filepath.Ext(o.Path) == weightsSuffix {
			body = safetensors(64)
		}
		f.write(t, o.Path, body)
		f.list(t, o.Path)
	}
	for _, c := range change {
		c(&f.result)
	}
	f.writeJSON(t, ResultFile, f.result)
	return f
}

func setOption(name string, value any) func(*Result) {
	return func(r *Result) {
		for i := range r.Settings {
			if r.Settings[i].Name == name {
				r.Settings[i].Value = value
			}
		}
	}
}

func TestDeliverablesOfEachKind(t *testing.T) {
	t.Parallel()
	training := []string{"log.txt", "manifest.json", "model_card.md", "confusion.vl.json", "plots/confusion.png", "predictions.csv", "metrics.json", "baseline.zip", "model.zip", "report.html"}
	for name, tc := range map[string]struct {
		golden string
		change func(*Result)
		want   []string
	}{
		"a training":  {ResultFile, nil, training},
		"everything":  {ResultFile, setOption("upload", "everything"), append([]string{"log.txt", "manifest.json", "tensorboard/events.out.tfevents.1795237421.ray-head"}, training[2:]...)},
		"report only": {ResultFile, setOption("upload", "report_only"), []string{"log.txt", "manifest.json", "model_card.md", "confusion.vl.json", "plots/confusion.png", "predictions.csv", "metrics.json", "report.html"}},
		"a regression": {
			"result-regression.json", nil,
			[]string{"log.txt", "manifest.json", "model_card.md", "plots/predicted.png", "predictions.csv", "metrics.json", "baseline.zip", "model.zip", "report.html"},
		},
		"a prediction": {"result-prediction.json", nil, []string{"log.txt", "manifest.json", "predictions.csv", "report.html"}},
		"a check":      {"result-check.json", nil, []string{"log.txt", "manifest.json", "report.html"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var change []func(*Result)
			if tc.change != nil {
				change = append(change, tc.change)
			}
			f := setupGolden(t, tc.golden, change...)
			r, failure, err := Read(f.run(), f.result.Run, f.result.Attempt)
			require.NoError(t, err)
			require.Nil(t, failure)
			artifacts, err := Build(t.Context(), f.run(), f.run().In("deliver"), r, f.meta)
			require.NoError(t, err)
			var names []string
			for _, a := range artifacts {
				names = append(names, a.Name)
			}
			require.Equal(t, tc.want, names)

			require.NoError(t, os.RemoveAll(f.path("deliver")))
			again, err := Build(t.Context(), f.run(), f.run().In("deliver"), r, f.meta)
			require.NoError(t, err)
			require.Equal(t, artifacts, again, "made anew, the same bytes")
		})
	}
}

func TestArchiveOfEachKindSaysHowToUseIt(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change  func(*Result)
		golden  string
		snippet string
	}{
		"texts":           {golden: ResultFile, snippet: "text"},
		"texts to number": {golden: ResultFile, snippet: "text_regression", change: func(r *Result) { r.Task, r.Metrics.Task = "text-regression", "text-regression" }},
		"pictures":        {golden: "result-image.json", snippet: "image"},
		"tables":          {golden: "result-regression.json", snippet: "table"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := setupGolden(t, tc.golden)
			if tc.change != nil {
				tc.change(&f.result)
			}
			_, err := f.build(t)
			require.NoError(t, err)
			require.Contains(t, string(inArchive(t, f.path("deliver/model.zip"), "README.md")), snippet(tc.snippet))
			require.NotEmpty(t, snippet(tc.snippet))
			require.NotEmpty(t, inArchive(t, f.path("deliver/model.zip"), "model/config.json"))
		})
	}
	f := setupGolden(t, ResultFile)
	_, err := f.build(t)
	require.NoError(t, err)
	require.Equal(t, safetensors(64), inArchive(t, f.path("deliver/baseline.zip"), "baseline/weights.safetensors"))
	for _, kind := range []string{modelText, modelImage, modelTable} {
		f.result.Model.Kind = kind
		require.NotEmpty(t, snippet("baseline_"+kind))
		require.Contains(t, baselineGuide(&f.result), snippet("baseline_"+kind))
	}
	require.Contains(t, string(inArchive(t, f.path("deliver/baseline.zip"), "README.md")), "the bag of words that the trained model was compared with")
}

func inArchive(t *testing.T, archive, name string) []byte {
	t.Helper()
	z, err := zip.OpenReader(archive)
	require.NoError(t, err)
	defer func() { require.NoError(t, z.Close()) }()
	file, err := z.Open(name)
	require.NoError(t, err)
	var body bytes.Buffer
	_, err = body.ReadFrom(file)
	require.NoError(t, err)
	return body.Bytes()
}

func TestManifestIsReadBack(t *testing.T) {
	t.Parallel()
	f := setupGolden(t, ResultFile)
	_, err := f.build(t)
	require.NoError(t, err)
	m, err := ReadManifest(f.path("deliver/manifest.json"))
	require.NoError(t, err)
	require.Equal(t, newManifest(f.meta, &f.result), m)
	require.Equal(t, f.result.Model.WeightsSHA256, m.Model.WeightsSHA256)
	require.Equal(t, f.result.Data.SplitSHA256, m.SplitSHA256)
	parameters := m.Parameters()
	require.Len(t, parameters, len(f.result.Settings))
	require.InDelta(t, 39, parameters["max_length"], 0, "what the trainer found is not left to chance again")

	require.Empty(t, m.Changed(f.meta.Inputs))
	other := []job.Input{f.meta.Inputs[0], {Name: "new.csv", SHA256: strings.Repeat("3", 64)}}
	other[0].SHA256 = strings.Repeat("9", 64)
	require.Equal(t, []string{"new.csv", "raw/train.csv", "test.csv"}, m.Changed(other))

	for name, doc := range map[string]string{
		"nothing":     "",
		"older":       `{"schema":1,"run":"ft-x","task":"t","dataset":{"sha256":"x"}}`,
		"another":     `{"mean":1}`,
		"no run":      `{"schema":2,"task":"t","dataset":{"sha256":"x"}}`,
		"a bad input": `{"schema":2,"run":"ft-x","task":"t","dataset":{"sha256":"x","files":[{"name":"a","path":"a","sha256":"no"}]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "manifest.json")
			require.NoError(t, os.WriteFile(file, []byte(doc), 0o600))
			_, err := ReadManifest(file)
			require.ErrorContains(t, err, "give the manifest.json that a training delivered")
			kind, _ := job.Classify(err)
			require.Equal(t, job.KindPermanent, kind)
		})
	}
}

func FuzzManifest(f *testing.F) {
	f.Add([]byte(`{"schema":2,"run":"ft-x","task":"t","dataset":{"sha256":"x","files":[]},"settings":[{"name":"a","value":[1]}]}`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		m, err := decodeManifest(doc)
		if err == nil {
			require.NotNil(t, m.Parameters())
			require.NotEmpty(t, m.Run)
		}
	})
}

func TestLogHoldsEveryWorker(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for _, name := range []string{"rank-10", "rank-2", "rank-0", "other", "rank-x"} {
		f.write(t, "logs/"+name+".txt", []byte("printed by "+name+"\n"))
	}
	_, err := f.build(t)
	require.NoError(t, err)
	body, err := os.ReadFile(f.path("deliver/log.txt"))
	require.NoError(t, err)
	_, printed, found := strings.Cut(string(body), "What it printed: log.txt")
	require.True(t, found)
	require.Equal(t, "\n\nepoch 1 done\n\nWhat it printed: logs/rank-0.txt\n\nprinted by rank-0\n\nWhat it printed: logs/rank-2.txt\n\nprinted by rank-2\n"+
		"\nWhat it printed: logs/rank-10.txt\n\nprinted by rank-10\n", printed)
}

func TestReportHasRoomForSoManyPicturesOnly(t *testing.T) {
	t.Parallel()
	r, err := DecodeResult(readGolden(t, "result-image.json"))
	require.NoError(t, err)
	large := base64.StdEncoding.EncodeToString(append(pngHeader, bytes.Repeat([]byte{1}, maxImage-len(pngHeader))...))
	for _, list := range []*[]Example{&r.Data.Samples, &r.Mistakes, &r.Unsure} {
		*list = nil
		for range maxShown {
			*list = append(*list, Example{File: "a.png", Content: strings.Repeat("x", 9999), Image: large, Label: "a", Predicted: "b"})
		}
	}
	page := renderResult(t, r)
	require.Less(t, len(page), 3<<20)
	require.Equal(t, maxAlbum/len(large), strings.Count(page, "<img"))
}

func TestCardOfHostileTexts(t *testing.T) {
	t.Parallel()
	for _, text := range hostile() {
		f := setup(t)
		var before, after bytes.Buffer
		require.NoError(t, writeCard(&before, f.meta, &f.result))
		f.meta.DatasetName, f.meta.Model.Name, f.result.Model.Base, f.result.Data.LabelColumn = text, text, text, text
		f.result.Data.Files, f.result.Data.InputColumns, f.result.Warnings[0].Text = []string{text}, []string{text}, text
		f.result.Metrics.Baselines[0].Title = text
		require.NoError(t, writeCard(&after, f.meta, &f.result))
		require.Equal(t, strings.Count(before.String(), "\n"), strings.Count(after.String(), "\n"), text[:min(30, len(text))])
		require.NotContains(t, after.String(), "<")
	}
}

func TestCardSaysWhatItsModelMayBeUsedFor(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(*Result)
		want   string
	}{
		"a known license":   {func(r *Result) { r.Model.License = "apache-2.0" }, "The base model google/bert-tiny stands under the license apache-2.0, as its card says."},
		"an unknown one":    {func(*Result) {}, "The files of the base model google/bert-tiny name no license: look it up"},
		"no base model":     {func(r *Result) { r.Model.FromScratch = true }, "The weights were made from the dataset"},
		"how sure it is":    {func(r *Result) { r.Calibration = &Calibration{ECE: 0.25, Bins: make([]CalibrationBin, 1)} }, "confidence is off by 0.250 on average"},
		"rows held out":     {func(*Result) {}, "The test rows were held out"},
		"nothing held out":  {func(r *Result) { r.Metrics.Test = nil }, "There were no test rows."},
		"a figure to read":  {func(*Result) {}, "(95 % interval "},
		"how it is applied": {func(*Result) {}, snippet("text")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := setup(t)
			tc.change(&f.result)
			var card bytes.Buffer
			require.NoError(t, writeCard(&card, f.meta, &f.result))
			require.Contains(t, card.String(), tc.want)
		})
	}
}

func TestFolderAndMetadataOfEachKind(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		folder string
		want   map[string]any
	}{
		ResultFile: {"2026-11-21-bert-tiny-shape-k3v7q2m5", map[string]any{
			"kind": "training", "name": "reviews", "name_version": 3, "champion": "reviews/3", "metric": "accuracy", "test_value": 0.91,
		}},
		"result-prediction.json": {"2026-11-21-predict-reviews-p2q3r4s5", map[string]any{
			"kind": "prediction", "model": "reviews/3", "rows": 1234, "skipped": 6, "counts": `{"negative":534,"positive":700}`, "metric": "accuracy",
		}},
		"result-check.json": {"2026-11-21-check-text-classification-c2d3e4f5", map[string]any{"kind": "check", "warnings": 2, "errors": 0, "rows_train": 1080}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := DecodeResult(readGolden(t, name))
			require.NoError(t, err)
			m := likelyMeta(r)
			require.Equal(t, []string{"finetune", tc.folder}, Folder(m, r))
			content := Metadata(m, r)
			for key, value := range tc.want {
				require.Equal(t, value, content[key], key)
			}
			require.LessOrEqual(t, len(content), 34)
		})
	}
}
