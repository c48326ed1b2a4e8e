package studio

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/test/studio/site"
)

// TestAPromotionThatClowderDidNotHearOf moves the champion while Clowder takes no note: the answer says so, and the next try adds the note,
// once. A champion that was another one in between is noted again.
func TestAPromotionThatClowderDidNotHearOf(t *testing.T) {
	t.Parallel()
	s := site.New(t, site.Options{})
	s.Fill(t)
	promote := func(version string) (int, map[string]any) {
		return s.Call(t, site.Alice, http.MethodPost, "models/"+s.Dataset+"/reviews/"+version+"/promote", nil)
	}
	client, err := clowder.NewClient(clowder.Config{URL: s.Clowder.URL})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	noted := func() (champions []any) {
		have, err := client.As(job.Secret(s.Clowder.Key(site.Alice))).Metadata(t.Context(), s.Dataset)
		require.NoError(t, err)
		for _, m := range have {
			champions = append(champions, m.Content["champion"])
		}
		return champions
	}

	s.Clowder.Fail(clowdertest.Fault{Method: http.MethodPost, Path: "/metadata", Status: http.StatusInternalServerError})
	status, problem := promote("2")
	require.Equal(t, []any{http.StatusBadGateway, "not-noted"}, []any{status, problem["type"]})
	require.Contains(t, problem["detail"], "reviews/2 is the champion now")
	require.Contains(t, problem["do"], "Only the note is added then")
	require.Empty(t, noted())
	status, version := promote("champion")
	require.Equal(t, []any{http.StatusBadGateway, "not-noted"}, []any{status, version["type"]}, "the champion is reviews/2")

	s.Clowder.ClearFaults()
	for range 2 {
		status, version = promote("2")
		require.Equal(t, []any{http.StatusOK, "reviews/2"}, []any{status, version["ref"]})
		require.Equal(t, []any{"reviews/2"}, noted())
	}
	_, _ = promote("3")
	_, _ = promote("2")
	require.ElementsMatch(t, []any{"reviews/2", "reviews/3", "reviews/2"}, noted())
}
