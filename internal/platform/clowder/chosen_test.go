package clowder

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/platform"
)

// choiceTest is a dataset of alice's, another one that bob may read, and one that he may not.
type choiceTest struct {
	*deliveryTest

	other, closed string
	ids           map[string]string
}

func newChoice(t *testing.T, version int, user string) *choiceTest {
	t.Helper()
	d := &choiceTest{deliveryTest: newDeliveryTo(t, version, user), ids: map[string]string{}}
	d.rec.Request.Extractor = "ncsa.ray.finetune-advanced"
	d.other, d.closed = d.server.AddDataset(alice, "Reviews/2023"), d.server.AddDataset("carol@example.org", "Secret birds")
	d.server.Share(d.other, bob, map[int]string{1: "editor", 2: "viewer"}[version])
	for dataset, paths := range map[string][]string{
		d.rec.Request.DatasetID: {"a.csv", "imgs/train/cats/1.png", "imgs/train/dogs/2.png", "imgs/val/cats/3.png", "finetune.yaml", "finetune/r/manifest.json"},
		d.other:                 {"held/b.csv", "held/deep/c.csv", "settings.yaml", "finetune.yaml"},
		d.closed:                {"secret/d.csv"},
	} {
		for _, path := range paths {
			id, err := d.server.AddFile(dataset, path, strings.NewReader(path))
			require.NoError(t, err)
			if dataset != d.rec.Request.DatasetID {
				path = "other:" + path
			}
			d.ids[path], d.ids[strings.TrimSuffix(path, "/"+path[strings.LastIndex(path, "/")+1:])+"/"] = id, d.server.FolderOf(id)
		}
	}
	return d
}

// staged stages with a form and returns the names of the files, after all that decides over them.
func (d *choiceTest) staged(t *testing.T, form map[string]any) ([]job.Input, error) {
	t.Helper()
	rec, e := d.rec, d.platform.extractors.Of(d.rec.Request)
	settings, err := e.Settings(form, func(string) {})
	if err != nil {
		return nil, err
	}
	rec.Settings = settings
	inputs, _, err := d.platform.Stage(t.Context(), rec, disk.Folder{Volume: t.TempDir()}, quiet)
	if err != nil {
		return nil, err
	}
	settings, err = e.NameSingle(settings, inputs)
	require.NoError(t, err)
	return inputs, platform.Choose(settings.Values, inputs)
}

func (d *choiceTest) selector(dataset, id, kind string) map[string]any {
	return map[string]any{"selectionID": id, "selectionName": "any", "datasetId": dataset, "selectionType": kind}
}

