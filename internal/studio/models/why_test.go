package models

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/answer"
)

func TestReasonsAreReadWithThoseThatMatterMostFirst(t *testing.T) {
	t.Parallel()
	answered := map[string]any{"answer": "yes"}
	found, err := reasonsOf([]answer.Tensor{
		{Name: "label", Data: []any{"yes"}},
		{Name: "why.part", Parameters: answered, Data: []any{"a", "b", "c"}},
		{Name: "why.raised", Data: []any{0.1, -0.4, 0.2}},
	})
	require.NoError(t, err)
	require.Equal(t, &Reasons{Answer: "yes", Parts: []ReasonPart{{Name: "b", Raised: -0.4}, {Name: "c", Raised: 0.2}, {Name: "a", Raised: 0.1}}}, found)
	found, err = reasonsOf([]answer.Tensor{
		{Name: "why.part", Parameters: answered, Data: []any{"left", "right"}},
		{Name: "why.raised", Data: []any{0.1, 0.2}},
		{Name: "why.box", Data: []any{0.0, 0.0, 0.5, 1.0, 0.5, 0.0, 0.5, 1.0}},
	})
	require.NoError(t, err)
	require.Equal(t, []float64{0.5, 0, 0.5, 1}, found.Parts[0].Box)

	for name, outputs := range map[string][]answer.Tensor{
		"nothing":           nil,
		"no answer":         {{Name: "why.part", Data: []any{"a"}}, {Name: "why.raised", Data: []any{0.1}}},
		"too few figures":   {{Name: "why.part", Parameters: answered, Data: []any{"a", "b"}}, {Name: "why.raised", Data: []any{0.1}}},
		"a figure in words": {{Name: "why.part", Parameters: answered, Data: []any{"a"}}, {Name: "why.raised", Data: []any{"much"}}},
		"half a box": {
			{Name: "why.part", Parameters: answered, Data: []any{"a"}}, {Name: "why.raised", Data: []any{0.1}}, {Name: "why.box", Data: []any{0.1, 0.1}},
		},
		"a box outside": {
			{Name: "why.part", Parameters: answered, Data: []any{"a"}},
			{Name: "why.raised", Data: []any{0.1}},
			{Name: "why.box", Data: []any{0.0, 0.0, 7.0, 1.0}},
		},
	} {
		_, err := reasonsOf(outputs)
		require.ErrorIs(t, err, errNoReasons, name)
	}
}

func TestWhyIsAskedForOneRow(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.reviews(1)
	f.answers.forward = `{"outputs":[{"name":"why.part","parameters":{"answer":"yes"},"data":["fine"]},{"name":"why.raised","data":[0.25]}]}`
	got := f.do("carol", "POST", "/api/v1/models/"+ds+"/reviews/1/predict", asJSON(`{"rows":[{"text":"a fine film"}],"why":true}`))
	require.Equal(t, http.StatusOK, got.Code, got.Body.String())
	require.Contains(t, got.Body.String(), `"why":{"answer":"yes","parts":[{"name":"fine","raised":0.25}]}`)
	require.Contains(t, f.answers.question, `"parameters":{"why":true}`)

	got = f.do("carol", "POST", "/api/v1/models/"+ds+"/reviews/1/predict", asJSON(`{"rows":[{"text":"a"},{"text":"b"}],"why":true}`))
	require.Equal(t, http.StatusUnprocessableEntity, got.Code)
	require.Contains(t, got.Body.String(), "one row")
}
