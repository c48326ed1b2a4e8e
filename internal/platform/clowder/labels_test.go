package clowder

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/platform"
)

// TestMetadataOfFilesAreTheirLabels in both versions of Clowder.
func TestMetadataOfFilesAreTheirLabels(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		from  string // what the settings say
		want  string // the label of a.png and b.png
		said  string
		fault string
	}{
		"nobody asks":               {want: ","},
		"the settings ask":          {from: "metadata.species", want: "wren,robin", said: "1 of 3 files have no metadata species and are left out"},
		"a group of metadata":       {from: "metadata.site.number", want: "7,12.5", said: "1 of 3 files"},
		"a value beside a list":     {from: "metadata.mixed", want: "true,x", said: "1 of 3 files"},
		"a name with a point":       {from: "metadata.a_b", want: ",x", said: "2 of 3 files"},
		"no file has it":            {from: "metadata.sex", fault: "no file of the dataset has a label in its metadata sex (its files have a_b, mixed, site, species): add it"},
		"a file has something else": {from: "metadata.site", fault: "no file of the dataset has a label in its metadata site"},
		"the name of a column":      {from: "species", fault: `label_from has "species": write metadata. and the name`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, version := range []int{1, 2} {
				d := newDeliveryTo(t, version, alice)
				for _, settings := range []string{"finetune.yaml", "mine.yaml"} {
					_, err := d.server.AddFile(d.rec.Request.DatasetID, settings, strings.NewReader("epochs: 3"))
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
				rec.Settings.LabelFrom, rec.SettingsFile = tc.from, &job.SettingsFile{Name: "mine.yaml"}
				say := func(text string) { said = append(said, text) }
				inputs, _, err := d.platform.Stage(t.Context(), rec, disk.Folder{Volume: t.TempDir()}, platform.Say{Passing: say, Note: say})
				require.NoError(t, err)
				err = d.platform.Label(t.Context(), rec, inputs, say)
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
				require.NotContains(t, strings.Join(said, "\n"), "new version")
			}
		})
	}
}

func TestALabelOutlivesANewVersionOfItsFile(t *testing.T) {
	t.Parallel()
	d := newDeliveryTo(t, 2, alice)
	for _, name := range []string{"a.png", "b.png"} {
		id, err := d.server.AddFile(d.rec.Request.DatasetID, name, strings.NewReader(name))
		require.NoError(t, err)
		d.server.Describe(id, alice, map[string]any{"species": "wren"})
		if name == "a.png" {
			s := d.client.Bearer(job.Secret(d.server.Token(alice)))
			state, err := s.FileState(t.Context(), id)
			require.NoError(t, err)
			_, err = s.Update(t.Context(), state, []byte("sharper"))
			require.NoError(t, err)
		}
	}
	rec, said := d.rec, []string{}
	rec.Settings = job.NewSettings(map[string]any{"data.label_from": "metadata.species"})
	inputs, _, err := d.platform.Stage(t.Context(), rec, disk.Folder{Volume: t.TempDir()}, hear(&said))
	require.NoError(t, err)
	require.Len(t, inputs, 2)
	require.NoError(t, d.platform.Label(t.Context(), rec, inputs, func(text string) { said = append(said, text) }))
	require.Equal(t, []any{"wren", 2, "wren", 1}, []any{inputs[0].Label, inputs[0].Version, inputs[1].Label, inputs[1].Version})
	require.Contains(t, strings.Join(said, "\n"), "1 file got a new version after the label was written")
}

