package clowder

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
)

func TestSeveralKeysAreSeveralColumns(t *testing.T) {
	t.Parallel()
	for _, version := range []int{1, 2} {
		d := newDeliveryTo(t, version, alice)
		d.server.Describe(d.rec.Request.DatasetID, alice, map[string]any{"site": "north"})
		var inputs []job.Input
		for name, notes := range map[string]map[string]any{
			"a.png": {"http://purl.org/dc/terms/species": "wren", "Wing span, cm": 12.5},
			"b.png": {"species": "robin"},
			"c.png": {"site": []any{}},
			"d.png": nil,
		} {
			id, err := d.server.AddFile(d.rec.Request.DatasetID, name, strings.NewReader(name))
			require.NoError(t, err)
			if notes != nil {
				d.server.Describe(id, alice, notes)
			}
			inputs = append(inputs, job.Input{ID: id, Name: name})
		}
		rec, said := d.rec, []string{}
		rec.Settings.LabelFrom = "metadata.site, metadata.species, metadata.Wing span, cm"
		require.NoError(t, d.platform.Label(t.Context(), rec, inputs, func(text string) { said = append(said, text) }))
		columns := map[string][]job.Column{}
		for _, in := range inputs {
			require.Empty(t, in.Label)
			columns[in.Name] = in.Columns
		}
		require.Equal(t, map[string][]job.Column{
			"a.png": {{Name: "site", Value: "north"}, {Name: "species", Value: "wren"}, {Name: "Wing span, cm", Value: "12.5"}},
			"b.png": {{Name: "site", Value: "north"}, {Name: "species", Value: "robin"}, {Name: "Wing span, cm"}},
			"c.png": nil,
			"d.png": {{Name: "site", Value: "north"}, {Name: "species"}, {Name: "Wing span, cm"}},
		}, columns, "version %d", version)
		require.Contains(t, strings.Join(said, "\n"), "1 of 4 files have none of metadata site, metadata species")
		require.Contains(t, strings.Join(said, "\n"), "2 of 4 files have no metadata Wing span, cm, but other labels")
		require.Equal(t, 4, d.server.Requests("GET", "/files/"), "each file is asked once")
	}
}

func TestTheTagsOfSectionsAreTheLabelsOfTheirFile(t *testing.T) {
	t.Parallel()
	d := newDeliveryTo(t, 1, alice)
	var inputs []job.Input
	for _, name := range []string{"a.png", "b.png", "c.png"} {
		id, err := d.server.AddFile(d.rec.Request.DatasetID, name, strings.NewReader(name))
		require.NoError(t, err)
		inputs = append(inputs, job.Input{ID: id, Name: name})
	}
	d.server.Section(inputs[0].ID, "wren")
	d.server.Section(inputs[0].ID, "robin", "wren")
	d.server.Section(inputs[1].ID)
	d.server.Describe(inputs[1].ID, alice, map[string]any{"site": 7})
	rec, said := d.rec, []string{}
	say := func(text string) { said = append(said, text) }
	rec.Settings.LabelFrom = "sections"
	require.NoError(t, d.platform.Label(t.Context(), rec, inputs, say))
	require.Equal(t, []string{"wren;robin", "", ""}, []string{inputs[0].Label, inputs[1].Label, inputs[2].Label})
	require.Equal(t, []string{"2 of 3 files have no section with a tag and are left out"}, said)
	rec.Settings.LabelFrom = "sections, metadata.site"
	require.NoError(t, d.platform.Label(t.Context(), rec, inputs, say))
	require.Equal(t, []job.Column{{Name: "sections"}, {Name: "site", Value: "7"}}, inputs[1].Columns)
	rec.Settings.LabelFrom = "sections"
	require.ErrorContains(t, d.platform.Label(t.Context(), rec, inputs[1:], say), "no file of the dataset has a section with a tag")

	newer := newDeliveryTo(t, 2, alice)
	newer.rec.Settings.LabelFrom = "sections"
	require.ErrorContains(t, newer.platform.Label(t.Context(), newer.rec, inputs, say), "this Clowder has no tags")
}
