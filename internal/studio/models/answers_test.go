package models

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/answer"
	"github.com/ncsa/clowder-ray/internal/registry"
	"github.com/ncsa/clowder-ray/internal/studio/web"
)

func TestTheOutputsOfTheProcessAreRead(t *testing.T) {
	t.Parallel()
	number := func(v float64) *float64 { return &v }
	for name, c := range map[string]struct {
		outputs []answer.Tensor
		labels  []string
		want    []AnsweredRow
	}{
		"numbers": {
			[]answer.Tensor{{Name: "value", Data: []any{-1.5, 0.0}}},
			nil,
			[]AnsweredRow{{Value: number(-1.5)}, {Value: number(0)}},
		},
		"the likeliest class first, and equal ones in the order of the model": {
			[]answer.Tensor{{Name: "probability", Data: []any{0.3, 0.4, 0.3, 1.0, 0.0, 0.0}}, {Name: "label", Data: []any{"b", "a"}}},
			[]string{"a", "b", "c"},
			[]AnsweredRow{
				{Label: "b", Labels: []LikelyLabel{{"b", 0.4}, {"a", 0.3}, {"c", 0.3}}, Unsure: true},
				{Label: "a", Labels: []LikelyLabel{{"a", 1}, {"b", 0}, {"c", 0}}},
			},
		},
		"labels that do not exclude each other are never unsure": {
			[]answer.Tensor{{Name: "label", Data: []any{"", "a, b"}}, {Name: "probability", Data: []any{0.1, 0.2, 0.5, 0.55}}},
			[]string{"a", "b"},
			[]AnsweredRow{{Labels: []LikelyLabel{{"b", 0.2}, {"a", 0.1}}}, {Label: "a, b", Labels: []LikelyLabel{{"b", 0.55}, {"a", 0.5}}}},
		},
		"numbers with their intervals": {
			[]answer.Tensor{
				{Name: "value", Data: []any{1.5, 2.0}},
				{Name: "low", Data: []any{0.5, 1.0}, Parameters: map[string]any{"coverage": 0.9}},
				{Name: "high", Data: []any{2.5, 1e7}},
			},
			nil,
			[]AnsweredRow{
				{Value: number(1.5), Low: number(0.5), High: number(2.5), Within: "0.5 to 2.5 (90 % interval)"},
				{Value: number(2), Low: number(1), High: number(1e7), Within: "1 to 1e+07 (90 % interval)"},
			},
		},
		"possible classes, the likeliest first": {
			[]answer.Tensor{
				{Name: "label", Data: []any{"b", "a"}},
				{Name: "probability", Data: []any{0.4, 0.6, 1.0, 0.0}},
				{Name: "possible", Data: []any{true, true, true, false}, Parameters: map[string]any{"coverage": 0.995}},
			},
			[]string{"a", "b"},
			[]AnsweredRow{
				{Label: "b", Labels: []LikelyLabel{{"b", 0.6}, {"a", 0.4}}, Possible: []string{"b", "a"}, Within: "Possible (99.5 %): b, a", Unsure: true},
				{Label: "a", Labels: []LikelyLabel{{"a", 1}, {"b", 0}}, Possible: []string{"a"}},
			},
		},
		"possible labels beside none and beside the answered one": {
			[]answer.Tensor{
				{Name: "label", Data: []any{"", "a"}},
				{Name: "probability", Data: []any{0.3, 0.6, 0.9, 0.5}},
				{Name: "possible", Data: []any{false, true, true, true}, Parameters: map[string]any{"coverage": 0.9}},
			},
			[]string{"a", "b"},
			[]AnsweredRow{
				{Labels: []LikelyLabel{{"b", 0.6}, {"a", 0.3}}, Possible: []string{"b"}, Within: "Possible (90 %): b"},
				{Label: "a", Labels: []LikelyLabel{{"a", 0.9}, {"b", 0.5}}, Possible: []string{"a", "b"}, Within: "Possible (90 %): a, b"},
			},
		},
		"an answer in a form of its own": {
			[]answer.Tensor{{Name: "direction", Data: []any{24.51234567, 0.0}}, {Name: "point", Data: []any{"NE", "N"}}},
			nil,
			[]AnsweredRow{{Values: []AnswerValue{{"direction", "24.5123"}, {"point", "NE"}}}, {Values: []AnswerValue{{"direction", "0"}, {"point", "N"}}}},
		},
		"a count with its interval beside other values": {
			[]answer.Tensor{
				{Name: "objects", Data: []any{"3 cell", "no objects"}},
				{Name: "count", Data: []any{3.0, 0.0}},
				{Name: "low", Data: []any{2.0, 0.0}, Parameters: map[string]any{"coverage": 0.9, "of": "count"}},
				{Name: "high", Data: []any{5.0, 1.0}, Parameters: map[string]any{"coverage": 0.9, "of": "count"}},
			},
			nil,
			[]AnsweredRow{
				{Low: number(2), High: number(5), Values: []AnswerValue{{"objects", "3 cell"}, {"count", "3, 2 to 5 (90 % interval)"}}},
				{Low: number(0), High: number(1), Values: []AnswerValue{{"objects", "no objects"}, {"count", "0, 0 to 1 (90 % interval)"}}},
			},
		},
		"the only class is sure": {
			[]answer.Tensor{{Name: "label", Data: []any{"a", "a"}}, {Name: "probability", Data: []any{1.0, 0.995}}},
			[]string{"a"},
			[]AnsweredRow{{Label: "a", Labels: []LikelyLabel{{"a", 1}}}, {Label: "a", Labels: []LikelyLabel{{"a", 0.995}}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rows, err := answered(c.outputs, c.labels, 2, 0.999)
			require.NoError(t, err)
			require.Equal(t, c.want, rows)
		})
	}
}

func TestOutputsThatDoNotFitTheRowsAreNotShown(t *testing.T) {
	t.Parallel()
	label := answer.Tensor{Name: "label", Data: []any{"yes", "no"}}
	for name, outputs := range map[string][]answer.Tensor{
		"nothing":                      nil,
		"a label for one row of two":   {{Name: "label", Data: []any{"yes"}}, {Name: "probability", Data: []any{0.1, 0.9, 0.8, 0.2}}},
		"a label that is a number":     {{Name: "label", Data: []any{1.0, 0.0}}, {Name: "probability", Data: []any{0.1, 0.9, 0.8, 0.2}}},
		"no probabilities":             {label},
		"too few probabilities":        {label, {Name: "probability", Data: []any{0.1, 0.9, 0.8}}},
		"a probability that is a text": {label, {Name: "probability", Data: []any{"0.1", 0.9, 0.8, 0.2}}},
		"a value for one row of two":   {{Name: "value", Data: []any{1.5}}},
		"a value that is not a number": {{Name: "value", Data: []any{1.5, nil}}},
		"another value of one of two":  {{Name: "direction", Data: []any{1.5}}},
		"a value that is no value":     {{Name: "direction", Data: []any{1.5, true}}},
		"no high end of an interval":   {{Name: "value", Data: []any{1.5, 2.5}}, {Name: "low", Data: []any{1.0, 2.0}}},
		"an interval of a count, cut":  {{Name: "count", Data: []any{1.0, 2.0}}, {Name: "low", Data: []any{1.0}, Parameters: map[string]any{"of": "count"}}},
		"an interval of one row":       {{Name: "value", Data: []any{1.5, 2.5}}, {Name: "low", Data: []any{1.0}}, {Name: "high", Data: []any{2.0}}},
		"a possibility that is none":   {label, {Name: "probability", Data: []any{0.1, 0.9, 0.8, 0.2}}, {Name: "possible", Data: []any{1.0, true, true, true}}},
		"too few possibilities":        {label, {Name: "probability", Data: []any{0.1, 0.9, 0.8, 0.2}}, {Name: "possible", Data: []any{true, true, true}}},
		"no value beside right labels": {label, {Name: "probability", Data: []any{0.1, 0.9, 0.8, 0.2}}, {Name: "value"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.reviews(1)
			f.answers.outputs = outputs
			res := f.do("carol", "POST", "/api/v1/models/"+ds+"/reviews/1/predict", asJSON(`{"rows":[{"text":"a"},{"text":"b"}]}`))
			require.Equal(t, http.StatusInternalServerError, res.Code, res.Body)
			require.NotContains(t, res.Body.String(), "yes")
		})
	}
}

func TestANumberIsShownAsPeopleReadIt(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.register("prices", "table", "linear", "ft-2", map[string]string{"trainer.json": `{"kind":"table","columns":["size"],"types":{"size":"number"}}`})
	f.answers.outputs = []answer.Tensor{{Name: "value", Data: []any{1234.56789}}}
	page := f.do("carol", "POST", "/models/"+ds+"/prices/try", form(t, map[string]string{"in.size": " 7 "}, nil))
	require.Contains(t, page.Body.String(), `<p class="value">1234.57</p>`)
	require.Contains(t, page.Body.String(), `value=" 7 "`, "the field keeps what was typed")
	res := f.do("carol", "POST", "/api/v1/models/"+ds+"/prices/1/predict", asJSON(`{"rows":[{"size":7}]}`))
	var a ModelAnswer
	require.NoError(t, json.Unmarshal(res.Body.Bytes(), &a), res.Body)
	require.InDelta(t, 1234.56789, *a.Rows[0].Value, 0, "a program gets all digits")
	require.Empty(t, AnsweredRow{}.Number())
	f.answers.outputs = append(f.answers.outputs, answer.Tensor{Name: "low", Data: []any{1000.0}}, answer.Tensor{Name: "high", Data: []any{1500.0}})
	page = f.do("carol", "POST", "/models/"+ds+"/prices/try", form(t, map[string]string{"in.size": "7"}, nil))
	require.Contains(t, page.Body.String(), `<p class="value">1234.57</p><p class="muted">1000 to 1500</p>`)
}

func TestCellsOfRowsBecomeInputs(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.register("rows", "table", "trees", "ft-2", map[string]string{
		"trainer.json": `{"kind":"table","columns":["size","colour","new","never"],"types":{"size":"number","colour":"category","new":"category"}}`,
	})
	res := f.do("carol", "POST", "/api/v1/models/"+ds+"/rows/1/predict", asJSON(`{"rows":[{"new":true,"size":1.5},{"size":null,"colour":"red"}]}`))
	require.NotEqual(t, http.StatusUnprocessableEntity, res.Code, res.Body)
	require.Equal(t, []answer.Tensor{
		{Name: "size", Datatype: "BYTES", Shape: []int{2}, Data: []any{1.5, ""}},
		{Name: "colour", Datatype: "BYTES", Shape: []int{2}, Data: []any{"", "red"}},
		{Name: "new", Datatype: "BYTES", Shape: []int{2}, Data: []any{true, ""}},
	}, f.answers.asked, "in the order of the columns, an empty text where a row has none, and no column that no row has")

	_, err := tensors(ModelReads{Columns: []answer.Column{{Name: "size"}}}, []map[string]any{{strings.Repeat("é", 100): 1}})
	require.EqualError(t, err, `The model has no column "`+strings.Repeat("é", 59)+`…". Correct the input, then ask again.`)
}

func TestTheProtocolSaysWhatWentWrong(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		method, path, body string
		forward            string
		err                error
		status             int
		said               string
	}{
		"a model that answers no rows is not ready": {
			"GET", "poems/ready", "", "", nil, http.StatusConflict,
			"This version does not answer single rows. A language model writes one token after the other",
		},
		"a model that the process does not find": {"GET", "reviews", "", "", &answer.RefusedError{Status: 404, Message: "x"}, 404, "Not found."},
		"a process that is not there":            {"GET", "reviews", "", "", answer.ErrNotSetUp, http.StatusServiceUnavailable, "PREDICTOR_URL"},
		"a process that sends no JSON":           {"POST", "reviews/infer", "{}", "Segmentation fault", nil, 500, "Something went wrong."},
		"a process that sends a list":            {"POST", "reviews/infer", "{}", `[{"secret":1}]`, nil, 500, "Something went wrong."},
		"a process that sends null":              {"POST", "reviews/infer", "{}", "null", nil, 500, "Something went wrong."},
		"a question over the limit":              {"POST", "reviews/infer", strings.Repeat(" ", answer.MaxRequest+1), "", nil, 413, "This is too large."},
		"a question at the limit":                {"POST", "reviews/infer", strings.Repeat(" ", answer.MaxRequest), "{}", nil, 200, "model_name"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.reviews(1)
			f.register("poems", "language", "gpt-small", "ft-3", map[string]string{"trainer.json": `{"kind":"language","use":{"snippet":"language/language","why":"A language model writes one token after the other."}}`})
			f.answers.forward, f.answers.err = c.forward, c.err
			res := f.do("carol", c.method, "/v2/models/"+ds+"."+c.path, asJSON(c.body))
			require.Equal(t, c.status, res.Code)
			require.Equal(t, "application/json", res.Header().Get("Content-Type"))
			require.Contains(t, res.Body.String(), c.said)
			require.NotContains(t, res.Body.String(), "secret")
			require.Equal(t, c.status == http.StatusServiceUnavailable, res.Header().Get("Retry-After") == "60")
		})
	}
}

func TestADownloadThatBreaksOffDoesNotLookWhole(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.reviews(1)
	breaks := func(_ context.Context, _ registry.Version, w http.ResponseWriter) error {
		_, _ = w.Write([]byte("half of an archive"))
		return errors.New("the disk is gone")
	}
	section := &Section{Parts: Parts{Registry: f.registry, Rights: f, Clowder: clowderHost, WriteZip: breaks}}
	visitors := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.SetPathValue("dataset", ds)
		r.SetPathValue("name", "reviews")
		r.SetPathValue("version", "1")
		section.download(w, r.WithContext(web.WithVisitor(r.Context(), &web.Visitor{Name: "carol"})))
	})
	server := httptest.NewServer(visitors)
	defer server.Close()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, http.NoBody)
	require.NoError(t, err)
	res, err := server.Client().Do(req)
	if err == nil { // the beginning may have been sent
		_, err = io.ReadAll(res.Body)
		require.NoError(t, res.Body.Close())
	}
	require.Error(t, err, "the connection ends before the body does")
}