func TestAFormChoosesFilesAndFolders(t *testing.T) {
	t.Parallel()
	for _, version := range []int{1, 2} {
		for name, tc := range map[string]struct {
			form func(d *choiceTest) map[string]any
			want []string // beside those that keep their names
		}{
			"a test file by its id":   {func(d *choiceTest) map[string]any { return map[string]any{"test_file": d.ids["a.csv"]} }, []string{"test (form)/a.csv"}},
			"a test file by its path": {func(*choiceTest) map[string]any { return map[string]any{"test_file": "imgs/val/cats/3.png"} }, []string{"test (form)/3.png"}},
			"a test file by its name": {func(*choiceTest) map[string]any { return map[string]any{"test_file": "3.png"} }, []string{"test (form)/3.png"}},
			"folders by path and by id": {
				func(d *choiceTest) map[string]any {
					return map[string]any{"data_file": "imgs/train/", "validation_file": d.selector("", d.ids["imgs/val/cats/"], "folder")}
				},
				[]string{"train (form, imgs, train)/cats/1.png", "train (form, imgs, train)/dogs/2.png", "validation (form, imgs, val, cats)/3.png"},
			},
			"only a folder to train on": {
				func(*choiceTest) map[string]any { return map[string]any{"data_file": "imgs/train"} },
				[]string{"data (form, imgs, train)/cats/1.png", "data (form, imgs, train)/dogs/2.png"},
			},
			"a test file in the training folder": {
				func(*choiceTest) map[string]any {
					return map[string]any{"data_file": "imgs", "test_file": "imgs/train/dogs/2.png"}
				},
				[]string{"test (form)/2.png", "train (form, imgs)/train/cats/1.png", "train (form, imgs)/val/cats/3.png"},
			},
			"a folder and a name in another one": {
				func(*choiceTest) map[string]any {
					return map[string]any{"test_file": []any{"imgs/val/", "1.png"}, "data_folder": "imgs/train"}
				},
				[]string{"test (form)/1.png", "test (form, imgs, val)/cats/3.png", "train (form, imgs, train)/dogs/2.png"},
			},
			"a folder of another dataset": {
				func(d *choiceTest) map[string]any {
					return map[string]any{"test_file": d.selector(d.other, d.ids["other:held/"], "folder")}
				},
				[]string{"test (form, Reviews_2023, held)/b.csv", "test (form, Reviews_2023, held)/deep/c.csv"},
			},
			"a list with files of two datasets": {
				func(d *choiceTest) map[string]any {
					return map[string]any{"annotation_file": []any{"a.csv", d.selector(d.other, d.ids["other:held/b.csv"], "file")}}
				},
				[]string{"labels (form)/a.csv", "labels (form, Reviews_2023)/b.csv"},
			},
			"settings of another dataset": {
				func(d *choiceTest) map[string]any {
					return map[string]any{"config_file": d.selector(d.other, d.ids["other:settings.yaml"], "file"), "test_file": "a.csv"}
				},
				[]string{"settings (form, Reviews_2023)/settings.yaml", "test (form)/a.csv"},
			},
		} {
			d := newChoice(t, version, bob)
			inputs, err := d.staged(t, tc.form(d))
			require.NoError(t, err, name)
			var named []string
			for _, in := range inputs {
				if strings.Contains(in.Name, "(form") {
					named = append(named, in.Name)
				}
				if strings.Contains(in.Name, "2023") {
					require.Equal(t, d.line.URL+"/datasets/"+d.other, in.Source, name)
				} else {
					require.Empty(t, in.Source, name)
				}
			}
			slices.Sort(named)
			require.Equal(t, tc.want, named, "%s, v%d", name, version)
		}
	}
}

func TestABareIDOfAnotherDatasetIsFoundWhereThePageSendsOne(t *testing.T) {
	t.Parallel()
	d := newChoice(t, 2, bob)
	inputs, err := d.staged(t, map[string]any{"test_file": d.ids["other:held/b.csv"]})
	require.NoError(t, err)
	require.True(t, slices.ContainsFunc(inputs, func(in job.Input) bool { return in.Name == "test (form, Reviews_2023)/b.csv" }))
}

