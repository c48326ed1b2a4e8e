package jobsapi_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/rayjob/jobsapi"
	"github.com/ncsa/clowder-ray/internal/rayjob/raytest"
)

func TestWarmProcessesAreRequestedOnceRayIsThere(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		faults []raytest.Fault
		jobs   int
	}{
		"Ray takes the request":            {nil, 1},
		"Ray is still starting":            {[]raytest.Fault{raytest.Answer(500, "No available agent to submit job, please try again later.")}, 1},
		"the answer is lost":               {[]raytest.Fault{raytest.DropAnswer()}, 1},
		"an internal error is not doubled": {[]raytest.Fault{raytest.Answer(500, "Traceback")}, 0},
		"Ray does not like the request":    {[]raytest.Fault{raytest.Answer(400, "TypeError: unexpected keyword")}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seen := make(chan raytest.Driver, 1)
			server, address := serve(t, raytest.Config{Run: func(_ context.Context, d raytest.Driver) int {
				seen <- d
				return 0
			}})
			for _, f := range tc.faults {
				server.Fault(1, http.MethodPost, jobs, f)
			}
			c := client(t, jobsapi.Config{Address: address, PollInterval: time.Millisecond, Instance: "mine"})
			c.Warm(t.Context(), rayjob.Attempt{TrainerPath: "/shared/trainer/1f", Python: "python3", Warm: 2})
			require.Len(t, server.Jobs(), tc.jobs)
			if tc.jobs == 0 {
				return
			}
			driver := <-seen
			require.Equal(t, "python3 -m trainer warm", driver.Entrypoint)
			require.Equal(t, "2", driver.Env["WARM_WORKERS"])
			require.Equal(t, "/shared/trainer/1f", driver.Env["PYTHONPATH"])
			listed, err := c.List(t.Context())
			require.NoError(t, err)
			require.Empty(t, listed, "it is no attempt of a run")
		})
	}
}

func TestTheRequestForWarmProcessesEndsWithTheService(t *testing.T) {
	t.Parallel()
	server, address := serve(t, raytest.Config{})
	server.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	client(t, jobsapi.Config{Address: address, PollInterval: time.Hour}).Warm(ctx, rayjob.Attempt{Python: "python", Warm: 1})
}