func TestTheMetadataOfADatasetLabelItsFiles(t *testing.T) {
	t.Parallel()
	for _, version := range []int{1, 2} {
		d := newDeliveryTo(t, version, alice)
		dataset := d.rec.Request.DatasetID
		elsewhere := d.server.AddDataset(alice, "Another capture")
		id := map[string]string{}
		for _, name := range []string{"a.png", "b.png", "c.png"} {
			of := dataset
			if name == "c.png" {
				of = elsewhere
			}
			var err error
			id[name], err = d.server.AddFile(of, name, strings.NewReader(name))
			require.NoError(t, err)
		}
		d.server.Describe(dataset, alice, map[string]any{"Species": "wren", "site": "north"})
		_, err := d.session(t).AddMetadata(t.Context(), dataset, clowder.Metadata{
			Content: map[string]any{"task": "image-classification"}, Contexts: []any{"https://example.org/context"}, Listener: "ncsa.ray.finetune", Version: "1",
		})
		require.NoError(t, err)
		d.server.Describe(elsewhere, alice, map[string]any{"species": "heron"})
		d.server.Describe(id["b.png"], alice, map[string]any{"species": "robin", "site": map[string]any{"number": 7}})
		inputs := []job.Input{
			{ID: id["a.png"], Name: "a.png"},
			{ID: id["b.png"], Name: "b.png"},
			{ID: id["c.png"], Name: "c.png", Source: d.session(t).Address() + "/datasets/" + elsewhere},
		}
		said := []string{}
		label := func(from string) string {
			rec := d.rec
			rec.Settings.LabelFrom, said = from, nil
			if err := d.platform.Label(t.Context(), rec, inputs, func(text string) { said = append(said, text) }); err != nil {
				return err.Error()
			}
			return inputs[0].Label + "," + inputs[1].Label + "," + inputs[2].Label
		}
		require.Equal(t, "wren,robin,heron", label("metadata.species"), "version %d", version)
		require.Equal(t, []string{"2 of 3 files have the metadata species of their dataset"}, said)
		one := inputs[2].Source
		inputs[2].Source, inputs[2].DatasetID = "", elsewhere // as a job of several datasets has it
		require.Equal(t, "wren,robin,heron", label("metadata.species"))
		inputs[2].Source, inputs[2].DatasetID = one, ""
		require.Equal(t, "north,,", label("metadata.site"), "a file that says something else has no label of its dataset")
		require.Contains(t, label("metadata.task"), "no file of the dataset has a label", "what this service writes describes runs")
	}
}

func TestTheOneTagOfAFileIsItsLabel(t *testing.T) {
	t.Parallel()
	d := newDeliveryTo(t, 1, alice)
	inputs := make([]job.Input, 0, 4)
	for _, tags := range [][]string{{"wren"}, {"wren", "robin"}, {"robin", " robin"}, nil} {
		name := strings.Join(tags, "+") + ".png"
		id, err := d.server.AddFile(d.rec.Request.DatasetID, name, strings.NewReader("x"))
		require.NoError(t, err)
		d.server.Tag(id, tags...)
		inputs = append(inputs, job.Input{ID: id, Name: name})
	}
	rec, said := d.rec, []string{}
	rec.Settings.LabelFrom = "tags"
	say := func(text string) { said = append(said, text) }
	require.NoError(t, d.platform.Label(t.Context(), rec, inputs, say))
	require.Equal(t, []string{"wren", "", "robin", ""}, []string{inputs[0].Label, inputs[1].Label, inputs[2].Label, inputs[3].Label})
	require.Equal(t, []string{"2 of 4 files have no tag, or more than one, and are left out"}, said)
	require.ErrorContains(t, d.platform.Label(t.Context(), rec, inputs[1:2], say), "exactly one tag (wren+robin.png has 2)")
	require.ErrorContains(t, d.platform.Label(t.Context(), rec, inputs[3:], say), "no file of the dataset has a tag")

	newer := newDeliveryTo(t, 2, alice)
	newer.rec.Settings.LabelFrom = "tags"
	require.ErrorContains(t, newer.platform.Label(t.Context(), newer.rec, inputs, say), "this Clowder has no tags")
}

func TestAFileWithEndlessMetadataIsLeftOut(t *testing.T) {
	t.Parallel()
	for _, version := range []int{1, 2} {
		d := newDeliveryTo(t, version, alice)
		inputs := make([]job.Input, 0, 2)
		for _, name := range []string{"many.png", "b.png"} {
			id, err := d.server.AddFile(d.rec.Request.DatasetID, name, strings.NewReader(name))
			require.NoError(t, err)
			d.server.Describe(id, alice, map[string]any{"species": "wren"})
			inputs = append(inputs, job.Input{ID: id, Name: name})
		}
		for range 10_000 {
			d.server.Describe(inputs[0].ID, alice, map[string]any{"n": 1})
		}
		rec, said := d.rec, []string{}
		rec.Settings.LabelFrom = "metadata.species"
		say := func(text string) { said = append(said, text) }
		require.NoError(t, d.platform.Label(t.Context(), rec, inputs, say))
		require.Equal(t, []string{"", "wren"}, []string{inputs[0].Label, inputs[1].Label}, "version %d", version)
		require.Contains(t, strings.Join(said, "\n"), "no label of many.png was read")
		err := d.platform.Label(t.Context(), rec, inputs[:1], say)
		require.ErrorContains(t, err, "no label of many.png was read")
		kind, _ := job.Classify(err)
		require.Equal(t, job.KindPermanent, kind)
	}
}
