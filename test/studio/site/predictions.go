package site

import (
	"bytes"
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/registry"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
)

// addPrediction adds a prediction of the dataset Film reviews that has ended well. Its model knows the classes and was trained with labelFrom. It names the
// files of next, which are among its inputs, as those whose label would teach the model most. One more input has what the model says of the first as its
// label.
func (s *Site) addPrediction(tb testing.TB, run, labelFrom string, form *results.LabelForm, classes []string, next []results.FileAnswer) {
	tb.Helper()
	inputs := []job.Input{{ID: "0123456789abcdef01234567", Name: "labelled.png", Path: "labelled.png", Label: next[0].Predicted}}
	for _, f := range next {
		inputs = append(inputs, job.Input{ID: f.ID, Name: f.File, Path: f.ID})
	}
	s.Add(tb, Run{ID: run, Extractor: "ncsa.ray.predict", Inputs: inputs, Text: "Predicted."})
	result, err := results.DecodeResult(resultstest.Golden(tb, "result-prediction.json"))
	require.NoError(tb, err)
	result.Run, result.Prediction.Model.Labels, result.Prediction.NextLabels = run, classes, next
	result.Prediction.LabelForm = form
	result.Prediction.Counts = nil
	doc, err := json.Marshal(result)
	require.NoError(tb, err)
	_, err = results.DecodeResult(doc)
	require.NoError(tb, err)
	s.write(tb, run, results.ResultFile, string(doc))
	model, err := json.Marshal(registry.Version{Schema: 1, Name: "birds", Version: 1, Run: "ft-birds", Labels: classes, LabelFrom: labelFrom, Created: time.Now().UTC()})
	require.NoError(tb, err)
	_, err = s.Store.Change(tb.Context(), run, func(rec *job.Record) error { rec.Model = model; return nil })
	require.NoError(tb, err)
}

// Birds is the prediction that AddBirds adds.
const Birds = "pr-birdsbirdsbirdsbirds"

// AddBirds adds a picture, a text and a picture to the dataset, and a prediction of a wren or a robin that names them. It returns their ids.
func (s *Site) AddBirds(tb testing.TB, labelFrom string) (files []string) {
	tb.Helper()
	return s.AddForm(tb, labelFrom, nil, results.FileAnswer{Predicted: "wren"}, "wren", "robin")
}

// AddForm is as AddBirds for labels that are written in another form. said is what the model answers for each of the files.
func (s *Site) AddForm(tb testing.TB, labelFrom string, form *results.LabelForm, said results.FileAnswer, classes ...string) (files []string) {
	tb.Helper()
	var doc bytes.Buffer
	picture := image.NewRGBA(image.Rect(0, 0, 32, 32))
	for i := range 32 {
		picture.Set(i, i, color.RGBA{200, 60, 40, 255})
	}
	require.NoError(tb, png.Encode(&doc, picture))
	if form == nil {
		sure := 0.51
		said.Confidence = &sure
	}
	var next []results.FileAnswer
	for _, f := range []struct{ name, body string }{{"one.png", doc.String()}, {"two.txt", "a bird <b>sings</b>"}, {"three.png", doc.String()}} {
		id, err := s.Clowder.AddFile(s.Dataset, f.name, strings.NewReader(f.body))
		require.NoError(tb, err)
		said.File, said.ID = f.name, id
		files, next = append(files, id), append(next, said)
	}
	s.addPrediction(tb, Birds, labelFrom, form, classes, next)
	return files
}
