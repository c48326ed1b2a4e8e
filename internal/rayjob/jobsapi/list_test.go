package jobsapi_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/rayjob/jobsapi"
	"github.com/ncsa/clowder-ray/internal/rayjob/raytest"
)

func TestAServiceListsItsOwnAttemptsOnly(t *testing.T) {
	t.Parallel()
	server, address := serve(t, raytest.Config{})
	attempt := func(run string) rayjob.Attempt {
		return rayjob.Attempt{Run: run, Number: 1, Dir: "/shared/runs/" + run, Python: "python"}
	}
	mine := client(t, jobsapi.Config{Address: address, Instance: "mine"})
	h, err := mine.Submit(t.Context(), attempt("ft-mine"))
	require.NoError(t, err)
	for run, instance := range map[string]string{"ft-other": "other", "ft-unmarked": ""} {
		_, err := client(t, jobsapi.Config{Address: address, Instance: instance}).Submit(t.Context(), attempt(run))
		require.NoError(t, err)
	}
	server.Change("by-hand", func(j *raytest.Job) { j.Metadata = map[string]string{"clowder_ray_run": "ft-mine"} })

	found, err := mine.List(t.Context())
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Equal(t, h.ID, found[0].ID)
	require.NoError(t, mine.Release(t.Context(), found[0]), "a listed handle is enough to release it")
	found, err = mine.List(t.Context())
	require.NoError(t, err)
	require.Empty(t, found)
	require.Len(t, server.Jobs(), 3, "those of others stay")

	_, err = client(t, jobsapi.Config{Address: address}).List(t.Context())
	require.Error(t, err, "who has no name knows nothing as its own")
	server.Fault(1, http.MethodGet, "/api/jobs/", raytest.Answer(http.StatusInternalServerError, "no"))
	_, err = mine.List(t.Context())
	require.Error(t, err, "a failed look is no empty list")
}
