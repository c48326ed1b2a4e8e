package pipeline

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/jobtest"
	"github.com/ncsa/clowder-ray/internal/options"
)

// Each of these sources set an option that the service acts on itself, and which it once read in the form alone.
func TestTheServiceActsOnAnOptionFromEverySource(t *testing.T) {
	dataset := jobtest.Record(run, "h").Request.DatasetID
	for name, source := range map[string]struct {
		files map[string]string
		form  map[string]any
	}{
		"more_options":            {nil, map[string]any{"more_options": "LINES"}},
		"the file of the dataset": {map[string]string{"finetune.yaml": "LINES"}, nil},
		"a chosen YAML file":      {map[string]string{"a.yml": "LINES"}, map[string]any{"config_file": "a.yml"}},
		"a chosen Python file":    {map[string]string{"a.py": "PYTHON"}, map[string]any{"config_file": "a.py"}},
	} {
		for _, c := range []struct {
			lines, python string
			check         func(t *testing.T, b *bench)
		}{
			{"max_minutes: 600", "max_minutes = 600", func(t *testing.T, b *bench) {
				t.Helper()
				require.Equal(t, 10*time.Hour+30*time.Minute, b.ray.attempts[0].Resources.Limit, "KubeRay ends the run no earlier")
			}},
			{"use_gpu: yes", "use_gpu = 'yes'", func(t *testing.T, b *bench) {
				t.Helper()
				require.True(t, b.ray.attempts[0].Resources.GPU, "the cluster is made with a GPU")
			}},
			{"num_workers: 4", "num_workers = 4", func(t *testing.T, b *bench) {
				t.Helper()
				require.Equal(t, 4, b.ray.attempts[0].Resources.Workers, "the cluster is made for four workers")
			}},
			{"register-as: Stars!", "output = {'Register-As': 'Stars!'}", func(t *testing.T, b *bench) {
				t.Helper()
				require.Equal(t, "stars", b.spec(t).Champion.Name, "the model is compared with the champion of its name")
				require.Equal(t, "Stars!", b.get(t, run).Settings.RegisterAs)
			}},
			{"output.register_as: stars", "register_as = 'stars'", func(t *testing.T, b *bench) {
				t.Helper()
				require.Equal(t, "stars", b.spec(t).Champion.Name)
			}},
			{"label_from: metadata.species", "label_from = 'metadata.species'", func(t *testing.T, b *bench) {
				t.Helper()
				require.Equal(t, "metadata.species", b.platform.labelsFrom)
				require.Equal(t, "wren", b.spec(t).Inputs[0].Label)
			}},
			{"dry_run: true", "dry_run = True", func(t *testing.T, b *bench) {
				t.Helper()
				require.True(t, b.get(t, run).Settings.DryRun)
			}},
		} {
			t.Run(name+" sets "+c.python, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					b := setup(t)
					b.register(t, dataset, "stars", "ft-stars")
					b.platform.files = map[string]string{}
					for file, text := range source.files {
						b.platform.files[file] = strings.NewReplacer("LINES", c.lines, "PYTHON", c.python).Replace(text)
					}
					form := map[string]any{}
					for field, value := range source.form {
						form[field] = strings.Replace(value.(string), "LINES", c.lines, 1)
					}
					b.accept(t, run, form)
					b.runUntilOver(t)
					require.Len(t, b.ray.attempts, 1)
					c.check(t, b)
				})
			})
		}
	}
}

func TestTheSpecSaysWhatCountsAndWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		b.platform.files = map[string]string{"finetune.yaml": "epochs: 5\nepoch: 7\nseed: 8\n"}
		b.accept(t, run, map[string]any{"epochs": 9, "more_options": "stride: 16"})
		b.runUntilOver(t)
		spec := b.spec(t)
		require.EqualValues(t, 9, spec.Settings["epochs"])
		require.EqualValues(t, 8, spec.Settings["seed"])
		require.Equal(t, []options.Source{options.OfForm, options.OfLines, options.OfDatasetFile, options.OfTable},
			[]options.Source{spec.Sources["epochs"], spec.Sources["stride"], spec.Sources["seed"], spec.Sources["layers"]})
		require.Equal(t, []options.Note{
			{Code: options.UnknownOption, Text: "In finetune.yaml (line 2): There is no option epoch: do you mean epochs?", Option: "epoch", Value: "7", Source: options.OfDatasetFile},
			{Code: options.TwoValues, Text: "The option epochs is 9 in the form and 5 in finetune.yaml (line 1): the form counts."},
		}, spec.Notes)
	})
}

