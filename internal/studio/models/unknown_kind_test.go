package models

import (
	"encoding/json"
	"html"
	"net/http"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/answer"
	"github.com/ncsa/clowder-ray/internal/results"
)

// toy has what the trainer wrote for a kind of data that only the tests of the trainer know: trainer/tests/toy.
const toy = "../../../trainer/tests/toy/golden/"

func TestAModelOfAKindThatTheServiceDoesNotKnowIsTried(t *testing.T) {
	t.Parallel()
	described, err := os.ReadFile(toy + "trainer.json")
	require.NoError(t, err)
	doc, err := os.ReadFile(toy + "result.json")
	require.NoError(t, err)
	result, err := results.DecodeResult(doc)
	require.NoError(t, err)
	f := newFixture(t)
	f.register("signals", "toy", "toy-net", "ft-toy", map[string]string{"trainer.json": string(described), "model.onnx": "a network"})
	f.results["ft-toy"] = result
	f.answers.outputs = []answer.Tensor{{Name: "direction", Data: []any{24.5}}, {Name: "point", Data: []any{"NE"}}}

	page := html.UnescapeString(f.do("carol", "GET", "/models/"+ds+"/signals").Body.String())
	for _, part := range []string{`data-column="north"`, `data-column="west"`, `inputmode="decimal"`, "a test row", "The model says " + result.Examples[0].Predicted} {
		require.Contains(t, page, part)
	}
	page = f.do("carol", "POST", "/models/"+ds+"/signals/try", form(t, map[string]string{"in.north": "0.9", "in.east": "0.4"}, nil)).Body.String()
	require.Contains(t, page, "<dt>direction</dt><dd>24.5</dd><dt>point</dt><dd>NE</dd>")
	require.Equal(t, []any{"0.9"}, f.answers.asked[0].Data)

	res := f.do("carol", "POST", "/api/v1/models/"+ds+"/signals/1/predict", asJSON(`{"rows":[{"north":0.9}]}`))
	require.Equal(t, http.StatusOK, res.Code, res.Body)
	var a ModelAnswer
	require.NoError(t, json.Unmarshal(res.Body.Bytes(), &a))
	require.Equal(t, []AnswerValue{{"direction", "24.5"}, {"point", "NE"}}, a.Rows[0].Values)
}
