package label

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
)

func TestCommasInKeysDivideNothing(t *testing.T) {
	t.Parallel()
	for from, want := range map[string][]string{
		"metadata.species":                                 {"metadata.species"},
		"metadata.species, metadata.count":                 {"metadata.species", "metadata.count"},
		"metadata.species,metadata.count,metadata.species": {"metadata.species", "metadata.count"},
		"metadata.height, cm":                              {"metadata.height, cm"},
		"metadata.height, cm, metadata.Plant Species":      {"metadata.height, cm", "metadata.Plant Species"},
		"metadata.http://purl.org/dc/terms/species, tags":  {"metadata.http://purl.org/dc/terms/species", "tags"},
		"tags, sections, metadata.a.b":                     {"tags", "sections", "metadata.a.b"},
		"metadata.height, tags of plants":                  {"metadata.height, tags of plants"},
		" ":                                                nil,
	} {
		require.Equal(t, want, partsOf(from), from)
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
	label, _ := labelIn(notes, "species")
	require.Equal(t, "of a person", label)
	label, _ = labelIn([]clowder.Note{notes[2]}, "species")
	require.Equal(t, "of an extractor", label)
	label, _ = labelIn([]clowder.Note{{Content: map[string]any{"species": strings.Repeat("x", maxLabel+1)}}}, "species")
	require.Empty(t, label)
}

func TestTheNewestVersionThatHasALabelCounts(t *testing.T) {
	t.Parallel()
	notes := []clowder.Note{
		{Content: map[string]any{"species": "first"}, ByPerson: true, Version: 1},
		{Content: map[string]any{"species": "second"}, Version: 2},
		{Content: map[string]any{"predicted": "wren"}, Version: 3},
	}
	clowder.SortNotes(notes)
	label, version := labelIn(notes, "species")
	require.Equal(t, "second", label)
	require.Equal(t, 2, version)
}

func TestAValueOfMetadataAsALabel(t *testing.T) {
	t.Parallel()
	object := func(label any, score ...float64) map[string]any {
		made := map[string]any{"label": label, "uri": "http://example.org/x"}
		if len(score) > 0 {
			made["score"] = score[0]
		}
		return made
	}
	for name, tc := range map[string]struct {
		content map[string]any
		key     string
		want    string
	}{
		"a list of one":                     {map[string]any{"species": []any{"wren"}}, "species", "wren"},
		"a list of several":                 {map[string]any{"species": []any{"wren", "robin", "wren"}}, "species", "wren;robin"},
		"an empty list":                     {map[string]any{"species": []any{}}, "species", ""},
		"a list with something else":        {map[string]any{"species": []any{"wren", []any{"robin"}}}, "species", ""},
		"an annotation":                     {map[string]any{"species": object("wren")}, "species", "wren"},
		"annotations":                       {map[string]any{"species": []any{object("wren"), object("robin")}}, "species", "wren;robin"},
		"answers of a classifier":           {map[string]any{"Output": []any{object("robin", 0.2), object("wren", 0.7)}}, "Output", "wren"},
		"scores of some only":               {map[string]any{"Output": []any{object("robin", 0.2), object("wren")}}, "Output", "robin;wren"},
		"negative scores":                   {map[string]any{"Output": []any{object("robin", -2), object("wren", -0.5)}}, "Output", "wren"},
		"an object without a label":         {map[string]any{"species": map[string]any{"uri": "x"}}, "species", ""},
		"a key with a blank":                {map[string]any{"Plant Species": "maize"}, "Plant Species", "maize"},
		"a key in other case":               {map[string]any{"Plant Species": "maize"}, "plant_species", "maize"},
		"an address as key":                 {map[string]any{"http://purl.org/dc/terms/species": "maize"}, "species", "maize"},
		"the whole address":                 {map[string]any{"http://purl.org/dc/terms/species": "maize"}, "http://purl.org/dc/terms/species", "maize"},
		"an anchor as key":                  {map[string]any{"https://schema.org/x#species": "maize"}, "species", "maize"},
		"two keys that differ by case":      {map[string]any{"Species": "maize", "SPECIES": "rice"}, "species", ""},
		"the exact one of two keys":         {map[string]any{"Species": "maize", "species": "rice"}, "species", "rice"},
		"a nested key in other case":        {map[string]any{"site": map[string]any{"Soil Type": "clay"}}, "site.soil_type", "clay"},
		"a set that is longer than allowed": {map[string]any{"species": []any{strings.Repeat("x", 150), strings.Repeat("y", 150)}}, "species", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			label, _ := labelIn([]clowder.Note{{Content: tc.content}}, tc.key)
			require.Equal(t, tc.want, label)
		})
	}
}
