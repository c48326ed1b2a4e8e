package runs_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/test/studio/site"
)

func TestWhoHasNoRoleLearnsNothing(t *testing.T) {
	t.Parallel()
	s := site.New(t, site.Options{})
	s.Fill(t)
	for _, path := range []string{"runs/%s", "runs/%s/report", "runs/%s/report.html", "runs/%s/files/log.txt", "compare?run=%s&run=" + best} {
		_, foreign := s.Page(t, site.Dave, strings.ReplaceAll(path, "%s", first))
		status, invented := s.Page(t, site.Dave, strings.ReplaceAll(path, "%s", unknown))
		require.Equal(t, 404, status, path)
		require.Equal(t, plain(invented), plain(foreign), path)
		require.NotContains(t, foreign, "reviews", path)
	}
	for _, path := range []string{"runs/%s", "runs/%s/files", "runs/%s/files/log.txt", "compare?run=%s&run=" + best} {
		status, foreign := s.Call(t, site.Dave, http.MethodGet, strings.ReplaceAll(path, "%s", first), nil)
		_, invented := s.Call(t, site.Dave, http.MethodGet, strings.ReplaceAll(path, "%s", unknown), nil)
		require.Equal(t, 404, status, path)
		require.Equal(t, invented, foreign, path)
	}
	for _, path := range []string{"datasets/" + s.Dataset, "runs?dataset=" + s.Dataset, "runs?dataset=0123456789abcdef01234567"} {
		status, answer := s.Call(t, site.Dave, http.MethodGet, path, nil)
		require.Equal(t, 404, status, path)
		require.Equal(t, "not-found", answer["type"])
	}
	for _, action := range []string{"cancel", "stop", "retry"} {
		status, _ := s.Call(t, site.Dave, http.MethodPost, "runs/"+going+"/"+action, nil)
		require.Equal(t, 404, status, action)
		status, _, _ = post(t, s, site.Dave, "runs/"+going+"/"+action, nil)
		require.Equal(t, 404, status, action)
	}
	status, answer := s.Call(t, site.Dave, http.MethodGet, "runs", nil)
	require.Equal(t, 200, status)
	require.Empty(t, ids(answer))
}

func TestAViewerLooksAndChangesNothing(t *testing.T) {
	t.Parallel()
	s := site.New(t, site.Options{})
	s.Fill(t)
	_, list := s.Page(t, site.Carol, "datasets/"+s.Dataset+"/runs")
	require.Contains(t, list, "stars-lr3e-4")
	require.NotContains(t, list, "/train?")
	require.Contains(t, list, "To train on it, ask "+site.Alice+" for the role uploader.")
	_, run := s.Page(t, site.Carol, "runs/"+going)
	require.NotContains(t, run, "Stop and keep")
	require.NotContains(t, run, "Run again")
	for path, want := range map[string]int{"runs/" + going + "/cancel": 403, "runs/" + going + "/stop": 403, "runs/" + failed + "/retry": 403, "datasets/" + s.Dataset + "/train": 403} {
		status, body, _ := post(t, s, site.Carol, path, url.Values{"extractor": {"ncsa.ray.finetune"}})
		require.Equal(t, want, status, path)
		require.Contains(t, body, "viewer", path)
	}
	status, _ := s.Call(t, site.Carol, http.MethodPost, "datasets/"+s.Dataset+"/runs", map[string]any{"extractor": "ncsa.ray.finetune"})
	require.Equal(t, 403, status)
	rec, err := s.Store.Get(t.Context(), going)
	require.NoError(t, err)
	require.Empty(t, rec.CancelledBy)
}

func TestRunsOfADatasetThatIsGoneAreShownToThoseWhoStartedThem(t *testing.T) {
	t.Parallel()
	s := site.New(t, site.Options{})
	s.Add(t, site.Run{ID: "ft-orphan", Dataset: "0123456789abcdef01234567", By: site.Bob, Accuracy: 0.9})
	for user, want := range map[string]int{site.Bob: 200, site.Alice: 404} {
		status, _ := s.Page(t, user, "runs/ft-orphan")
		require.Equal(t, want, status, user)
	}
	_, list := s.Call(t, site.Bob, http.MethodGet, "runs", nil)
	require.Equal(t, []string{"ft-orphan"}, ids(list))
}

func TestWhoLostTheirRoleNoLongerSeesTheirRuns(t *testing.T) {
	t.Parallel()
	s := site.New(t, site.Options{})
	s.Add(t, site.Run{ID: "ft-davesrun", By: site.Dave, Accuracy: 0.9})
	status, _ := s.Page(t, site.Dave, "runs/ft-davesrun")
	require.Equal(t, 404, status)
	_, list := s.Call(t, site.Dave, http.MethodGet, "runs", nil)
	require.Empty(t, ids(list))
}

func TestRunsOfAnotherClowderAreNotShown(t *testing.T) {
	t.Parallel()
	s := site.New(t, site.Options{})
	s.Add(t, site.Run{ID: "ft-requests", Extractor: "ncsa.ray.runs", Text: "4 runs in this dataset."})
	status, _ := s.Page(t, site.Alice, "runs/ft-requests")
	require.Equal(t, 404, status, "a request about runs is no run")
}
