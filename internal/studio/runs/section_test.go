package runs_test

import (
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/test/studio/site"
)

// The runs that site.Fill adds.
const (
	failed    = "ft-first3ilm6reviews2ab"
	first     = "ft-yigcyhzk4mhq2nof7l3a"
	slower    = "ft-b2kq91xav5tuw3jz4rme"
	cancelled = "ft-qm4d5kcanceled2xy7wz"
	best      = "ft-lr3e4dyy2gkf5pnmt3vc"
	going     = "ft-k3vr7now2ninghalfway" // Bob's
	waiting   = "ft-a7waiting2inline4rayq"
	unknown   = "ft-notherenotherenother"
)

// post sends a form as a user who has logged in.
func post(t *testing.T, s *site.Site, user, path string, form url.Values) (status int, body, location string) {
	t.Helper()
	answer, err := s.Login(t, user).PostForm(s.URL+"/"+path, form)
	require.NoError(t, err)
	defer func() { _ = answer.Body.Close() }()
	doc, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer.StatusCode, string(doc), answer.Header.Get("Location")
}

func ids(list map[string]any) (out []string) {
	rows, _ := list["runs"].([]any)
	for _, row := range rows {
		out = append(out, row.(map[string]any)["run"].(string))
	}
	return out
}

// plain is a page without what differs between two answers of the same kind.
func plain(doc string) string {
	var out []string
	for line := range strings.Lines(doc) {
		if !strings.Contains(line, "csp-nonce") {
			out = append(out, line)
		}
	}
	return strings.Join(out, "")
}

func TestRunsAreFound(t *testing.T) {
	t.Parallel()
	s := site.New(t, site.Options{})
	s.Fill(t)
	for query, want := range map[string][]string{
		"":                      {waiting, going, best, cancelled, slower, first, failed},
		"&state=failed":         {failed},
		"&state=running":        {going},
		"&state=waiting":        {waiting},
		"&state=cancelled":      {cancelled},
		"&state=done":           {best, slower, first},
		"&model=reviews/2":      {slower},
		"&model=reviews":        {best, slower, first},
		"&user=bob@example.org": {going, cancelled, slower},
		"&user=me":              {waiting, best, first, failed},
		"&kind=script":          nil,
		"&q=STARS":              {best},
		"&q=column+of+labels":   {failed},
		"&limit=2":              {waiting, going},
	} {
		status, list := s.Call(t, site.Alice, http.MethodGet, "runs?dataset="+s.Dataset+query, nil)
		require.Equal(t, 200, status, query)
		require.Equal(t, want, ids(list), query)
	}
	status, list := s.Call(t, site.Bob, http.MethodGet, "runs", nil)
	require.Equal(t, 200, status)
	require.Equal(t, []string{going, cancelled, slower}, ids(list), "one's own without a dataset")
}

func TestAListGoesOnAtItsCursor(t *testing.T) {
	t.Parallel()
	s := site.New(t, site.Options{})
	s.Fill(t)
	var all []string
	path := "runs?limit=3&dataset=" + s.Dataset
	for range 3 {
		_, list := s.Call(t, site.Alice, http.MethodGet, path, nil)
		all = append(all, ids(list)...)
		next, _ := list["next"].(string)
		path = "runs?limit=3&dataset=" + s.Dataset + "&cursor=" + next
	}
	require.Equal(t, []string{waiting, going, best, cancelled, slower, first, failed}, all)
	for _, wrong := range []string{"x", "MSBh!!", "aGVsbG8"} {
		status, answer := s.Call(t, site.Alice, http.MethodGet, "runs?cursor="+wrong, nil)
		require.Equal(t, 400, status, wrong)
		require.NotEmpty(t, answer["do"])
	}
}

