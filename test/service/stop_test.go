//go:build integration

package service

import (
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/rayjob/raytest"
	"github.com/ncsa/clowder-ray/test/stack"
)

// countText counts the lines of a job that hold a text.
func countText(updates []clowder.JobUpdate, text string) (n int) {
	for _, u := range updates {
		if strings.Contains(u.Text, text) {
			n++
		}
	}
	return n
}

func TestASignalInAnyStageIsNoFailure(t *testing.T) {
	t.Parallel()
	program := stack.Program(t)
	for name, tc := range map[string]struct {
		// arrange keeps the job in its stage until clearFault, and there says whether it has got there.
		arrange func(w *stack.Fixture) (there func() bool, clearFault func())
		state   job.State
	}{
		"while the dataset is downloaded": {state: job.Accepted, arrange: func(w *stack.Fixture) (func() bool, func()) {
			w.Clowder.Fail(clowdertest.Fault{Method: http.MethodGet, Path: "/api/v2/files/", Hang: true})
			return func() bool { return w.Clowder.Requests(http.MethodGet, "/api/v2/files/") > 0 }, w.Clowder.ClearFaults
		}},
		"while it is submitted to Ray": {state: job.Staged, arrange: func(w *stack.Fixture) (func() bool, func()) {
			w.Ray.Fault(1, http.MethodPost, "/api/jobs/", raytest.Hang())
			return func() bool { return w.Ray.Requests(http.MethodPost, "/api/jobs/") > 0 }, func() {}
		}},
		"while it trains": {state: job.Running, arrange: func(w *stack.Fixture) (func() bool, func()) {
			release := w.HoldTrainings()
			return func() bool { return w.Trainings.Load() == 1 }, release
		}},
		"while the results are uploaded": {state: job.Collected, arrange: func(w *stack.Fixture) (func() bool, func()) {
			w.Clowder.Fail(clowdertest.Fault{Method: http.MethodPost, Path: "/files", Hang: true})
			return func() bool { return w.Clowder.Requests(http.MethodPost, "/files") > 0 }, w.Clowder.ClearFaults
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := stack.NewFixture(t, program, table())
			there, clearFault := tc.arrange(w)
			first := w.Start(t, nil)
			id := w.Submit(t, w.Dataset, nil)
			require.Eventually(t, there, stack.StepTimeout, 10*time.Millisecond)
			if tc.state == job.Running {
				awaitState(t, w, tc.state)
			}
			require.NoError(t, first.Stop(30*time.Second))
			require.Zero(t, first.ExitCode())
			rec := w.Records(t)[0]
			require.Equal(t, tc.state, rec.State)
			require.Nil(t, rec.Ending)
			require.Zero(t, rec.Failures, rec.LastError)

			clearFault()
			w.Start(t, nil)
			last, updates := w.AwaitJob(t, id)
			require.Equal(t, "SUCCEEDED", last.Status)
			require.EqualValues(t, 1, w.Trainings.Load())
			require.Equal(t, 1, countText(updates, "Accepted dataset"), "%v", updates)
			require.Equal(t, 1, countText(updates, "held-out "), "%v", updates)
		})
	}
}

func TestASecondSignalEndsTheServiceAtOnce(t *testing.T) {
	t.Parallel()
	w := stack.NewFixture(t, stack.Program(t), table())
	s := w.Start(t, nil)
	// Somebody holds the store, so the handler of a message cannot end, and the stop waits for it.
	release := w.HoldStore(t)
	id := w.Submit(t, w.Dataset, nil)
	require.Eventually(t, func() bool {
		return strings.Contains(ask(t, s.Health()+"/metrics"), `clowder_ray_queue_deliveries_total{redelivered="false"} 1`)
	}, stack.StepTimeout, 10*time.Millisecond)

	require.NoError(t, syscall.Kill(s.Pid(), syscall.SIGTERM))
	require.Eventually(t, func() bool { return strings.Contains(ask(t, s.Health()+"/readyz"), "stopping") }, stack.StepTimeout, 10*time.Millisecond)
	require.NoError(t, syscall.Kill(s.Pid(), syscall.SIGTERM))
	<-s.Exited()
	require.Equal(t, -1, s.ExitCode(), "ended by the second signal: the stop that the first one began waits for the store")

	release()
	w.Start(t, nil)
	last, _ := w.AwaitJob(t, id)
	require.Equal(t, "SUCCEEDED", last.Status, "the message was not acknowledged and came again")
}
