package labels_test

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
	"github.com/ncsa/clowder-ray/internal/clowder/versions"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/platform/clowder/label"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/test/studio/site"
)

// birds is the prediction whose files are labelled in the tests: a picture, a text and a picture.
const birds = site.Birds

// withBirds is a site with that prediction, and the ids of its files.
func withBirds(t *testing.T, version int, labelFrom string) (s *site.Site, files []string) {
	t.Helper()
	s = site.New(t, site.Options{Version: version})
	return s, s.AddBirds(t, labelFrom)
}

// ask sends a request of the API with the key of a person.
func ask(t *testing.T, s *site.Site, user, method, path string, body any) (int, map[string]any) {
	t.Helper()
	return s.Call(t, user, method, "runs/"+path, body)
}

// notes are the entries of a file as a training reads them.
func notes(t *testing.T, s *site.Site, version int, file string) []clowder.Note {
	t.Helper()
	client, err := clowder.NewClient(clowder.Config{URL: s.Clowder.URL, Version: version})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	session, err := versions.Of(version).At(client, "", job.Secret(s.Clowder.Key(site.Alice)))
	require.NoError(t, err)
	found, err := session.FileNotes(t.Context(), file)
	require.NoError(t, err)
	return found
}

func TestALabelIsWrittenOnceAndReadByTheNextTraining(t *testing.T) {
	t.Parallel()
	for _, version := range []int{1, 2} {
		s, files := withBirds(t, version, "metadata.plant species")
		status, list := ask(t, s, site.Bob, http.MethodGet, birds+"/next-labels", nil)
		require.Equal(t, []any{200, "plant species", 3}, []any{status, list["key"], len(list["items"].([]any))}, "%v", list)

		want := map[string]any{"file": files[0], "label": "robin"}
		for range 2 {
			status, item := ask(t, s, site.Bob, http.MethodPost, birds+"/label", want)
			require.Equal(t, []any{200, "robin"}, []any{status, item["label"]}, "%v", item)
		}
		written := notes(t, s, version, files[0])
		require.Len(t, written, 1, "the same label twice is one entry")
		read, by := label.In(written, "plant species")
		require.Equal(t, []any{"robin", true, map[string]any{"plant species": "robin"}}, []any{read, by.ByPerson, by.Content})
		require.Contains(t, by.Name, "bob")

		status, problem := ask(t, s, site.Alice, http.MethodPost, birds+"/label", map[string]any{"file": files[0], "label": "wren"})
		require.Equal(t, []any{409, "labelled"}, []any{status, problem["type"]}, "Alice did not see the label of Bob")
		status, _ = ask(t, s, site.Alice, http.MethodPost, birds+"/label", map[string]any{"file": files[0], "label": "wren", "was": "robin"})
		require.Equal(t, 200, status)
		read, _ = label.In(notes(t, s, version, files[0]), "plant species")
		require.Equal(t, "wren", read, "the newest label counts")
		status, problem = ask(t, s, site.Bob, http.MethodPost, birds+"/label/undo", map[string]any{"file": files[0], "label": "wren"})
		require.Equal(t, []any{409, "not-yours"}, []any{status, problem["type"]})
		for range 2 {
			status, _ = ask(t, s, site.Alice, http.MethodPost, birds+"/label/undo", map[string]any{"file": files[0], "label": "wren"})
			require.Equal(t, 200, status)
			read, _ = label.In(notes(t, s, version, files[0]), "plant species")
			require.Equal(t, "robin", read, "the label of Bob counts again")
		}
	}
}

// TestLabelsOfEachFormGoInACircle writes numbers and sets of labels, and reads them as a training does. The texts of read are those that
// trainer/tests/test_next_labels.py trains on.
func TestLabelsOfEachFormGoInACircle(t *testing.T) {
	t.Parallel()
	numbers, words, commas := &results.LabelForm{Number: true}, &results.LabelForm{Separator: ";", None: "(none)"}, &results.LabelForm{Separator: ","}
	for name, tc := range map[string]struct {
		form                  *results.LabelForm
		said                  results.FileAnswer
		written, again, other string
		shown, read           string
	}{
		"numbers":             {numbers, results.FileAnswer{Predicted: "11.5", Low: "9", High: "14"}, "12.50", "12.5", "3", "12.5", "12.5"},
		"numbers with commas": {numbers, results.FileAnswer{Predicted: "11,5"}, "12.50", "12,5", "3", "12,5", "12,5"},
		"sets":                {words, results.FileAnswer{Predicted: "robin"}, "wren; robin", "robin;wren", "wren", "robin; wren", "robin;wren"},
		"none of a set":       {words, results.FileAnswer{Predicted: "robin"}, "(none)", "(none)", "wren", "(none)", "(none)"},
		"sets with commas":    {commas, results.FileAnswer{Predicted: "robin"}, "wren,robin", "robin, wren", "wren", "robin, wren", "robin, wren"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, version := range []int{1, 2} {
				s := site.New(t, site.Options{Version: version})
				files := s.AddForm(t, "metadata.birds", tc.form, tc.said, "wren", "robin")
				for _, label := range []string{tc.written, tc.again} {
					status, item := ask(t, s, site.Bob, http.MethodPost, birds+"/label", map[string]any{"file": files[0], "label": label})
					require.Equal(t, []any{200, tc.shown}, []any{status, item["label"]}, "%v", item)
				}
				written := notes(t, s, version, files[0])
				require.Len(t, written, 1, "the same label in other words is one entry")
				read, _ := label.In(written, "birds")
				require.Equal(t, tc.read, read)
				change := map[string]any{"file": files[0], "label": tc.other}
				status, _ := ask(t, s, site.Alice, http.MethodPost, birds+"/label", change)
				require.Equal(t, 409, status, "Alice did not see the label of Bob")
				change["was"] = tc.again
				status, _ = ask(t, s, site.Alice, http.MethodPost, birds+"/label", change)
				require.Equal(t, 200, status)
				for _, undone := range []struct{ user, label string }{{site.Alice, tc.other}, {site.Bob, tc.again}} {
					status, item := ask(t, s, undone.user, http.MethodPost, birds+"/label/undo", map[string]any{"file": files[0], "label": undone.label})
					require.Equal(t, 200, status, "%v", item)
				}
				require.Empty(t, notes(t, s, version, files[0]))
			}
		})
	}
}