func TestTheStateOfARunIsTold(t *testing.T) {
	t.Parallel()
	s := site.New(t, site.Options{})
	s.Fill(t)
	for run, want := range map[string]struct {
		word, sentence string
		actions        []any
	}{
		failed:    {"failed", "train.csv has no column of labels. Name it in the field Label column, then submit again.", []any{"retry", "again"}},
		best:      {"done", "Accuracy 0.871 on 1,821 held-out rows.", []any{"again"}},
		going:     {"running", "Epoch 2 of 3, 67 %, 60 s left, validation accuracy 0.816 (best)", []any{"stop", "cancel", "again"}},
		waiting:   {"waiting", "Waiting for a place on Ray.", []any{"cancel", "again"}},
		cancelled: {"cancelled", "Cancelled by bob@example.org.", []any{"retry", "again"}},
	} {
		status, view := s.Call(t, site.Alice, http.MethodGet, "runs/"+run, nil)
		require.Equal(t, 200, status)
		require.Equal(t, want.word, view["state"].(map[string]any)["word"], run)
		require.Equal(t, want.sentence, view["sentence"], run)
		require.Equal(t, want.actions, view["actions"], run)
	}
	_, view := s.Call(t, site.Alice, http.MethodGet, "runs/"+best, nil)
	require.Equal(t, map[string]any{
		"metric": "accuracy", "title": "Accuracy", "value": 0.871, "low": 0.855, "high": 0.886, "rows": 1821.0, "over": "test rows", "lower_is_better": false,
	}, view["figure"])
	require.Equal(t, map[string]any{"name": "learning_rate", "value": 0.0003, "source": "settings file", "changed": true}, view["settings"].([]any)[0], "what a person chose comes first")
	require.Equal(t, "train.csv", view["inputs"].([]any)[0].(map[string]any)["name"])
	require.Contains(t, view["notes"], "12 rows stand in train and test: they count as test rows only.")
}

func TestARunWhoseFolderIsGone(t *testing.T) {
	t.Parallel()
	s := site.New(t, site.Options{})
	s.Add(t, site.Run{ID: "ft-gone", Accuracy: 0.9, Version: 2, NoFolder: true, Text: "Accuracy 0.9."})
	status, body := s.Page(t, site.Alice, "runs/ft-gone")
	require.Equal(t, 200, status)
	require.Contains(t, body, "The files of this run were removed after some time. The model is still here: reviews/2.")
	require.NotContains(t, body, "Open the report")
	status, _ = s.Page(t, site.Alice, "runs/ft-gone/report")
	require.Equal(t, 404, status)
}

func TestPeopleActOnRuns(t *testing.T) {
	t.Parallel()
	s := site.New(t, site.Options{})
	s.Fill(t)
	status, _, to := post(t, s, site.Bob, "runs/"+going+"/stop", nil)
	require.Equal(t, 303, status)
	require.Equal(t, "/runs/"+going+"?did=stop", to)
	rec, err := s.Store.Get(t.Context(), going)
	require.NoError(t, err)
	require.Equal(t, site.Bob, rec.StoppedBy)

	status, answer := s.Call(t, site.Alice, http.MethodPost, "runs/"+waiting+"/stop", nil)
	require.Equal(t, 409, status)
	require.Contains(t, answer["detail"], "has not started training, so there is nothing to keep: cancel it instead")
	status, answer = s.Call(t, site.Alice, http.MethodPost, "runs/"+waiting+"/cancel", nil)
	require.Equal(t, 200, status)
	require.Equal(t, "The run is being cancelled.", answer["text"])
	status, answer = s.Call(t, site.Alice, http.MethodPost, "runs/"+best+"/cancel", nil)
	require.Equal(t, 409, status)
	require.Contains(t, answer["detail"], "has already ended")
	status, answer = s.Call(t, site.Alice, http.MethodPost, "runs/"+best+"/retry", nil)
	require.Equal(t, 409, status)
	require.Contains(t, answer["detail"], "only a failed or cancelled job can be retried")
}

func TestAWrongSettingIsSaidAndTheFormStays(t *testing.T) {
	t.Parallel()
	s := site.New(t, site.Options{})
	status, body, _ := post(t, s, site.Bob, "datasets/"+s.Dataset+"/train", url.Values{"extractor": {"ncsa.ray.finetune"}, "epochs": {"900"}, "label_column": {"<stars>"}})
	require.Equal(t, 422, status)
	require.Contains(t, body, "epochs must be a whole number from 1 to 200 (got &#34;900&#34;)")
	require.Contains(t, body, `value="900"`)
	require.Contains(t, body, `value="&lt;stars&gt;"`)
	for want, params := range map[string]map[string]any{
		"must be a whole number from 1 to 200":               {"extractor": "ncsa.ray.finetune", "parameters": map[string]any{"epochs": 900}},
		`There is no extractor "of.nobody"`:                  {"extractor": "of.nobody"},
		`There is no extractor "ncsa.ray.runs"`:              {"extractor": "ncsa.ray.runs"},
		"expected required property extractor to be present": {},
	} {
		status, answer := s.Call(t, site.Bob, http.MethodPost, "datasets/"+s.Dataset+"/runs", params)
		require.Equal(t, 422, status, want)
		require.Contains(t, answer["detail"], want)
	}
}

