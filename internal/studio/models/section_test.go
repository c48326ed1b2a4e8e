package models

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/answer"
	"github.com/ncsa/clowder-ray/internal/results"
)

func body(kind, content string) func(*http.Request) {
	return func(r *http.Request) {
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(content)), int64(len(content))
		r.Header.Set("Content-Type", kind)
	}
}

func asJSON(content string) func(*http.Request) { return body("application/json", content) }

// form is a posted form with fields, and with files by their names.
func form(t *testing.T, fields, files map[string]string) func(*http.Request) {
	t.Helper()
	var doc bytes.Buffer
	w := multipart.NewWriter(&doc)
	for name, value := range fields {
		require.NoError(t, w.WriteField(name, value))
	}
	for name, content := range files {
		part, err := w.CreateFormFile(name, "a.png")
		require.NoError(t, err)
		_, err = part.Write([]byte(content))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return body(w.FormDataContentType(), doc.String())
}

func TestWhatIsForbiddenLooksAsIfItNeverWas(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.reviews(2)
	for _, path := range []string{
		"GET /datasets/%s/models", "GET /models/%s/reviews", "GET /models/%s/reviews/1/promote", "GET /models/%s/reviews/1/serve", "GET /models/%s/reviews/1/model.zip",
		"POST /models/%s/reviews/try", "POST /models/%s/reviews/1/promote", "POST /models/%s/reviews/1/export",
		"GET /api/v1/models?dataset=%s", "GET /api/v1/models/%s/reviews", "GET /api/v1/models/%s/reviews/1", "POST /api/v1/models/%s/reviews/1/promote",
		"GET /v2/models/%s.reviews", "POST /v2/models/%s.reviews/infer", "GET /v2/models/%s.reviews/versions/1/ready",
	} {
		method, path, _ := strings.Cut(path, " ")
		theirs := f.do("dave", method, fmt.Sprintf(path, ds))
		invented := f.do("dave", method, fmt.Sprintf(path, "000000000000000000000000"))
		require.Equal(t, http.StatusNotFound, theirs.Code, path)
		require.Equal(t, invented.Body.String(), theirs.Body.String(), path)
	}
	require.Empty(t, f.promoted)
	require.Empty(t, f.exported)
}

func TestEachRoleSeesAndDoesWhatItMay(t *testing.T) {
	t.Parallel()
	for person, may := range map[string]struct{ look, export, first, second int }{
		"alice": {200, 303, 303, 303}, "bob": {200, 303, 303, 303}, "carol": {200, 403, 403, 403},
		"ursula": {200, 303, 303, 403}, // she started the first run only
	} {
		t.Run(person, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.reviews(2)
			require.Equal(t, may.look, f.do(person, "GET", "/models/"+ds+"/reviews").Code)
			require.Equal(t, may.export, f.do(person, "POST", "/models/"+ds+"/reviews/1/export").Code)
			require.Equal(t, may.second, f.do(person, "POST", "/models/"+ds+"/reviews/2/promote").Code)
			require.Equal(t, may.first, f.do(person, "POST", "/models/"+ds+"/reviews/1/promote").Code)
			page := f.do(person, "GET", "/models/"+ds+"/reviews").Body.String()
			require.Equal(t, may.second == 303, strings.Contains(page, "Make champion"), "the button is there for those who may")
			require.Equal(t, may.export == 303, strings.Contains(page, "Into the dataset"))
		})
	}
}

func TestTheStarMovesWithTheChampion(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.reviews(2)
	require.Contains(t, f.do("alice", "GET", "/models/"+ds+"/reviews").Body.String(), "Champion: <strong>reviews/1</strong>")
	asked := f.do("alice", "GET", "/models/"+ds+"/reviews/2/promote").Body.String()
	require.Contains(t, asked, "reviews/1 is the champion now")
	require.Contains(t, asked, "reviews@champion")
	done := f.do("alice", "POST", "/models/"+ds+"/reviews/2/promote")
	require.Equal(t, "/ray/models/"+ds+"/reviews?done=promoted", done.Header().Get("Location"))
	require.Equal(t, []string{"alice reviews/2"}, f.promoted)
	require.Contains(t, f.do("alice", "GET", "/models/"+ds+"/reviews?done=promoted").Body.String(), "Champion: <strong>reviews/2</strong>")
	var m TrainedModel
	require.NoError(t, json.Unmarshal(f.do("carol", "GET", "/api/v1/models/"+ds+"/reviews").Body.Bytes(), &m))
	require.Equal(t, "reviews/2", m.Champion.Ref)
	require.Len(t, m.Versions, 2)
}