func TestThePageTakesNumbersAndSets(t *testing.T) {
	t.Parallel()
	send := func(s *site.Site, form url.Values) (string, string) {
		answer, err := s.Login(t, site.Bob).PostForm(s.URL+"/runs/"+birds+"/label", form)
		require.NoError(t, err)
		defer func() { _ = answer.Body.Close() }()
		body, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		return answer.Status[:3], string(body)
	}
	s := site.New(t, site.Options{})
	files := s.AddForm(t, "metadata.height", &results.LabelForm{Number: true}, results.FileAnswer{Predicted: "11.5", Low: "9", High: "14"})
	_, first := s.Page(t, site.Bob, "runs/"+birds+"/label")
	require.Contains(t, first, "The model says 11.5, from 9 to 14.")
	status, answer := send(s, url.Values{"file": {files[0]}, "key": {"height"}, "label": {"tall"}})
	require.Equal(t, "422", status)
	require.Contains(t, answer, "The label is no number.")
	status, _ = send(s, url.Values{"file": {files[0]}, "key": {"height"}, "label": {"12.50"}})
	require.Equal(t, "303", status)
	require.Equal(t, map[string]any{"height": 12.5}, notes(t, s, 2, files[0])[0].Content)
	_, again := s.Page(t, site.Bob, "runs/"+birds+"/label?at=1")
	require.Contains(t, again, `name="label" value="12.5"`)

	s = site.New(t, site.Options{})
	said := results.FileAnswer{Predicted: "robin; wren"}
	files = s.AddForm(t, "metadata.birds", &results.LabelForm{Separator: ";", None: "(none)"}, said, "robin", "tern", "wren")
	_, first = s.Page(t, site.Bob, "runs/"+birds+"/label")
	require.Equal(t, []int{2, 3, 0}, []int{strings.Count(first, "the model</small>"), strings.Count(first, `type="checkbox"`), strings.Count(first, " checked")})
	form := url.Values{"file": {files[0]}, "key": {"birds"}, "separator": {";"}}
	status, answer = send(s, form)
	require.Equal(t, "422", status, "nothing that is ticked is not a label of none")
	require.Contains(t, answer, "or none of them")
	form["label"], form["other"] = []string{"wren", "tern"}, []string{"heron; robin"}
	status, _ = send(s, form)
	require.Equal(t, "303", status)
	require.Equal(t, map[string]any{"birds": []any{"heron", "robin", "tern", "wren"}}, notes(t, s, 2, files[0])[0].Content)
	_, again = s.Page(t, site.Bob, "runs/"+birds+"/label?at=1")
	require.Equal(t, 4, strings.Count(again, " checked"), "a label that the model does not know has a box, too")
	form = url.Values{"file": {files[1]}, "key": {"birds"}, "separator": {";"}, "none": {"(none)"}}
	status, _ = send(s, form)
	require.Equal(t, "303", status)
	require.Equal(t, map[string]any{"birds": "(none)"}, notes(t, s, 2, files[1])[0].Content)
}

func TestALabelWhoseAnswerWasLostIsNotDoubled(t *testing.T) {
	t.Parallel()
	s, files := withBirds(t, 2, "metadata.species")
	s.Clowder.Fail(clowdertest.Fault{Method: http.MethodPost, Path: "/metadata", Status: http.StatusInternalServerError, After: true, Times: 1})
	status, item := ask(t, s, site.Bob, http.MethodPost, birds+"/label", map[string]any{"file": files[1], "label": "robin"})
	require.Equal(t, []any{200, "robin"}, []any{status, item["label"]}, "%v", item)
	require.Len(t, notes(t, s, 2, files[1]), 1)

	s.Clowder.Fail(clowdertest.Fault{Method: http.MethodPost, Path: "/metadata", Status: http.StatusInternalServerError})
	status, problem := ask(t, s, site.Bob, http.MethodPost, birds+"/label", map[string]any{"file": files[2], "label": "robin"})
	require.Equal(t, []any{502, "clowder"}, []any{status, problem["type"]})
	s.Clowder.ClearFaults()
	require.Empty(t, notes(t, s, 2, files[2]))
}

