package models

import (
	"cmp"
	"encoding/json"
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/answer"
)

// shown is what stands in an argument of curl on the page, as a shell reads it.
var shown = regexp.MustCompile(`(?s)-d '([^']*)'</code>`)

func TestTheExampleOfARequestIsForTheColumnsOfTheVersion(t *testing.T) {
	t.Parallel()
	column := func(name, kind string, categories ...string) answer.Column {
		return answer.Column{Name: name, Type: kind, Categories: categories}
	}
	for name, c := range map[string]struct {
		columns  []answer.Column
		row      string
		protocol string
	}{
		"a text": {
			[]answer.Column{column("text", "text")},
			`{"text":"The ending alone is worth it."}`,
			`{"inputs":[{"name":"text","datatype":"BYTES","shape":[1],"data":["The ending alone is worth it."]}]}`,
		},
		"an image": {
			[]answer.Column{column("image", "image")},
			`{"image":"iVBORw0KGgo="}`,
			`{"inputs":[{"name":"image","datatype":"BYTES","shape":[1],"data":["iVBORw0KGgo="],"parameters":{"content_type":"base64"}}]}`,
		},
		"a table, of which the first four columns": {
			[]answer.Column{
				column("size", "number"), column("colour", "category", "dark blue", "red"), column("day", "date"), column("a", "number"), column("b", "number"),
			},
			`{"size":1.5,"colour":"dark blue","day":"a","a":1.5}`,
			`{"inputs":[{"name":"size","datatype":"BYTES","shape":[1],"data":[1.5]},{"name":"colour","datatype":"BYTES","shape":[1],"data":["dark blue"]},
				{"name":"day","datatype":"BYTES","shape":[1],"data":["a"]},{"name":"a","datatype":"BYTES","shape":[1],"data":[1.5]}]}`,
		},
		"no columns at all": {nil, `{}`, `{"inputs":null}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			view := tryView{Reads: ModelReads{Columns: c.columns}}
			require.JSONEq(t, `{"rows":[`+c.row+`]}`, view.Body())
			require.JSONEq(t, `{"rows":[`+c.row+`]}`, view.Python())
			require.JSONEq(t, c.protocol, view.Protocol())
		})
	}
	require.Empty(t, tryView{Reads: ModelReads{Why: "It has no model.onnx."}}.Protocol())
}

func TestAWordOfADatasetEndsNoArgumentOfAShell(t *testing.T) {
	t.Parallel()
	const category, name = `x'; rm -rf ~ #`, `it's "<b>\`
	f := newFixture(t)
	trainer, err := json.Marshal(map[string]any{
		"kind": "table", "columns": []string{name}, "types": map[string]string{name: "category"},
		"encoder": map[string]any{"columns": []any{map[string]any{"name": name, "categories": []string{category}}}},
	})
	require.NoError(t, err)
	f.register("rows", "table", "trees", "ft-2", map[string]string{"trainer.json": string(trainer)})
	page := f.do("carol", "GET", "/models/"+ds+"/rows").Body.String()
	require.NotContains(t, page, category)
	commands := shown.FindAllStringSubmatch(html.UnescapeString(page), -1)
	require.Len(t, commands, 2, "each argument ends where it should")
	var asked struct{ Rows []map[string]string }
	require.NoError(t, json.Unmarshal([]byte(commands[0][1]), &asked))
	require.Equal(t, []map[string]string{{name: category}}, asked.Rows)
	var inputs struct{ Inputs []answer.Tensor }
	require.NoError(t, json.Unmarshal([]byte(commands[1][1]), &inputs))
	require.Equal(t, name, inputs.Inputs[0].Name)
	require.Equal(t, []any{category}, inputs.Inputs[0].Data)
}

func TestTheFilesOfAVersionSayWhatItReads(t *testing.T) {
	t.Parallel()
	columns := func(n int) string {
		return `["c` + strings.Repeat(`","c`, n-1) + `"]`
	}
	for name, c := range map[string]struct {
		files map[string]string
		want  []answer.Column
		count int
		why   string
	}{
		"categories of the encoder count before those of config.json": {
			map[string]string{
				"trainer.json": `{"kind":"table","columns":["a","b"],"types":{"a":"category","b":"number"},
					"encoder":{"columns":[{"name":"a","categories":["x"]}]}}`,
				"config.json": `{"columns":[{"name":"a","categories":["y"]}]}`,
			}, []answer.Column{{Name: "a", Type: "category", Categories: []string{"x"}}, {Name: "b", Type: "number"}}, 2, "",
		},
		"a damaged config.json costs the lists only": {
			map[string]string{"trainer.json": `{"kind":"table","columns":["a"],"types":{"a":"category"}}`, "config.json": `{`},
			[]answer.Column{{Name: "a", Type: "category"}},
			1, "",
		},
		"a config.json of very many categories costs the lists only": {
			map[string]string{
				"trainer.json": `{"kind":"table","columns":["a"],"types":{"a":"category"}}`,
				"config.json":  `{"columns":[{"name":"a","categories":["x"]}],"padding":"` + strings.Repeat("x", maxConfig) + `"}`,
			}, []answer.Column{{Name: "a", Type: "category"}}, 1, "",
		},
		"a form has at most so many fields": {
			map[string]string{"trainer.json": `{"kind":"table","columns":` + columns(maxColumns+1) + `}`}, nil, maxColumns, "",
		},
		"a table without columns": {map[string]string{"trainer.json": `{"kind":"table"}`}, nil, 0, ""},
		"no trainer.json":         {map[string]string{"config.json": `{}`}, nil, 0, unreadable},
		"a trainer.json of another form": {
			map[string]string{"trainer.json": `{"kind":"table","columns":"a"}`}, nil, 0, unreadable,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			v := f.register("rows", "table", "trees", "ft-2", c.files)
			reads := (&Section{Parts: Parts{Registry: f.registry}}).reads(v)
			require.Equal(t, c.why, reads.Why)
			require.Len(t, reads.Columns, c.count)
			if c.want != nil {
				require.Equal(t, c.want, reads.Columns)
			}
		})
	}
}

func TestAKindWithoutSingleAnswersSaysHowToGetThem(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for kind, why := range map[string]string{
		"graph": "ncsa.ray.predict", "boxes": "Boxes need a picture.",
	} {
		// The kind counts before the missing model.onnx: training again would not help.
		described := map[string]string{"boxes": `{"use":{"snippet":"boxes/boxes","why":"Boxes need a picture."}}`}
		f.register(kind+"s", kind, "base", "ft-"+kind, map[string]string{"trainer.json": cmp.Or(described[kind], `{}`)})
		page := f.do("carol", "GET", "/models/"+ds+"/"+kind+"s").Body.String()
		require.Contains(t, page, why)
		require.NotContains(t, page, "onnx")
		require.NotContains(t, page, "As a request")
	}
}

// TestAVersionSaysItselfWhatItReads: the form of a new kind needs nothing in this program.
func TestAVersionSaysItselfWhatItReads(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	doc := `{"kind":"sound","use":{"snippet":"sound/sound","fields":[{"name":"title","type":"text"},{"name":"mood","type":"category","categories":["calm","wild"]}]}}`
	v := f.register("sounds", "sound", "net", "ft-9", map[string]string{"trainer.json": doc})
	reads := (&Section{Parts: Parts{Registry: f.registry}}).reads(v)
	require.Empty(t, reads.Why)
	require.Equal(t, []answer.Column{{Name: "title", Type: "text"}, {Name: "mood", Type: "category", Categories: []string{"calm", "wild"}}}, reads.Columns)
}
