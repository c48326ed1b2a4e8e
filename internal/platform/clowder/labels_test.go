package clowder

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
)

// TestMetadataOfFilesAreTheirLabels in both versions of Clowder.
func TestMetadataOfFilesAreTheirLabels(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		from     string // what the form says
		more     string // the form's more_options
		settings string // finetune.yaml
		want     string // the label of a.png and b.png
		said     string
		fault    string
	}{
		"nobody asks":                    {want: ","},
		"the form asks":                  {from: "metadata.species", want: "wren,robin", said: "1 of 3 files have no metadata species and are left out"},
		"more_options ask":               {more: "label_from: metadata.species", want: "wren,robin", said: "1 of 3 files"},
		"the settings file asks":         {settings: "label_from: metadata.species\n", want: "wren,robin", said: "1 of 3 files"},
		"the form wins":                  {from: "metadata.site.number", settings: "label_from: metadata.species\n", want: "7,12.5", said: "1 of 3 files"},
		"a text beside a list":           {from: "metadata.mixed", want: "true,", said: "2 of 3 files"},
		"a name with a point":            {from: "metadata.a_b", want: ",x", said: "2 of 3 files"},
		"no file has it":                 {from: "metadata.sex", fault: "no file of the dataset has a label in its metadata sex (its files have a_b, mixed, site, species): add it"},
		"a file has something else":      {from: "metadata.site", fault: "no file of the dataset has a label in its metadata site"},
		"the name of a column":           {from: "species", fault: `label_from is "species": write metadata. and the name`},
		"a settings file that is broken": {settings: "label_from: [", want: ","},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, version := range []int{1, 2} {
				d := newDeliveryTo(t, version, alice)
				if tc.settings != "" {
					_, err := d.server.AddFile(d.rec.Request.DatasetID, "finetune.yaml", strings.NewReader(tc.settings))
					require.NoError(t, err)
				}
				for file, notes := range map[string][]map[string]any{
					"a.png": {{"species": "wre"}, {"species": "wren", "site": map[string]any{"number": 7}, "mixed": true}},
					"b.png": {{"species": " robin\n", "site": map[string]any{"number": 12.5}, "mixed": []any{"x"}}, {"a_b": "x"}},
					"c.png": nil,
				} {
					id, err := d.server.AddFile(d.rec.Request.DatasetID, file, strings.NewReader(file))
					require.NoError(t, err)
					for _, content := range notes {
						d.server.Describe(id, alice, content)
					}
				}
				rec, said := d.rec, []string{}
				rec.Settings = job.NewSettings(map[string]any{"data.label_from": tc.from, "more_options": tc.more})
				inputs, err := d.platform.Stage(t.Context(), rec, disk.Folder{Volume: t.TempDir()}, func(text string) { said = append(said, text) })
				if tc.fault != "" {
					require.ErrorContains(t, err, tc.fault)
					kind, _ := job.Classify(err)
					require.Equal(t, job.KindPermanent, kind)
					continue
				}
				require.NoError(t, err)
				labels := map[string]string{}
				for _, in := range inputs {
					labels[in.Name] = in.Label
				}
				require.Equal(t, tc.want, labels["a.png"]+","+labels["b.png"], "version %d", version)
				require.Empty(t, labels["c.png"])
				require.Contains(t, strings.Join(said, "\n"), tc.said)
			}
		})
	}
}

func TestTheNewestWordOfAPersonIsTheLabel(t *testing.T) {
	t.Parallel()
	notes := []clowder.Note{
		{Content: map[string]any{"species": "of an extractor"}},
		{Content: map[string]any{"species": "of a person"}, ByPerson: true},
		{Content: map[string]any{"species": []any{}}, ByPerson: true},
	}
	clowder.SortNotes(notes)
	require.Equal(t, "of a person", labelIn(notes, "species"))
	require.Equal(t, "of an extractor", labelIn([]clowder.Note{notes[2]}, "species"))
	require.Empty(t, labelIn([]clowder.Note{{Content: map[string]any{"species": strings.Repeat("x", maxLabel+1)}}}, "species"))
}