func TestNoTrainingStartsWithAWrongSettingsFile(t *testing.T) {
	t.Parallel()
	s := site.New(t, site.Options{})
	file, err := s.Clowder.AddFile(s.Dataset, "slow.yaml", strings.NewReader("# long\nepochs: 400\n"))
	require.NoError(t, err)
	const want = "slow.yaml, version 1, line 2, column 9: epochs must be a whole number from 1 to 200, not 400. No run was started."
	for _, extractor := range []string{"ncsa.ray.finetune", "ncsa.ray.finetune-advanced"} {
		status, answer := s.Call(t, site.Bob, http.MethodPost, "datasets/"+s.Dataset+"/runs", map[string]any{"extractor": extractor, "parameters": map[string]any{"config_file": file}})
		require.Equal(t, []any{422, "settings", want}, []any{status, answer["type"], answer["detail"]})
	}
	status, body, _ := post(t, s, site.Bob, "datasets/"+s.Dataset+"/train", url.Values{"extractor": {"ncsa.ray.finetune"}, "config_file": {file}, "run_name": {"again"}})
	require.Equal(t, 422, status)
	require.Contains(t, body, want)
	require.Contains(t, body, `value="again"`, "the form stays")
	require.Empty(t, s.Clowder.Jobs())
}

func TestFilesOfTheFormHaveTheirNames(t *testing.T) {
	t.Parallel()
	s := site.New(t, site.Options{})
	const id = "0123456789abcdef01234567"
	s.Add(t, site.Run{ID: "ft-listed", State: job.Running, Fraction: 0.5, Settings: map[string]any{"config_file": id}, Inputs: []job.Input{{ID: id, Name: "code/finetune.yaml", Version: 4}}})
	s.Add(t, site.Run{ID: "ft-unlisted", State: job.Running, Fraction: 0.5, Settings: map[string]any{"config_file": id}})
	for run, want := range map[string]string{"ft-listed": "<td>code/finetune.yaml, version 4</td>", "ft-unlisted": "<td>a file of the dataset</td>"} {
		_, body := s.Page(t, site.Alice, "runs/"+run)
		require.Contains(t, body, want)
		require.NotContains(t, body, "<td>"+id)
	}
	_, body := s.Page(t, site.Alice, "compare?run=ft-listed&run=ft-unlisted")
	require.Contains(t, body, "code/finetune.yaml, version 4")
	require.NotContains(t, body, id)
	_, view := s.Call(t, site.Alice, http.MethodGet, "runs/ft-listed", nil)
	require.Equal(t, id, view["settings"].([]any)[0].(map[string]any)["value"], "scripts have the id")
}

func TestTextsOfStrangersStayTexts(t *testing.T) {
	t.Parallel()
	s := site.New(t, site.Options{})
	const hostile = `<img src=x onerror=alert(1)>`
	s.Add(t, site.Run{ID: "ft-hostile", Name: hostile, Accuracy: 0.9, Text: hostile, Change: func(r *results.Result) {
		r.Settings = append(r.Settings, results.Setting{Name: hostile, Value: hostile, Source: "form"})
		r.Warnings = append(r.Warnings, results.Warning{Code: "x", Text: hostile})
		r.Model.Base = hostile
	}})
	s.Add(t, site.Run{ID: "ft-other", Name: hostile, State: job.Failed, Text: hostile})
	for _, path := range []string{"runs/ft-hostile", "runs/ft-other", "datasets/" + s.Dataset + "/runs", "compare?run=ft-hostile&run=ft-other", "", "runs/ft-hostile/report", "datasets/" + s.Dataset + "/train?like=ft-other"} {
		status, body := s.Page(t, site.Alice, path)
		require.Equal(t, 200, status, path)
		require.NotContains(t, body, "<img", path)
	}
}

func TestFilesAreAttachments(t *testing.T) {
	t.Parallel()
	s := site.New(t, site.Options{})
	s.Fill(t)
	for name, want := range map[string]int{
		"log.txt": 200, "out/predictions.csv": 200, "result.json": 200, "report.html": 200,
		"out/model/model.safetensors": 404, "spec.json": 404, "../" + going + "/log.txt": 404, "inputs.json": 404,
	} {
		answer, err := s.Login(t, site.Carol).Get(s.URL + "/runs/" + best + "/files/" + strings.ReplaceAll(name, "..", "%2e%2e"))
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, want, answer.StatusCode, name)
		if want == 200 {
			require.Contains(t, answer.Header.Get("Content-Disposition"), "attachment", name)
			require.Contains(t, answer.Header.Get("Content-Security-Policy"), "sandbox", name)
			require.Equal(t, "nosniff", answer.Header.Get("X-Content-Type-Options"), name)
		}
	}
}

