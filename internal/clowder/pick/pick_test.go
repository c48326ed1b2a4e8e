package pick_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder/pick"
)

const id, other = "655fd7c3e4b0a1b2c3d4e5f6", "655fd7c3e4b0a1b2c3d4e5f7"

func TestAValueOfAFieldIsReadInEveryForm(t *testing.T) {
	t.Parallel()
	selector := `{"selectionID":"` + id + `","selectionName":"val/","datasetId":"` + other + `","selectionType":"Folder"}`
	folder := pick.Pick{ID: id, Name: "val", Dataset: other, Kind: pick.Folder}
	for value, want := range map[string][]pick.Pick{
		"":                nil,
		"  ":              nil,
		"/":               nil,
		id:                {{ID: id}},
		id + ", " + other: {{ID: id}, {ID: other}},
		"a b, c.csv":      {{Name: "a b, c.csv"}},
		"/imgs/train/":    {{Name: "imgs/train", Kind: pick.Folder}},
		"[2024] a.csv":    {{Name: "[2024] a.csv"}},
		"{x":              {{Name: "{x"}},
		selector:          {folder},
		`"` + strings.ReplaceAll(selector, `"`, `\"`) + `"`: {folder},
		`[` + selector + `,"` + id + `","a.csv"]`:           {folder, {ID: id}, {Name: "a.csv"}},
		`[]`:                                    nil,
		`{"selectionID":"","selectionName":""}`: nil,
		`{"selectionName":"a.csv","selectionType":"file"}`: {{Name: "a.csv", Kind: pick.File}},
		`{"selectionID":"` + id + `","datasetId":null}`:    {{ID: id}},
		`{"SelectionId":"` + id + `","more":{"deep":[1]}}`: {{ID: id}},
	} {
		picks, err := pick.Parse(value)
		require.NoError(t, err, value)
		require.Equal(t, want, picks, value)
	}
}

func TestAValueThatIsNoChoiceIsRefused(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		`{"selectionID":"../../etc"}`:                          "no id of Clowder",
		`{"selectionID":"` + id + `","datasetId":"x y"}`:       "no id of Clowder",
		`{"selectionID":"` + id + `","selectionType":"space"}`: "is the choice of a space",
		`{"selectionID":7}`:                                    "is JSON that is no choice",
		`[7]`:                                                  "is JSON that is no choice",
		`[[[[[["a"]]]]]]`:                                      "is JSON that is no choice",
		`["` + strings.Repeat(id+`","`, 100) + `a"]`:           "the limit is 100",
	} {
		_, err := pick.Parse(value)
		require.ErrorContains(t, err, want, value)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`{"selectionID":"` + id + `"}`)
	f.Add(`["a","` + id + `"]`)
	f.Fuzz(func(t *testing.T, value string) {
		picks, err := pick.Parse(value)
		for _, p := range picks {
			require.True(t, err != nil || p.ID != "" || p.Name != "")
		}
	})
}
