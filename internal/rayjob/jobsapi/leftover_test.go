package jobsapi_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/rayjob/jobsapi"
	"github.com/ncsa/clowder-ray/internal/rayjob/raytest"
)

// leave puts the entry on the server that Ray writes after it has deleted the entry of a job that had just ended.
func leave(server *raytest.Server, id string) {
	server.Change(id, func(j *raytest.Job) {
		j.Status, j.Entrypoint, j.ErrorType = "FAILED", "Entrypoint not found.", "JOB_SUPERVISOR_ACTOR_DIED"
		j.Message = "Job supervisor actor died: The actor is dead because all references to the actor were removed."
	})
}

func TestALeftoverEntryIsNoAttempt(t *testing.T) {
	t.Parallel()
	h := rayjob.Handle{ID: attempt().Name()}
	for name, tc := range map[string]struct {
		call func(t *testing.T, c *jobsapi.Client)
		jobs []string
	}{
		"it is lost": {func(t *testing.T, c *jobsapi.Client) {
			t.Helper()
			obs, err := c.Observe(t.Context(), h, time.Hour)
			require.NoError(t, err)
			require.Equal(t, rayjob.Observation{Verdict: rayjob.Lost, Reason: "the entry of the training on the Ray cluster was deleted"}, obs)
		}, []string{"by-hand"}},
		"its name is free": {func(t *testing.T, c *jobsapi.Client) {
			t.Helper()
			_, err := c.Submit(t.Context(), attempt())
			require.NoError(t, err)
			obs, err := c.Observe(t.Context(), h, time.Hour)
			require.NoError(t, err)
			require.NotEqual(t, rayjob.Failed, obs.Verdict)
		}, []string{"by-hand", "ft-abc-a1"}},
		"nothing is to be stopped": {func(t *testing.T, c *jobsapi.Client) {
			t.Helper()
			require.NoError(t, c.Stop(t.Context(), h))
		}, []string{"by-hand"}},
		"it is released": {func(t *testing.T, c *jobsapi.Client) {
			t.Helper()
			require.NoError(t, c.Release(t.Context(), h))
		}, []string{"by-hand"}},
		"a look at another attempt deletes it": {func(t *testing.T, c *jobsapi.Client) {
			t.Helper()
			_, err := c.Observe(t.Context(), rayjob.Handle{ID: "ft-other-a1"}, time.Hour)
			require.NoError(t, err)
		}, []string{"by-hand"}},
		"no service owns it": {func(t *testing.T, c *jobsapi.Client) {
			t.Helper()
			own, err := c.List(t.Context())
			require.NoError(t, err)
			require.Empty(t, own)
		}, []string{"by-hand", "ft-abc-a1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, address := serve(t, raytest.Config{})
			leave(server, "by-hand")
			leave(server, h.ID)
			tc.call(t, client(t, jobsapi.Config{Address: address, Instance: "mine", PollInterval: time.Nanosecond}))
			require.ElementsMatch(t, tc.jobs, server.Jobs())
		})
	}
}

func TestALeftoverEntryThatCannotBeDeletedIsTriedAgain(t *testing.T) {
	t.Parallel()
	server, address := serve(t, raytest.Config{})
	leave(server, "ft-abc-a1")
	server.Fault(1, http.MethodDelete, one, raytest.Answer(http.StatusInternalServerError, "no"))
	c := client(t, jobsapi.Config{Address: address, PollInterval: time.Nanosecond})
	for _, left := range []int{1, 0} {
		obs, err := c.Observe(t.Context(), rayjob.Handle{ID: "ft-other-a1"}, time.Hour)
		require.NoError(t, err)
		require.Equal(t, rayjob.Lost, obs.Verdict)
		require.Len(t, server.Jobs(), left)
	}
}