func TestATextIsAnsweredOnThePageAndInTheAPI(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.reviews(1)
	page := f.do("carol", "POST", "/models/"+ds+"/reviews/try", form(t, map[string]string{"version": "1", "in.text": "The <b>ending</b> alone."}, nil))
	require.Equal(t, http.StatusOK, page.Code)
	require.Contains(t, page.Body.String(), "97.1 %")
	require.Contains(t, page.Body.String(), "The &lt;b&gt;ending&lt;/b&gt; alone.")
	require.Equal(t, []any{"The <b>ending</b> alone."}, f.answers.asked[0].Data)
	require.Equal(t, "reviews", f.answers.asks.Name)
	require.Contains(t, f.answers.asks.Folder, "-"+ds, "the folder of this Clowder's dataset")

	res := f.do("carol", "POST", "/api/v1/models/"+ds+"/reviews/champion/predict", asJSON(`{"rows":[{"text":"The ending"}]}`))
	var a ModelAnswer
	require.NoError(t, json.Unmarshal(res.Body.Bytes(), &a), res.Body)
	require.Equal(t, "reviews/1", a.Model)
	require.Equal(t, []LikelyLabel{{"yes", 0.971}, {"no", 0.029}}, a.Rows[0].Labels)
	require.False(t, a.Rows[0].Unsure)
}

func TestTheFormHasAFieldForEachInput(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.register("rows", "table", "trees", "ft-2", map[string]string{
		"trainer.json": `{"kind":"table","columns":["size","colour","<b>"],"types":{"size":"number","colour":"category","<b>":"category"},"encoder":{}}`,
		"config.json":  `{"columns":[{"name":"colour","type":"category","categories":["blue","red"]}]}`,
	})
	f.register("pictures", "image", "small-cnn", "ft-3", map[string]string{"trainer.json": `{"kind":"image"}`, "model.onnx": "x"})
	f.register("plots", "table", "trees", "ft-5", map[string]string{"trainer.json": `{"use":{"fields":[{"name":"rain","type":"number"},{"name":"photo","type":"image"}]}}`})
	f.register("pairs", "text", "words", "ft-4", map[string]string{"trainer.json": `{"kind":"text","columns":["question","reply"],"types":{"question":"text","reply":"pair"}}`})
	page := f.do("carol", "GET", "/models/"+ds+"/rows").Body.String()
	require.Contains(t, page, `inputmode="decimal"`)
	require.Contains(t, page, `<option>blue</option>`)
	require.Contains(t, page, `name="in.&lt;b&gt;"`)
	f.do("carol", "POST", "/models/"+ds+"/rows/try", form(t, map[string]string{"in.size": "1.5", "in.colour": "red", "in.<b>": ""}, nil))
	require.Equal(t, []answer.Tensor{
		{Name: "size", Datatype: "BYTES", Shape: []int{1}, Data: []any{"1.5"}}, {Name: "colour", Datatype: "BYTES", Shape: []int{1}, Data: []any{"red"}},
	}, f.answers.asked)

	require.Contains(t, f.do("carol", "GET", "/models/"+ds+"/pictures").Body.String(), `type="file"`)
	require.Equal(t, 200, f.do("carol", "POST", "/models/"+ds+"/pictures/try", form(t, nil, map[string]string{"in.image": "png"})).Code)
	require.Equal(t, base64.StdEncoding.EncodeToString([]byte("png")), f.answers.asked[0].Data[0])
	require.Contains(t, f.do("carol", "POST", "/models/"+ds+"/pictures/try", form(t, nil, nil)).Body.String(), "Choose an image first.")
	large := f.do("carol", "POST", "/models/"+ds+"/pictures/try", form(t, nil, map[string]string{"in.image": strings.Repeat("x", maxForm)}))
	require.Equal(t, http.StatusRequestEntityTooLarge, large.Code)

	require.Contains(t, f.do("carol", "GET", "/models/"+ds+"/plots").Body.String(), `>photo</label>`)
	f.do("carol", "POST", "/models/"+ds+"/plots/try", form(t, map[string]string{"in.rain": "2"}, map[string]string{"in.photo": "png"}))
	require.Equal(t, base64.StdEncoding.EncodeToString([]byte("png")), f.answers.asked[1].Data[0])
	f.do("carol", "POST", "/models/"+ds+"/plots/try", form(t, map[string]string{"in.rain": "2"}, nil))
	require.Len(t, f.answers.asked, 1, "a row may lack its image")

	require.Contains(t, f.do("carol", "GET", "/models/"+ds+"/pairs").Body.String(), `name="in.reply"`)
}

