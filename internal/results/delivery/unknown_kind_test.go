package delivery

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/manifest"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
)

// toy has what the trainer wrote for a kind of data that only the tests of the trainer know, beside the golden files: trainer/tests/toy.
const toy = "../../tests/toy/golden/"

func TestAModelOfAKindThatTheServiceDoesNotKnowIsDelivered(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{
		results.ResultFile: {"log.txt", "manifest.json", "model_card.md", "predictions.csv", "metrics.json", "model.zip", "report.html"},
		"prediction.json":  {"log.txt", "manifest.json", "predictions.csv", "report.html"},
	} {
		f := resultstest.NewGolden(t, toy+name)
		r, failure, err := results.Read(f.Run(), f.Result.Run, f.Result.Attempt)
		require.NoError(t, err)
		require.Nil(t, failure)
		artifacts, err := Build(t.Context(), f.Run(), f.Run().In("deliver"), r, f.Meta)
		require.NoError(t, err)
		var names []string
		for _, a := range artifacts {
			names = append(names, a.Name)
		}
		require.Equal(t, want, names)
	}
	f := resultstest.NewGolden(t, toy+results.ResultFile)
	deliverAll(t, f)
	for _, file := range []string{"README.md", "model/trainer.json", "model/model.safetensors", "model/model.onnx"} {
		require.NotEmpty(t, inArchive(t, f.Path("user/model.zip"), file), file)
	}
	content := metadataOf(t, toy+results.ResultFile, nil)
	require.Equal(t, "signal-direction", content["task"])
	require.InDelta(t, f.Result.Metrics.Test["turn"].Value, content["test_value"], 1e-9)
}

// TestFilesThatAKindDescribesTakeNoNameOfTheService: a training is not trusted, and its files are not drawn as pages.
func TestFilesThatAKindDescribesTakeNoNameOfTheService(t *testing.T) {
	t.Parallel()
	files := []string{"report.html", "page.svg", "model_card.md", "Model.zip", "own.md", "own.png", "own.csv"}
	f := resultstest.New(t)
	for _, name := range files {
		f.Write(t, "out/"+name, []byte("<script>alert(1)</script>"))
		f.List(t, "out/"+name)
		f.Result.Outputs[len(f.Result.Outputs)-1].Title = "Mine"
	}
	f.WriteJSON(t, results.ResultFile, f.Result)
	artifacts, err := Build(t.Context(), f.Run(), f.Run().In("deliver"), &f.Result, f.Meta)
	require.NoError(t, err)
	types := map[string]string{}
	for _, a := range artifacts {
		require.NotContains(t, types, a.Name)
		types[a.Name] = a.ContentType
		if a.Title == "Mine" {
			require.Contains(t, []string{"own.md", "own.png", "own.csv"}, a.Name)
		}
	}
	require.Equal(t, []string{typeText, typeBytes, typeCSV, typeHTML}, []string{types["own.md"], types["own.png"], types["own.csv"], types["report.html"]})
}

func TestCountsOfAKindChangeNoOtherMetadata(t *testing.T) {
	t.Parallel()
	content := metadataOf(t, results.ResultFile, func(r *results.Result, _ *manifest.Meta) {
		r.Data.Counts = results.Counts{"run": 6, "task": 5, "name": 7, "signals": 8}
	})
	require.Equal(t, "text-classification", content["task"])
	require.IsType(t, "", content["run"])
	require.EqualValues(t, 8, content["signals"])
}

func TestAnswersThatAreFilesAreInOneArchive(t *testing.T) {
	t.Parallel()
	f := resultstest.NewGolden(t, toy+"prediction.json")
	for _, name := range []string{"out/answers/b.png", "out/answers/folder/a.png"} {
		f.Write(t, name, []byte(name))
		f.List(t, name)
	}
	f.WriteJSON(t, results.ResultFile, f.Result)
	deliverAll(t, f)
	for _, name := range []string{"answers/b.png", "answers/folder/a.png"} {
		require.Equal(t, "out/"+name, string(inArchive(t, f.Path("user/answers.zip"), name)))
	}
}