func TestRunsAreCompared(t *testing.T) {
	t.Parallel()
	s := site.New(t, site.Options{})
	s.Fill(t)
	s.Add(t, site.Run{ID: "ft-othersplit", Accuracy: 0.9, Change: func(r *results.Result) { r.Data.SplitSHA256 = strings.Repeat("6", 64) }})
	compare := func(runs ...string) map[string]any {
		status, c := s.Call(t, site.Alice, http.MethodGet, "compare?"+url.Values{"run": runs}.Encode(), nil)
		require.Equal(t, 200, status)
		return c
	}
	c := compare(first, slower, best)
	require.Equal(t, "All were tested on the same 1,821 rows.", c["test_rows"])
	require.Equal(t, map[string]any{"name": "learning_rate", "values": []any{0.0002, 0.00005, 0.0003}, "differs": true}, c["settings"].([]any)[0])
	require.Equal(t, false, c["settings"].([]any)[1].(map[string]any)["differs"])
	accuracy := c["metrics"].([]any)[0].(map[string]any)
	require.Equal(t, "accuracy", accuracy["metric"])
	cells := accuracy["values"].([]any)
	require.NotContains(t, cells[0], "judgement")
	require.Equal(t, "worse", cells[1].(map[string]any)["judgement"])
	require.Equal(t, "better", cells[2].(map[string]any)["judgement"])
	require.InDelta(t, 0.029, cells[2].(map[string]any)["difference"], 1e-9)
	require.Equal(t, true, cells[2].(map[string]any)["intervals_overlap"])
	require.Len(t, c["curves"], 6)

	c = compare(first, "ft-othersplit")
	require.Equal(t, false, c["same_test_rows"])
	require.Contains(t, c["test_rows"], "Different test rows: the scores are not comparable.")
	require.NotContains(t, c["metrics"].([]any)[0].(map[string]any)["values"].([]any)[1], "judgement")

	c = compare(first, going, failed)
	require.Equal(t, []any{"longer texts is running: its test scores come at its end.", "first try ended without a result: failed."}, c["missing"])

	for _, few := range []string{"", "run=" + first, "run=" + first + "&run=" + first} {
		status, body := s.Page(t, site.Alice, "compare?"+few)
		require.Equal(t, 422, status, few)
		require.Contains(t, body, "Tick the runs in the list")
	}
}

func TestAListSaysWhatItShows(t *testing.T) {
	t.Parallel()
	s := site.New(t, site.Options{})
	s.Fill(t)
	_, body := s.Page(t, site.Alice, "datasets/"+s.Dataset+"/runs")
	require.Contains(t, body, "7 runs: 1 waiting, 1 running, 3 done, 1 failed, 1 cancelled")
	for path, want := range map[string]string{
		"datasets/" + s.Empty + "/runs":                  "Train a model on this dataset; no setting is needed.",
		"datasets/" + s.Dataset + "/runs?q=nothing+such": "No run matches.",
	} {
		_, body := s.Page(t, site.Alice, path)
		require.Contains(t, body, want)
	}
	_, body = s.Page(t, site.Dave, "")
	require.Contains(t, body, "You have no run yet.")
	status, _ := s.Page(t, site.Alice, "datasets/"+s.Dataset)
	require.Equal(t, 303, status)
}

func BenchmarkFirstPageOf10000Runs(b *testing.B) {
	s := site.New(b, site.Options{})
	for i := range 10_000 {
		r := site.Run{ID: "ft-many" + strconv.Itoa(i), NoFolder: true, Version: 1, Accuracy: 0.8}
		if i >= 9_900 {
			r.NoFolder = false
		}
		s.Add(b, r)
	}
	client := s.Login(b, site.Alice)
	var took []time.Duration
	for b.Loop() {
		begin := time.Now()
		answer, err := client.Get(s.URL + "/datasets/" + s.Dataset + "/runs")
		require.NoError(b, err)
		_, err = io.Copy(io.Discard, answer.Body)
		require.NoError(b, err)
		require.NoError(b, answer.Body.Close())
		require.Equal(b, 200, answer.StatusCode)
		took = append(took, time.Since(begin))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Milliseconds()), "ms-p50")
	b.ReportMetric(float64(took[len(took)*95/100].Milliseconds()), "ms-p95")
}