func TestWhatAUserMayNotReadIsASentence(t *testing.T) {
	t.Parallel()
	none := strings.Repeat("0", 24)
	for _, version := range []int{1, 2} {
		for name, tc := range map[string]struct {
			form func(d *choiceTest) map[string]any
			want string
		}{
			"a file of a closed dataset": {func(d *choiceTest) map[string]any {
				return map[string]any{"test_file": d.selector(d.closed, d.ids["other:secret/d.csv"], "file")}
			}, "which you may not read"},
			"a folder of a closed dataset": {func(d *choiceTest) map[string]any {
				return map[string]any{"test_file": d.selector(d.closed, d.ids["other:secret/"], "folder")}
			}, "which you may not read"},
			"a closed file in the own dataset": {func(d *choiceTest) map[string]any {
				return map[string]any{"test_file": d.selector(d.rec.Request.DatasetID, d.ids["other:secret/d.csv"], "file")}
			}, "neither a file or folder of the dataset"},
			"a bare id of a closed file":  {func(d *choiceTest) map[string]any { return map[string]any{"config_file": d.ids["other:secret/d.csv"]} }, "neither a file or folder of the dataset"},
			"a dataset that is not there": {func(d *choiceTest) map[string]any { return map[string]any{"test_file": d.selector(none, none, "file")} }, "which you may not read or which was deleted"},
			"a file that was deleted": {func(d *choiceTest) map[string]any {
				return map[string]any{"test_file": d.selector(d.other, none, "file")}
			}, "not in its dataset any more"},
			"a name that is nowhere": {func(*choiceTest) map[string]any { return map[string]any{"test_file": "b.csv"} }, "there is no file or folder b.csv in the dataset"},
			"a list with a name that is nowhere": {func(*choiceTest) map[string]any {
				return map[string]any{"test_file": []any{"a.csv", "gone.csv"}}
			}, "there is no file or folder gone.csv in the dataset"},
			"a list of data with a folder that is nowhere": {func(*choiceTest) map[string]any {
				return map[string]any{"data_file": []any{"a.csv", "gone/"}}
			}, "there is no file or folder gone in the dataset"},
			"a folder of data that is nowhere": {func(*choiceTest) map[string]any { return map[string]any{"data_folder": "gone"} }, "there is no file or folder gone in the dataset"},
			"a name in the own dataset that is nowhere": {func(d *choiceTest) map[string]any {
				return map[string]any{"test_file": map[string]any{"selectionName": "gone.csv", "datasetId": d.rec.Request.DatasetID}}
			}, "neither a file or folder of the dataset"},
			"one file for two uses": {func(*choiceTest) map[string]any {
				return map[string]any{"test_file": "a.csv", "validation_file": "a.csv"}
			}, "a file has one use"},
			"JSON that is no choice": {func(*choiceTest) map[string]any { return map[string]any{"test_file": `{"selectionID": 7}`} }, "is JSON that is no choice"},
		} {
			d := newChoice(t, version, bob)
			_, err := d.staged(t, tc.form(d))
			require.ErrorContains(t, err, tc.want, "%s, v%d", name, version)
			kind, _ := job.Classify(err)
			require.Equal(t, job.KindPermanent, kind, name)
			for _, leaked := range []string{"Secret birds", "d.csv", "secret/"} {
				require.NotContains(t, err.Error(), leaked, name)
			}
		}
	}
}

func TestTwoFoldersOfOneNameAreToldApart(t *testing.T) {
	t.Parallel()
	d := newChoice(t, 2, bob)
	dataset := d.rec.Request.DatasetID
	first, err := d.server.AddFile(dataset, "twice/x.csv", strings.NewReader("x"))
	require.NoError(t, err)
	second, err := d.server.AddFileTo(dataset, d.server.AddFolder(dataset, "twice"), "y.csv", strings.NewReader("y"))
	require.NoError(t, err)
	_, err = d.staged(t, map[string]any{"test_file": "twice"})
	require.ErrorContains(t, err, "has two of this name")
	for _, file := range []string{first, second} {
		inputs, err := d.staged(t, map[string]any{"test_file": d.selector(dataset, d.server.FolderOf(file), "folder")})
		require.NoError(t, err)
		var tested []string
		for _, in := range inputs {
			if strings.HasPrefix(in.Name, "test (form") {
				tested = append(tested, in.ID)
			}
		}
		require.Equal(t, []string{file}, tested, "nothing of the other folder")
	}
	inputs, err := d.staged(t, map[string]any{"test_file": []any{d.server.FolderOf(first), d.server.FolderOf(second)}})
	require.NoError(t, err)
	require.Len(t, inputs, 7, "nothing is lost")
}

func TestPredictionsForFilesThatTakeNone(t *testing.T) {
	t.Parallel()
	d := newChoice(t, 2, bob)
	d.rec.Request.Extractor, d.rec.Kind = "ncsa.ray.predict", job.Predict
	form := map[string]any{"data_file": d.selector(d.other, d.ids["other:held/b.csv"], "file"), "write": "metadata"}
	_, err := d.staged(t, form)
	require.ErrorContains(t, err, "you may view this dataset but not add files to it", "not after the work")
	form["write"] = "csv_file"
	_, err = d.staged(t, form)
	require.NoError(t, err)
}