// A purpose that a file of settings names counts as one that the form names, and what it says is in the spec and in no log.
func TestFilesAreChosenForAPurposeFromEverySource(t *testing.T) {
	for name, source := range map[string]struct {
		files map[string]string
		form  map[string]any
	}{
		"the form":                {nil, map[string]any{"test_file": "held/"}},
		"the selector":            {nil, map[string]any{"test_file": map[string]any{"selectionName": "held", "selectionType": "folder"}}},
		"an old form":             {nil, map[string]any{"TEST_FOLDER": "held", "NUM_LABELS": 3, "HF_TOKEN": "s3cret"}},
		"more_options":            {nil, map[string]any{"more_options": "test_file: held\nHF_TOKEN: s3cret"}},
		"the file of the dataset": {map[string]string{"finetune.yaml": "test_file: held\nHF_TOKEN: s3cret\n"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := setup(t)
				b.platform.files = map[string]string{"held/train_1.csv": "a,b", "held/deep/2.csv": "a,b"}
				maps.Copy(b.platform.files, source.files)
				rec := jobtest.Record(run, "h")
				rec.Request.Extractor, rec.Request.Parameters = "ncsa.ray.finetune-advanced", source.form
				_, _, err := b.store.Accept(t.Context(), rec)
				require.NoError(t, err)
				b.runUntilOver(t)
				names := map[string]bool{}
				for _, in := range b.spec(t).Inputs {
					names[in.Name] = true
				}
				require.True(t, names["train.csv"])
				require.True(t, names["test (form, held)/train_1.csv"])
				require.True(t, names["test (form, held)/deep/2.csv"])
				told, err := json.Marshal([]any{b.spec(t), b.texts(run, ""), b.get(t, run).Settings})
				require.NoError(t, err)
				require.NotContains(t, string(told), "s3cret")
			})
		})
	}
}

func TestAFileThatIsNotThereEndsAJobBeforeACluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		b.accept(t, run, map[string]any{"more_options": "validation_file: gone.csv"})
		b.runUntilOver(t)
		require.Empty(t, b.ray.submits)
		require.Contains(t, b.get(t, run).Ending.Text, "here is no file or folder gone.csv in the dataset: choose another one as validation_file")
	})
}

func TestWrongSettingsEndAJobBeforeACluster(t *testing.T) {
	for name, tc := range map[string]struct {
		files map[string]string
		form  map[string]any
		want  string
	}{
		"a file that cannot be read":  {map[string]string{"finetune.yaml": "training:\n\tseed: 7\n"}, nil, "finetune.yaml, line 2, column 1: "},
		"broken JSON":                 {map[string]string{"a.json": "{\n \"epochs\": 5,\n}"}, map[string]any{"config_file": "a.json"}, "a.json, line 3, column 1: "},
		"Python that computes":        {map[string]string{"a.py": "seed = 1\nepochs = 2 * 3\n"}, map[string]any{"config_file": "a.py"}, "a.py, line 2, column 10: "},
		"a wrong value":               {map[string]string{"finetune.yaml": "epochs: 900\n"}, nil, "finetune.yaml, line 1, column 9: epochs must be a whole number from 1 to 200, not 900."},
		"a line that is no option":    {nil, map[string]any{"more_options": "seed: 1\nfaster"}, "more_options, line 2, column 1: "},
		"a chosen file that is none":  {map[string]string{"b.yaml": ""}, map[string]any{"config_file": "a.yaml"}, "there is no settings file a.yaml in the dataset: choose another one as config_file, or leave it empty (the dataset has b.yaml)"},
		"a large file":                {map[string]string{"finetune.yaml": strings.Repeat("#", options.MaxBytes+1)}, nil, "larger than 1 MiB"},
		"a file with two wrong lines": {map[string]string{"finetune.yaml": "epochs: 900\nseed: -1\n"}, nil, "There is 1 further error."},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := setup(t)
				b.platform.files = tc.files
				b.accept(t, run, tc.form)
				b.runUntilOver(t)
				require.Empty(t, b.ray.submits)
				rec := b.get(t, run)
				require.Equal(t, job.Failed, rec.State)
				require.True(t, rec.Ending.BadInput)
				require.Contains(t, strings.ToLower(rec.Ending.Text), strings.ToLower(tc.want))
			})
		})
	}
}

func TestAUserHearsThatNoSettingsCame(t *testing.T) {
	for name, tc := range map[string]struct {
		missing    bool
		parameters map[string]any
		want       int
	}{
		"a message without parameters":  {true, nil, 1},
		"a form that was left as it is": {false, nil, 0},
		"a form":                        {false, map[string]any{"epochs": 4}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := setup(t)
				rec := jobtest.Record(run, "h1")
				rec.Request.Parameters, rec.Request.NoParameters = tc.parameters, tc.missing
				_, _, err := b.store.Accept(t.Context(), rec)
				require.NoError(t, err)
				b.runUntilOver(t)
				require.Equal(t, job.Done, b.get(t, run).State)
				require.Len(t, b.texts(run, "No settings came"), tc.want)
			})
		})
	}
}

// A job that an older version staged has no resolved options; its files are on the volume.
func TestAJobOfAnOlderVersionIsResolvedWhenItIsSubmitted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		b.platform.files = map[string]string{"finetune.yaml": "num_workers: 4\n"}
		b.accept(t, run, nil)
		rec := b.get(t, run)
		change, err := b.stager.StageInputs(t.Context(), rec)
		require.NoError(t, err)
		_, err = b.store.Change(t.Context(), run, func(r *job.Record) error {
			if err := change(r); err != nil {
				return err
			}
			r.Settings, r.Resolved = job.NewSettings(r.Settings.Values), nil
			return nil
		})
		require.NoError(t, err)
		b.runUntilOver(t)
		require.Equal(t, 4, b.ray.attempts[0].Resources.Workers)
		require.EqualValues(t, 4, b.spec(t).Settings["num_workers"])
		require.Equal(t, 4, b.get(t, run).Settings.Workers)
	})
}
