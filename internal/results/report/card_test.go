package report

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
)

func TestReportHasRoomForSoManyPicturesOnly(t *testing.T) {
	t.Parallel()
	r, err := results.DecodeResult(resultstest.Golden(t, "result-image.json"))
	require.NoError(t, err)
	large := base64.StdEncoding.EncodeToString(append([]byte("\x89PNG\r\n\x1a\n"), bytes.Repeat([]byte{1}, 32<<10-8)...))
	many := slices.Repeat([]results.Example{{File: "a.png", Content: strings.Repeat("x", 9999), Image: large, Label: "a", Predicted: "b"}}, 100)
	r.Data.Samples, r.Mistakes, r.Unsure = many, many, many
	page := renderResult(t, r)
	require.Less(t, len(page), 3<<20)
	require.Equal(t, maxImageBytes/len(large), strings.Count(page, "<img"))
}

func TestCardOfHostileTexts(t *testing.T) {
	t.Parallel()
	for _, text := range resultstest.Hostile() {
		f := resultstest.New(t)
		var before, after bytes.Buffer
		require.NoError(t, WriteCard(&before, f.Meta, &f.Result))
		f.Meta.DatasetName, f.Meta.Model.Name, f.Result.Model.Base, f.Result.Data.LabelColumn = text, text, text, text
		f.Result.Data.Files, f.Result.Data.InputColumns, f.Result.Warnings[0].Text = []string{text}, []string{text}, text
		f.Result.Metrics.Baselines[0].Title = text
		require.NoError(t, WriteCard(&after, f.Meta, &f.Result))
		require.Equal(t, strings.Count(before.String(), "\n"), strings.Count(after.String(), "\n"), text[:min(30, len(text))])
		require.NotContains(t, after.String(), "<")
	}
}

func TestCardSaysWhatItsModelMayBeUsedFor(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(*results.Result)
		want   string
	}{
		"a known license": {func(r *results.Result) { r.Model.License = "apache-2.0" }, "According to its model card, the base model google/bert-tiny has the license apache-2.0."},
		"an unknown one":  {func(*results.Result) {}, "The files of the base model google/bert-tiny name no license: look it up"},
		"no base model":   {func(r *results.Result) { r.Model.FromScratch = true }, "The weights were trained on the dataset"},
		"how sure it is": {func(r *results.Result) {
			r.Calibration = &results.Calibration{ECE: 0.25, Bins: make([]results.CalibrationBin, 1)}
		}, "The expected calibration error on them is 0.250."},
		"rows held out":     {func(*results.Result) {}, "The test rows were held out"},
		"nothing held out":  {func(r *results.Result) { r.Metrics.Test = nil }, "There were no test rows."},
		"a figure to read":  {func(*results.Result) {}, "(95 % interval "},
		"how it is applied": {func(*results.Result) {}, "from transformers import pipeline"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := resultstest.New(t)
			tc.change(&f.Result)
			var card bytes.Buffer
			require.NoError(t, WriteCard(&card, f.Meta, &f.Result))
			require.Contains(t, card.String(), tc.want)
		})
	}
}
