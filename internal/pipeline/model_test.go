package pipeline

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/jobtest"
	"github.com/ncsa/clowder-ray/internal/pipeline/attempt"
	"github.com/ncsa/clowder-ray/internal/registry"
)

// acceptPrediction stores a new job of the extractor that predicts.
func (b *bench) acceptPrediction(t *testing.T, parameters map[string]any) job.Record {
	t.Helper()
	rec := jobtest.Record(run, "h1")
	rec.Kind, rec.Request.Parameters, rec.Request.Extractor = job.Predict, parameters, "ncsa.ray.predict"
	rec, _, err := b.store.Accept(t.Context(), rec)
	require.NoError(t, err)
	return rec
}

// register puts a model of the given run and dataset into the registry.
func (b *bench) register(t *testing.T, dataset, name, run string) registry.Version {
	t.Helper()
	from := disk.Folder{Volume: b.dir, Name: "model-of-" + run}
	require.NoError(t, os.MkdirAll(from.Path(), 0o700))
	v, err := b.registry.Register(t.Context(), registry.Version{
		Name: name, Run: run, Clowder: b.platform.address, DatasetID: dataset, Metric: "accuracy", Created: time.Unix(1, 0).UTC(), WeightsSHA256: run,
	}, from, func(champion *registry.Version) (bool, string) { return champion == nil, "it is the first" })
	require.NoError(t, err)
	return v
}

// spec reads what the job's attempt was told to do.
func (b *bench) spec(t *testing.T) (s attempt.Spec) {
	t.Helper()
	doc, err := os.ReadFile(filepath.Join(b.cfg.Volume.Run(run).Path(), "spec.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(doc, &s))
	return s
}

const otherDataset = "eeeeeeeeeeeeeeeeeeeeeeee"

func TestAPredictionUsesTheModelThatIsMeant(t *testing.T) {
	own := jobtest.Record(run, "h").Request.DatasetID
	for name, tc := range map[string]struct {
		parameters map[string]any
		readable   string
		want       *attempt.SpecModel
		fault      string
	}{
		"the newest of the dataset": {
			nil, "", &attempt.SpecModel{Path: "../../registry/" + own + "/films/2/model", Run: "ft-new", Name: "films", Version: 2}, "",
		},
		"the champion": {
			map[string]any{"model": "films@champion"},
			"",
			&attempt.SpecModel{Path: "../../registry/" + own + "/films/1/model", Run: "ft-old", Name: "films", Version: 1}, "",
		},
		"one of a dataset that the user may read": {
			map[string]any{"model": "birds"},
			otherDataset,
			&attempt.SpecModel{Path: "../../registry/" + otherDataset + "/birds/1/model", Run: "ft-birds", Name: "birds", Version: 1}, "",
		},
		"one of a dataset that the user may not read": {map[string]any{"model": "birds"}, "", nil, "there is no model birds: this dataset has films/1, films/2"},
		"a file wins over a name":                     {map[string]any{"model": "birds", "model_file": "abc"}, "", nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := setup(t)
				b.platform.readable = tc.readable
				b.register(t, own, "films", "ft-old")
				b.register(t, own, "films", "ft-new")
				b.register(t, otherDataset, "birds", "ft-birds")
				b.acceptPrediction(t, tc.parameters)
				b.runUntilOver(t)
				if tc.fault != "" {
					require.Contains(t, b.get(t, run).Ending.Text, tc.fault)
					require.True(t, b.get(t, run).Ending.BadInput)
					require.Empty(t, b.ray.submits)
					return
				}
				spec := b.spec(t)
				require.Equal(t, job.Predict, spec.Kind)
				require.Equal(t, tc.want, spec.Model)
				require.Nil(t, spec.Champion)
			})
		})
	}
}

// TestAPredictionKnowsWhichFilesHaveALabel: where its model was trained from metadata, so that it can name files to label. No label is no error.
func TestAPredictionKnowsWhichFilesHaveALabel(t *testing.T) {
	own := jobtest.Record(run, "h").Request.DatasetID
	for name, tc := range map[string]struct {
		from  string
		fault error
		want  string
	}{
		"from metadata":             {from: "metadata.species", want: "wren"},
		"from metadata, with none":  {from: "metadata.species", fault: job.Permanent(errors.New("no file has a label"))},
		"from a column of the data": {},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := setup(t)
				b.platform.noLabels = tc.fault
				v := b.register(t, own, "films", "ft-old")
				v.Run, v.LabelFrom = "ft-new", tc.from
				_, err := b.registry.Register(t.Context(), v, disk.Folder{Volume: b.dir, Name: "model-of-ft-old"}, func(*registry.Version) (bool, string) { return true, "" })
				require.NoError(t, err)
				b.acceptPrediction(t, nil)
				b.runUntilOver(t)
				spec := b.spec(t)
				require.Equal(t, "ft-new", spec.Model.Run)
				require.Equal(t, []string{tc.from, tc.want}, []string{b.platform.labelsFrom, spec.Inputs[0].Label})
			})
		})
	}
}

func TestATrainingIsMeasuredAgainstTheChampionOfItsName(t *testing.T) {
	own := jobtest.Record(run, "h").Request.DatasetID
	for name, tc := range map[string]struct {
		dataset string
		form    map[string]any
		want    string
	}{
		"of the dataset":                     {"Films", nil, "films"},
		"of the name that is chosen":         {"Films", map[string]any{"more_options": "epochs: 2\n output.register_as : 'Stars!' # mine\n"}, "stars"},
		"of the name that the long form has": {"Films", map[string]any{"output": map[string]any{"register_as": "Stars!"}}, "stars"},
		"of a name that is new":              {"Birds", nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := setup(t)
				b.register(t, own, "films", "ft-films")
				b.register(t, own, "stars", "ft-stars")
				rec := jobtest.Record(run, "h1")
				rec.Request.Name, rec.Request.Parameters, rec.Request.Extractor = tc.dataset, tc.form, "ncsa.ray.finetune-advanced"
				_, _, err := b.store.Accept(t.Context(), rec)
				require.NoError(t, err)
				b.runUntilOver(t)
				spec := b.spec(t)
				require.Equal(t, job.Train, spec.Kind)
				require.Nil(t, spec.Model)
				if tc.want == "" {
					require.Nil(t, spec.Champion)
					return
				}
				want := &attempt.SpecModel{Path: "../../registry/" + own + "/" + tc.want + "/1/model", Run: "ft-" + tc.want, Name: tc.want, Version: 1}
				require.Equal(t, want, spec.Champion)
			})
		})
	}
}