func TestExamplesFillTheForm(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.reviews(1)
	f.results["ft-1"] = &results.Result{Examples: []results.WholeExample{
		{As: "right", Input: map[string]string{"text": "A <b>fine</b> film."}, Label: "yes", Predicted: "yes"},
		{As: "wrong", Input: map[string]string{"text": "Never again."}, Label: "no", Predicted: "yes"},
		{As: "wrong", Input: map[string]string{"another": "column"}, Label: "no", Predicted: "yes"},
		{As: "invented", Input: map[string]string{"text": "x"}},
	}}
	page := f.do("carol", "GET", "/models/"+ds+"/reviews").Body.String()
	require.Contains(t, page, "one it gets right")
	require.Contains(t, page, "The model says yes, not no")
	require.Equal(t, 2, strings.Count(page, "data-example="))
	filled := f.do("carol", "GET", "/models/"+ds+"/reviews?version=1&example=1").Body.String()
	require.Contains(t, filled, "A &lt;b&gt;fine&lt;/b&gt; film.</textarea>")
	require.NotContains(t, f.do("carol", "GET", "/models/"+ds+"/reviews?example=9").Body.String(), "fine</textarea>")
}

func TestAnImageOfTheTestRowsIsAskedAbout(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.register("pictures", "image", "small-cnn", "ft-3", map[string]string{"trainer.json": `{"kind":"image"}`, "model.onnx": "x"})
	png := base64.StdEncoding.EncodeToString([]byte("\x89PNG\r\n\x1a\n of a cat"))
	example := func(image string) results.WholeExample {
		return results.WholeExample{As: "right", Input: map[string]string{"image": image}, Label: "yes", Predicted: "yes"}
	}
	f.results["ft-3"] = &results.Result{Examples: []results.WholeExample{
		example("no base64!"), example(base64.StdEncoding.EncodeToString([]byte("<svg onload=alert(1)>"))),
		example(base64.StdEncoding.EncodeToString([]byte("\x89PNG\r\n\x1a\n" + strings.Repeat("x", maxPicture)))), example(png),
	}}
	page := f.do("carol", "GET", "/models/"+ds+"/pictures").Body.String()
	require.Equal(t, 1, strings.Count(page, "example="), "what no browser shows as a picture is left out")
	require.NotContains(t, page, png, "the page has an image once it is chosen")
	chosen := f.do("carol", "GET", "/models/"+ds+"/pictures?version=1&example=1").Body.String()
	require.Contains(t, chosen, `src="data:image/png;base64,`+strings.ReplaceAll(png, "+", "&#43;")+`"`)
	require.Contains(t, chosen, `name="example" value="1"`)

	answered := f.do("carol", "POST", "/models/"+ds+"/pictures/try", form(t, map[string]string{"version": "1", "example": "1"}, nil))
	require.Equal(t, 200, answered.Code, answered.Body)
	require.Equal(t, png, f.answers.asked[0].Data[0])
	require.Contains(t, answered.Body.String(), "data:image/png", "the page shows what it is about")
	f.do("carol", "POST", "/models/"+ds+"/pictures/try", form(t, map[string]string{"version": "1", "example": "1"}, map[string]string{"in.image": "own"}))
	require.Equal(t, base64.StdEncoding.EncodeToString([]byte("own")), f.answers.asked[0].Data[0], "an image of the visitor comes first")
	for _, number := range []string{"2", "0", "x"} {
		require.Contains(t, f.do("carol", "POST", "/models/"+ds+"/pictures/try", form(t, map[string]string{"example": number}, nil)).Body.String(), "Choose an image first.")
	}
}

