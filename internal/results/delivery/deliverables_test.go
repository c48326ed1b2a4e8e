package delivery

import (
	"archive/zip"
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/report"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
	"github.com/ncsa/clowder-ray/trainer"
)

func TestDeliverablesOfEachKind(t *testing.T) {
	t.Parallel()
	training := []string{"log.txt", "manifest.json", "model_card.md", "confusion.vl.json", "plots/confusion.png", "predictions.csv", "metrics.json", "baseline.zip", "model.zip", "report.html"}
	for name, tc := range map[string]struct {
		golden string
		change func(*results.Result)
		want   []string
	}{
		"a training":  {results.ResultFile, nil, training},
		"everything":  {results.ResultFile, resultstest.SetOption("upload", "everything"), append([]string{"log.txt", "manifest.json", "tensorboard/events.out.tfevents.1795237421.ray-head"}, training[2:]...)},
		"report only": {results.ResultFile, resultstest.SetOption("upload", "report_only"), []string{"log.txt", "manifest.json", "model_card.md", "confusion.vl.json", "plots/confusion.png", "predictions.csv", "metrics.json", "report.html"}},
		"a regression": {
			"result-regression.json", nil,
			[]string{"log.txt", "manifest.json", "model_card.md", "plots/predicted.png", "predictions.csv", "metrics.json", "baseline.zip", "model.zip", "report.html"},
		},
		"a graph": {
			"result-graph.json", nil,
			[]string{"log.txt", "manifest.json", "model_card.md", "plots/embedding.png", "predictions.csv", "predicted_links.csv", "embeddings.parquet", "metrics.json", "model.zip", "report.html"},
		},
		"the report of a graph": {
			"result-graph.json", func(r *results.Result) {
				r.Settings = append(r.Settings, results.Setting{Name: "upload", Value: "report_only", Source: "form"})
			},
			[]string{"log.txt", "manifest.json", "model_card.md", "plots/embedding.png", "predictions.csv", "predicted_links.csv", "metrics.json", "report.html"},
		},
		"a prediction": {"result-prediction.json", nil, []string{"log.txt", "manifest.json", "predictions.csv", "report.html"}},
		"a check":      {"result-check.json", nil, []string{"log.txt", "manifest.json", "report.html"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var change []func(*results.Result)
			if tc.change != nil {
				change = append(change, tc.change)
			}
			f := resultstest.NewGolden(t, tc.golden, change...)
			r, failure, err := results.Read(f.Run(), f.Result.Run, f.Result.Attempt)
			require.NoError(t, err)
			require.Nil(t, failure)
			artifacts, err := Build(t.Context(), f.Run(), f.Run().In("deliver"), r, f.Meta)
			require.NoError(t, err)
			var names []string
			for _, a := range artifacts {
				names = append(names, a.Name)
			}
			require.Equal(t, tc.want, names)

			require.NoError(t, os.RemoveAll(f.Path("deliver")))
			again, err := Build(t.Context(), f.Run(), f.Run().In("deliver"), r, f.Meta)
			require.NoError(t, err)
			require.Equal(t, artifacts, again, "built again, with the same bytes")
		})
	}
}

func TestArchiveOfEachKindSaysHowToUseIt(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change  func(*results.Result)
		golden  string
		snippet string
	}{
		"texts":            {golden: results.ResultFile, snippet: "text/text"},
		"texts to numbers": {golden: results.ResultFile, snippet: "text/text_regression", change: func(r *results.Result) { r.Usage.Snippet = "text/text_regression" }},
		"pictures":         {golden: "result-image.json", snippet: "image/image"},
		"tables":           {golden: "result-regression.json", snippet: "table/table"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := resultstest.NewGolden(t, tc.golden)
			if tc.change != nil {
				tc.change(&f.Result)
			}
			deliverAll(t, f)
			require.Contains(t, string(inArchive(t, f.Path("user/model.zip"), "README.md")), codeOf(t, tc.snippet))
			require.NotEmpty(t, inArchive(t, f.Path("user/model.zip"), "model/config.json"))
		})
	}
	f := resultstest.NewGolden(t, results.ResultFile)
	deliverAll(t, f)
	require.Equal(t, resultstest.Safetensors(64), inArchive(t, f.Path("user/baseline.zip"), "baseline/weights.safetensors"))
	require.Contains(t, report.BaselineGuide(&f.Result), codeOf(t, "text/baseline_text"))
}

// codeOf is the code of a snippet.
func codeOf(t *testing.T, name string) string {
	t.Helper()
	s, ok := trainer.NamedSnippet(name)
	require.True(t, ok, name)
	return s.Code
}

func TestALargeGraphStaysWithTheRegisteredVersion(t *testing.T) {
	t.Parallel()
	for _, delivered := range []bool{true, false} {
		f := resultstest.NewGolden(t, "result-graph.json", func(r *results.Result) {
			for i := range r.Outputs {
				r.Outputs[i].Apart = !delivered && r.Outputs[i].Path == "out/model/graph.safetensors"
			}
		})
		deliverAll(t, f)
		z, err := zip.OpenReader(f.Path("user/model.zip"))
		require.NoError(t, err)
		_, err = z.Open("model/graph.safetensors")
		require.Equal(t, delivered, err == nil)
		require.NoError(t, z.Close())
		require.NotEmpty(t, inArchive(t, f.Path("user/model.zip"), "model/model.safetensors"))
	}
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

func TestLogHoldsEveryWorker(t *testing.T) {
	t.Parallel()
	f := resultstest.New(t)
	for _, name := range []string{"rank-10", "rank-2", "rank-0", "other", "rank-x"} {
		f.Write(t, "logs/"+name+".txt", []byte("printed by "+name+"\n"))
	}
	deliverAll(t, f)
	body, err := os.ReadFile(f.Path("user/log.txt"))
	require.NoError(t, err)
	_, printed, isLinked := strings.Cut(string(body), "What it printed: log.txt")
	require.True(t, isLinked)
	require.Equal(t, "\n\nepoch 1 done\n\nWhat it printed: logs/rank-0.txt\n\nprinted by rank-0\n\nWhat it printed: logs/rank-2.txt\n\nprinted by rank-2\n"+
		"\nWhat it printed: logs/rank-10.txt\n\nprinted by rank-10\n", printed)
}

func TestFolderAndMetadataOfEachKind(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		folder string
		want   map[string]any
	}{
		results.ResultFile: {"2026-11-21-bert-tiny-shape-k3v7q2m5", map[string]any{
			"kind": "training", "name": "reviews", "name_version": 3, "champion": "reviews/3", "metric": "accuracy", "test_value": 0.91,
		}},
		"result-prediction.json": {"2026-11-21-predict-reviews-p2q3r4s5", map[string]any{
			"kind": "prediction", "model": "reviews/3", "rows": 1234, "skipped": 6, "counts": `{"negative":534,"positive":700}`, "metric": "accuracy",
		}},
		"result-check.json": {"2026-11-21-check-text-classification-c2d3e4f5", map[string]any{"kind": "check", "warnings": 2, "errors": 0, "rows_train": 1080}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := results.DecodeResult(resultstest.Golden(t, name))
			require.NoError(t, err)
			m := resultstest.LikelyMeta(r)
			require.Equal(t, []string{"finetune", tc.folder}, Folder(m, r))
			content := Metadata(m, r)
			for key, value := range tc.want {
				require.Equal(t, value, content[key], key)
			}
			require.LessOrEqual(t, len(content), 34)
		})
	}
}
