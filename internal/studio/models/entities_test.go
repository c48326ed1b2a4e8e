package models

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/answer"
)

// tagged are outputs of a model of words: each row has the number of the text, the first character, the one behind the last, and the type.
func tagged(rows ...[4]any) []answer.Tensor {
	out := []answer.Tensor{{Name: "row"}, {Name: "start"}, {Name: "end"}, {Name: "entity"}, {Name: "probability"}}
	for _, row := range rows {
		for i, cell := range row {
			out[i].Data = append(out[i].Data, cell)
		}
		out[4].Data = append(out[4].Data, 0.9)
	}
	return out
}

func TestEntitiesAreMarkedInTheText(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.register("names", "tokens", "bert-tiny", "ft-2", map[string]string{"trainer.json": `{"kind":"tokens"}`, "model.onnx": "x"})
	require.Contains(t, f.do("carol", "GET", "/models/"+ds+"/names").Body.String(), "<textarea")
	f.answers.outputs = tagged([4]any{0.0, 1.0, 5.0, "PER"}, [4]any{0.0, 13.0, 17.0, "<LOC>"}, [4]any{2.0, 0.0, 1.0, "LOC"})
	var a ModelAnswer
	found := f.do("carol", "POST", "/api/v1/models/"+ds+"/names/1/predict", asJSON(`{"rows":[{"text":" Änna visits Rome."},{"text":"nobody"},{"text":"X"}]}`))
	require.NoError(t, json.Unmarshal(found.Body.Bytes(), &a), found.Body)
	require.Equal(t, []TextPart{
		{Text: " ", Start: 0, End: 1},
		{Text: "Änna", Entity: "PER", Start: 1, End: 5, Probability: 0.9},
		{Text: " visits ", Start: 5, End: 13},
		{Text: "Rome", Entity: "<LOC>", Start: 13, End: 17, Probability: 0.9},
		{Text: ".", Start: 17, End: 18},
	}, a.Rows[0].Parts)
	require.Equal(t, []TextPart{{Text: "nobody", Start: 0, End: 6}}, a.Rows[1].Parts)
	require.Equal(t, "LOC", a.Rows[2].Parts[0].Entity)

	page := f.do("carol", "POST", "/models/"+ds+"/names/try", form(t, map[string]string{"in.text": " Änna visits Rome."}, nil)).Body.String()
	require.NotContains(t, page, "<mark", "the answer is about a text that was not asked")
	f.answers.outputs = tagged([4]any{0.0, 13.0, 17.0, "<LOC>"})
	page = f.do("carol", "POST", "/models/"+ds+"/names/try", form(t, map[string]string{"in.text": " Änna visits Rome."}, nil)).Body.String()
	require.Contains(t, page, `<mark title="90.0 %">Rome <small>&lt;LOC&gt;</small></mark>`)
}

func TestEntitiesThatCannotBeAreNotShown(t *testing.T) {
	t.Parallel()
	for name, outputs := range map[string][]answer.Tensor{
		"behind the end": tagged([4]any{0.0, 1.0, 99.0, "PER"}), "backwards": tagged([4]any{0.0, 3.0, 2.0, "PER"}), "one in another": tagged([4]any{0.0, 0.0, 3.0, "PER"}, [4]any{0.0, 1.0, 2.0, "PER"}),
		"no number": tagged([4]any{"0", 1.0, 2.0, "PER"}), "a row that was not asked": tagged([4]any{7.0, 0.0, 1.0, "PER"}), "before the row": tagged([4]any{-1.0, 0.0, 1.0, "PER"}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.register("names", "tokens", "bert-tiny", "ft-2", map[string]string{"trainer.json": `{"kind":"tokens"}`, "model.onnx": "x"})
			f.answers.outputs = outputs
			found := f.do("carol", "POST", "/api/v1/models/"+ds+"/names/1/predict", asJSON(`{"rows":[{"text":"Anna"}]}`))
			require.Equal(t, http.StatusInternalServerError, found.Code, found.Body)
		})
	}
}
