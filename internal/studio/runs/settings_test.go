package runs

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/results"
)

func TestASettingSaysWhereItCameFrom(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]struct {
		from    string
		changed bool
	}{
		sourceDefault:        {"default", false},
		results.SourceChosen: {"chosen automatically", false},
		sourceAdministrator:  {"set by the administrator", false},
		sourceForm:           {"from the form", true},
		"dataset":            {"from the settings file of the dataset", true},
		"settings file":      {"from the settings file", true},
		"sweep.yaml":         {"from sweep.yaml", true},
		"two\nlines":         {"from two lines", true},
		"":                   {"from a file", true},
	} {
		got := newSetting("epochs", 3.0, source)
		require.Equal(t, Setting{Name: "epochs", Value: 3.0, Text: "3", Source: source, From: want.from, Changed: want.changed}, got, source)
	}
}

func TestWhatAPersonChoseComesFirst(t *testing.T) {
	t.Parallel()
	r := &results.Result{}
	for _, s := range [][2]string{
		{"a", sourceDefault}, {"b", results.SourceChosen}, {"c", sourceForm}, {"d", sourceAdministrator}, {"e", "settings file"}, {"f", results.SourceChosen},
	} {
		r.Settings = append(r.Settings, results.Setting{Name: s[0], Source: s[1]})
	}
	list := settingsOf(r)
	var order []string
	for _, s := range list {
		order = append(order, s.Name)
	}
	require.Equal(t, []string{"c", "e", "b", "f", "a", "d"}, order, "in each part they stay in the order of the trainer")
	require.Equal(t, 2, countChanged(list))
	require.Zero(t, countChanged(nil))
	require.Equal(t, []Setting{}, settingsOf(&results.Result{}), "an empty list is one in JSON, too")
}

func TestARunWithoutAResultShowsWhatItsFormSaid(t *testing.T) {
	t.Parallel()
	e := forms(t)[1]
	names := func(rec job.Record) (out []string) {
		for _, s := range settingsOfForm(rec, e) {
			require.Equal(t, sourceForm, s.Source)
			out = append(out, s.Name+"="+s.Text)
		}
		return out
	}
	checked := job.Record{Settings: job.Settings{Values: map[string]any{"seed": float64(7), "epochs": int64(5), "batch_size": int64(32), "output.register_as": "films"}}}
	require.Equal(t, []string{"epochs=5", "seed=7", "output.register_as=films"}, names(checked), "in the order of the form, without defaults, in groups")
	require.Equal(t, []string{"epochs=5"}, names(job.Record{Request: job.Request{Parameters: map[string]any{"epochs": "5"}}}), "parameters that were not checked yet")
	require.Empty(t, names(job.Record{Request: job.Request{Parameters: map[string]any{"epochs": "many"}}}), "what is wrong is the end of the run")
	require.Equal(t, []Setting{}, settingsOfForm(job.Record{}, e))
}

func TestAFileIsShownWithItsName(t *testing.T) {
	t.Parallel()
	const id = "0123456789abcdef01234567"
	inputs := []Input{{ID: "ffffffffffffffffffffffff", Name: "other.csv", Version: 9}, {ID: id, Name: "code/finetune.yaml", Version: 4}, {ID: "fedcba9876543210fedcba98", Name: "old.yaml"}}
	for given, want := range map[string]string{
		id:                         "code/finetune.yaml, version 4",
		"fedcba9876543210fedcba98": "old.yaml",
		"aaaaaaaaaaaaaaaaaaaaaaaa": "a file of the dataset",
		"settings.yaml":            "settings.yaml",
		"":                         "",
	} {
		require.Equal(t, want, fileText(given, inputs), given)
	}
	list := []Setting{newSetting("config_file", id, sourceForm), newSetting("run_name", id, sourceForm)}
	list = withFileNames(list, forms(t)[0], inputs)
	require.Equal(t, "code/finetune.yaml, version 4", list[0].Text)
	require.Equal(t, id, list[0].Value, "programs read the id")
	require.Equal(t, id, list[1].Text, "a field that names no file is left alone")
}

func TestWhatTheTrainerHasChosenSoFarIsShown(t *testing.T) {
	t.Parallel()
	list := []Setting{newSetting("epochs", int64(5), sourceForm)}
	list = withChoices(list, []results.Decision{{What: "label_column", Choice: "stars"}, {What: "epochs", Choice: "9"}, {What: "label_column", Choice: "score"}})
	require.Len(t, list, 2)
	require.Equal(t, "5", list[0].Text, "what a person chose stands")
	require.Equal(t, Setting{Name: "label_column", Value: "stars", Text: "stars", Source: results.SourceChosen, From: "chosen automatically"}, list[1], "the first choice stands")
}
