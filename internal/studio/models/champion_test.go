package models

import (
	"encoding/json"
	"html"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// found returns the path of a file in the registry, whatever the folder of the dataset is called.
func (f *fixture) found(name string) string {
	f.t.Helper()
	var at string
	require.NoError(f.t, filepath.WalkDir(filepath.Join(f.volume, "registry"), func(path string, _ fs.DirEntry, err error) error {
		if filepath.Base(path) == name {
			at = path
		}
		return err
	}))
	require.NotEmpty(f.t, at)
	return at
}

func TestAChampionThatCannotBeReadHidesNoVersion(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.reviews(2)
	require.NoError(t, os.WriteFile(f.found("champion.json"), []byte("{"), 0o600))
	page := f.do("carol", "GET", "/models/"+ds+"/reviews")
	require.Equal(t, http.StatusOK, page.Code)
	require.Contains(t, page.Body.String(), "No champion. Predictions that name the champion use the newest version.")
	list := f.do("carol", "GET", "/datasets/"+ds+"/models").Body.String()
	require.Contains(t, list, "2 versions")
	require.Contains(t, list, `class="muted">none</td>`)
	f.do("carol", "POST", "/api/v1/models/"+ds+"/reviews/champion/predict", asJSON(`{"rows":[{"text":"a"}]}`))
	require.Equal(t, 2, f.answers.asks.Version, "without a champion the newest version answers")
	require.Contains(t, f.do("alice", "GET", "/models/"+ds+"/reviews/1/promote").Body.String(), "There is no champion now.")
	require.Equal(t, http.StatusSeeOther, f.do("alice", "POST", "/models/"+ds+"/reviews/1/promote").Code, "a new choice repairs it")
	require.Contains(t, f.do("carol", "GET", "/models/"+ds+"/reviews").Body.String(), "Champion: <strong>reviews/1</strong>")
}

func TestARegistryThatCannotBeReadIsNotAnEmptyOne(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.reviews(1)
	folder := filepath.Dir(filepath.Dir(f.found("champion.json")))
	require.NoError(t, os.RemoveAll(folder))
	require.NoError(t, os.WriteFile(folder, nil, 0o600))
	for _, path := range []string{"/datasets/" + ds + "/models", "/api/v1/models?dataset=" + ds} {
		found := f.do("carol", "GET", path)
		require.GreaterOrEqual(t, found.Code, http.StatusBadRequest, path)
		require.Contains(t, html.UnescapeString(found.Body.String()), "list of this dataset's models cannot be read: ask the administrator", path)
		require.NotContains(t, found.Body.String(), "registry/", path)
	}
}

func TestAVersionIsNamedByItsNumberOnly(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.reviews(2)
	for number, status := range map[string]int{
		"1": 200, "2": 200, "champion": 200, "0": 404, "3": 404, "-1": 404, "01": 404, "1.0": 404, "%2B1": 404, "Champion": 404, "newest": 404,
	} {
		require.Equal(t, status, f.do("carol", "GET", "/api/v1/models/"+ds+"/reviews/"+number).Code, number)
		require.Equal(t, status, f.do("carol", "GET", "/v2/models/"+ds+".reviews/versions/"+number+"/ready").Code, number)
	}
	for _, path := range []string{"/models/" + ds + "/reviews?version=3", "/models/" + ds + "/reviews?version=x", "/models/" + ds + "/reviews/3/serve"} {
		require.Equal(t, http.StatusNotFound, f.do("carol", "GET", path).Code, path)
	}
	require.Equal(t, http.StatusNotFound, f.do("alice", "POST", "/models/"+ds+"/reviews/3/promote").Code)
	require.Equal(t, http.StatusNotFound, f.do("alice", "POST", "/models/"+ds+"/reviews/3/export").Code)
	require.Empty(t, f.promoted)
	require.Empty(t, f.exported)
}

func TestAVersionInTheAPISaysWhatItReads(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.reviews(2)
	read := func(method, path string) ModelVersion {
		var v ModelVersion
		found := f.do("alice", method, "/api/v1/models/"+ds+path)
		require.Equal(t, http.StatusOK, found.Code, found.Body)
		require.NoError(t, json.Unmarshal(found.Body.Bytes(), &v))
		return v
	}
	one, two := read("GET", "/reviews/1"), read("GET", "/reviews/2")
	require.True(t, one.Champion)
	require.False(t, two.Champion)
	require.Equal(t, "text", two.Reads.Columns[0].Name)
	info, err := os.Stat(f.found("trainer.json"))
	require.NoError(t, err)
	require.Equal(t, info.Size(), two.Size, "the bytes of its files")
	require.Equal(t, time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC), two.Made)
	require.True(t, read("POST", "/reviews/2/promote").Champion)
	require.False(t, read("GET", "/reviews/1").Champion)
}

func TestTheNewestModelOfADatasetComesFirst(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.reviews(1)
	v := f.register("apples", "text", "words", "ft-8", map[string]string{"trainer.json": `{"kind":"text"}`})
	at := f.found("apples")
	doc, err := os.ReadFile(filepath.Join(at, "1", "version.json"))
	require.NoError(t, err)
	var stored map[string]any
	require.NoError(t, json.Unmarshal(doc, &stored))
	order := func(made time.Time) []string {
		stored["created"] = made
		doc, err := json.Marshal(stored)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(at, "1", "version.json"), doc, 0o600))
		var list struct{ Models []TrainedModel }
		require.NoError(t, json.Unmarshal(f.do("carol", "GET", "/api/v1/models?dataset="+ds).Body.Bytes(), &list))
		var names []string
		for _, m := range list.Models {
			names = append(names, m.Name)
		}
		return names
	}
	require.Equal(t, []string{"reviews", "apples"}, order(v.Created.Add(-time.Hour)))
	require.Equal(t, []string{"apples", "reviews"}, order(v.Created.Add(time.Hour)))
}

func TestAFormThatCannotBeReadAsksNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.reviews(1)
	cut := body("multipart/form-data; boundary=x", "--x\r\nContent-Disposition: form-data; name=\"in.text\"\r\n\r\nThe end")
	found := f.do("carol", "POST", "/models/"+ds+"/reviews/try", cut)
	require.Equal(t, http.StatusUnprocessableEntity, found.Code)
	require.Contains(t, found.Body.String(), "The form cannot be read.")
	require.Nil(t, f.answers.asked)
	simple := body("application/x-www-form-urlencoded", "in.text=The+end&in.other=x")
	require.Equal(t, http.StatusOK, f.do("carol", "POST", "/models/"+ds+"/reviews/try", simple).Code, "a program may send a simple form")
	require.Equal(t, []any{"The end"}, f.answers.asked[0].Data)
	require.Len(t, f.answers.asked, 1, "fields that no column has are left out")
}