func TestWhoMayNotLabelIsToldWhatIsMissing(t *testing.T) {
	t.Parallel()
	s, files := withBirds(t, 2, "")
	status, list := ask(t, s, site.Carol, http.MethodGet, birds+"/next-labels", nil)
	require.Equal(t, []any{200, "label"}, []any{status, list["key"]}, "a viewer may look, and a model of folders has the key label")
	for _, path := range []string{"/label", "/label/undo"} {
		status, problem := ask(t, s, site.Carol, http.MethodPost, birds+path, map[string]any{"file": files[0], "label": "wren"})
		require.Equal(t, []any{403, "You are viewer of this dataset; this needs the role uploader."}, []any{status, problem["detail"]})
		require.Contains(t, problem["do"], "Ask an owner")
	}
	status, _ = ask(t, s, site.Dave, http.MethodPost, birds+"/label", map[string]any{"file": files[0], "label": "wren"})
	require.Equal(t, 404, status)
	for name, body := range map[string]map[string]any{
		"a file of no list":        {"file": "0123456789abcdef01234567", "label": "wren"},
		"no label":                 {"file": files[0], "label": "  "},
		"a label that is too long": {"file": files[0], "label": strings.Repeat("é", 150)},
	} {
		status, problem := ask(t, s, site.Bob, http.MethodPost, birds+"/label", body)
		require.Contains(t, []int{404, 422}, status, "%s: %v", name, problem)
	}
	for _, file := range files {
		require.Empty(t, notes(t, s, 2, file))
	}
	_, answer := s.Page(t, site.Carol, "runs/"+birds+"/label")
	require.Contains(t, answer, "You are viewer of this dataset; labels need the role uploader.")
	require.NotContains(t, answer, `name="label"`)
	status, answer = s.Page(t, site.Alice, "runs/ft-none/label")
	require.Equal(t, 404, status, answer)
}

func TestThePageGoesFromFileToFile(t *testing.T) {
	t.Parallel()
	s, files := withBirds(t, 2, "metadata.species, metadata.site")
	bob := s.Login(t, site.Bob)
	send := func(path string, form url.Values) string {
		answer, err := bob.PostForm(s.URL+"/runs/"+birds+"/"+path, form)
		require.NoError(t, err)
		defer func() { _ = answer.Body.Close() }()
		require.Equal(t, http.StatusSeeOther, answer.StatusCode)
		next, err := bob.Get(s.URL + answer.Header.Get("Location"))
		require.NoError(t, err)
		defer func() { _ = next.Body.Close() }()
		body, err := io.ReadAll(next.Body)
		require.NoError(t, err)
		return string(body)
	}
	_, first := s.Page(t, site.Bob, "runs/"+birds+"/label")
	require.Contains(t, first, "File 1 of 3")
	require.Contains(t, first, `src="/runs/`+birds+`/label/files/`+files[0]+`"`)
	form := url.Values{"file": {files[0]}, "key": {"species"}, "label": {"wren"}}
	second := send("label", form)
	require.Contains(t, second, "one.png is labelled <strong>wren</strong>")
	require.Contains(t, second, "a bird &lt;b&gt;sings&lt;/b&gt;", "it is text")
	require.Contains(t, send("label/undo", form), "File 1 of 3")
	require.Empty(t, notes(t, s, 2, files[0]))
	send("label", url.Values{"file": {files[0]}, "key": {"species"}, "label": {"wren"}, "other": {" grey  heron "}})
	send("label", url.Values{"file": {files[1]}, "key": {"species"}, "label": {"wren"}})
	s.Restart(t) // the service keeps nothing of it
	bob = s.Login(t, site.Bob)
	_, third := s.Page(t, site.Bob, "runs/"+birds+"/label")
	require.Contains(t, third, "File 3 of 3")
	_, end := s.Page(t, site.Bob, "runs/"+birds+"/label?after=3")
	for _, want := range []string{"2 of 3 files have a label.", "1 were skipped", "label_from: metadata.species", "grey heron"} {
		require.Contains(t, end, want)
	}
	_, run := s.Page(t, site.Bob, "runs/"+birds)
	require.Contains(t, run, `href="/runs/`+birds+`/label"`)

	answer, err := bob.Get(s.URL + "/runs/" + birds + "/label/files/" + files[0])
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, []string{"image/png", "sandbox; default-src 'none'"}, []string{answer.Header.Get("Content-Type"), answer.Header.Get("Content-Security-Policy")})
	for _, other := range []string{files[1], "0123456789abcdef01234567"} {
		answer, err := bob.Get(s.URL + "/runs/" + birds + "/label/files/" + other)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, http.StatusNotFound, answer.StatusCode, "no picture of the list")
	}
}