func TestUnsureIsWhatThePredictionsOfTheDatasetCallSo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sure   float64
		body   string
		unsure bool
	}{
		"the dataset's predictions": {0.99, `{"rows":[{"text":"a"}]}`, true},
		"nobody has chosen":         {0.6, `{"rows":[{"text":"a"}]}`, false},
		"the request":               {0.6, `{"rows":[{"text":"a"}],"min_confidence":0.98}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.reviews(1)
			f.sure = c.sure
			var a ModelAnswer
			res := f.do("carol", "POST", "/api/v1/models/"+ds+"/reviews/1/predict", asJSON(c.body))
			require.NoError(t, json.Unmarshal(res.Body.Bytes(), &a), res.Body)
			require.Equal(t, c.unsure, a.Rows[0].Unsure)
			page := f.do("carol", "POST", "/models/"+ds+"/reviews/try", form(t, map[string]string{"in.text": "a"}, nil)).Body.String()
			require.Equal(t, c.sure > 0.9, strings.Contains(page, "Unsure:"))
		})
	}
}

func TestAnAnswerSaysWhetherTheModelHadToWake(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.reviews(1)
	ask := func() ModelAnswer {
		var a ModelAnswer
		require.NoError(t, json.Unmarshal(f.do("carol", "POST", "/api/v1/models/"+ds+"/reviews/1/predict", asJSON(`{"rows":[{"text":"a"}]}`)).Body.Bytes(), &a))
		return a
	}
	require.Equal(t, "0 ms", ask().Took)
	f.answers.woken = true
	require.Equal(t, "0 ms, with waking the model", ask().Took)
}

func TestAVersionThatAnswersNoRowsSaysWhy(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.register("old", "text", "bert-tiny", "ft-2", map[string]string{"trainer.json": `{"kind":"text"}`})
	f.register("poems", "language", "gpt-small", "ft-3", map[string]string{"trainer.json": `{"kind":"language"}`})
	f.register("broken", "text", "words", "ft-4", map[string]string{"trainer.json": `{`})
	f.register("torn", "text", "bert-tiny", "ft-5", map[string]string{"trainer.json": `{"kind":"text","use"`})
	f.register("gone", "graph", "sage", "ft-6", map[string]string{"config.json": `{}`})
	for name, why := range map[string]string{
		"old": "has no model.onnx", "poems": "ncsa.ray.predict", "broken": "cannot be read", "torn": "cannot be read", "gone": "ask the administrator",
	} {
		page := f.do("carol", "GET", "/models/"+ds+"/"+name).Body.String()
		require.Contains(t, page, why)
		require.NotContains(t, page, "<textarea")
		res := f.do("carol", "POST", "/api/v1/models/"+ds+"/"+name+"/1/predict", asJSON(`{"rows":[{"text":"a"}]}`))
		require.Equal(t, http.StatusConflict, res.Code)
	}
}

func TestWhatTheProcessRefusesIsASentence(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err    error
		status int
		said   string
	}{
		"an empty text":     {&answer.RefusedError{Status: 400, Message: "A text is empty."}, 422, "A text is empty."},
		"a damaged model":   {&answer.RefusedError{Status: 500, Message: "The files are damaged."}, 502, "The files are damaged."},
		"no onnx after all": {&answer.RefusedError{Status: 409, Message: "It has no model.onnx."}, 409, "It has no model.onnx."},
		"nothing set up":    {fmt.Errorf("x: %w", answer.ErrNotSetUp), 503, "Single answers are not set up here"},
		"a slow process":    {errors.New("read tcp 127.0.0.1:4711: timeout"), 503, "The model did not answer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.reviews(1)
			f.answers.err = c.err
			page := f.do("carol", "POST", "/models/"+ds+"/reviews/try", form(t, map[string]string{"in.text": "a"}, nil))
			require.Equal(t, c.status, page.Code)
			require.Contains(t, page.Body.String(), c.said)
			require.NotContains(t, page.Body.String(), "4711")
			res := f.do("carol", "POST", "/api/v1/models/"+ds+"/reviews/1/predict", asJSON(`{"rows":[{"text":"a"}]}`))
			require.Equal(t, c.status, res.Code, res.Body)
			program := f.do("carol", "POST", "/v2/models/"+ds+".reviews/infer", asJSON(`{}`))
			require.Equal(t, c.status, program.Code)
			require.Contains(t, program.Body.String(), `"error":`)
		})
	}
}

func TestRowsThatTheAPICannotRead(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.reviews(1)
	for name, rows := range map[string]string{
		"none": `[]`, "too many": "[" + strings.TrimSuffix(strings.Repeat(`{"text":"a"},`, 65), ",") + "]", "an unknown column": `[{"txt":"a"}]`, "a list in a cell": `[{"text":["a"]}]`,
	} {
		res := f.do("carol", "POST", "/api/v1/models/"+ds+"/reviews/1/predict", asJSON(`{"rows":`+rows+`}`))
		require.Equal(t, http.StatusUnprocessableEntity, res.Code, name)
		require.Nil(t, f.answers.asked, name)
	}
}

func TestTheSixtyFirstQuestionInAMinuteWaits(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.reviews(1)
	f.answers.forward = `{"model_name":"x","outputs":[]}`
	ask := func(user string) *httptest.ResponseRecorder {
		return f.do(user, "POST", "/v2/models/"+ds+".reviews/infer", asJSON(`{}`))
	}
	for range 60 {
		require.Equal(t, http.StatusOK, ask("carol").Code)
	}
	refused := ask("carol")
	require.Equal(t, http.StatusTooManyRequests, refused.Code)
	require.Equal(t, "1", refused.Header().Get("Retry-After"))
	page := f.do("carol", "POST", "/models/"+ds+"/reviews/try", form(t, map[string]string{"in.text": "a"}, nil))
	require.Equal(t, http.StatusTooManyRequests, page.Code, "the page and programs share the quota")
	require.NotEmpty(t, page.Header().Get("Retry-After"))
	require.Equal(t, http.StatusOK, ask("alice").Code, "others have their own")
}

func TestTheProtocolForPrograms(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.reviews(2)
	f.answers.forward = `{"model_name":"inner","model_version":"2","outputs":[{"name":"label"}]}`
	name := ds + ".reviews"
	require.JSONEq(t, `{"ready":true}`, f.do("carol", "GET", "/v2/health/ready").Body.String())
	require.Contains(t, f.do("carol", "GET", "/v2").Body.String(), "clowder-ray")
	require.JSONEq(t, `{"name":"`+name+`","ready":true}`, f.do("carol", "GET", "/v2/models/"+name+"/versions/2/ready").Body.String())
	require.Contains(t, f.do("carol", "GET", "/v2/models/"+name+"/versions/2").Body.String(), `"datatype":"BYTES"`)
	res := f.do("carol", "POST", "/v2/models/"+name+"/versions/2/infer", asJSON(`{"inputs":[]}`))
	require.JSONEq(t, `{"model_name":"`+name+`","model_version":"2","outputs":[{"name":"label"}]}`, res.Body.String())
	require.JSONEq(t, `{"inputs":[]}`, f.answers.question)
	require.Equal(t, 2, f.answers.asks.Version)
	f.do("carol", "POST", "/v2/models/"+name+"/infer", asJSON(`{}`))
	require.Equal(t, 1, f.answers.asks.Version, "without a version the champion answers")
	require.Equal(t, 404, f.do("carol", "GET", "/v2/models/"+name+"/versions/3").Code)
	require.Equal(t, 404, f.do("carol", "GET", "/v2/models/reviews").Code)
}

func TestListsDownloadsAndManifests(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	require.Contains(t, f.do("alice", "GET", "/datasets/"+ds+"/models").Body.String(), "No model yet: the first training makes one.")
	f.reviews(2)
	list := f.do("carol", "GET", "/datasets/"+ds+"/models").Body.String()
	require.Contains(t, list, "reviews/1")
	require.Contains(t, list, "0.884–0.946")
	zip := f.do("carol", "GET", "/models/"+ds+"/reviews/2/model.zip")
	require.Equal(t, "zip of reviews/2", zip.Body.String())
	require.Equal(t, `attachment; filename="reviews-2.zip"`, zip.Header().Get("Content-Disposition"))
	require.Equal(t, "zip of reviews/1", f.do("carol", "GET", "/api/v1/models/"+ds+"/reviews/champion/model.zip").Body.String())
	require.Contains(t, f.do("carol", "GET", "/models/"+ds+"/reviews/2/serve?as=kserve").Body.String(), "kind: kserve # reviews/2")
}
