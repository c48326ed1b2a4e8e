package jobsapi_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/rayjob/jobsapi"
	"github.com/ncsa/clowder-ray/internal/rayjob/raytest"
)

func nopLogger() *zap.Logger { return zap.NewNop() }

func TestVerdicts(t *testing.T) {
	t.Parallel()
	const failed = "Job entrypoint command failed with exit code %d, last available logs (truncated to 20,000 chars):\n"
	for name, tc := range map[string]struct {
		job  raytest.Job
		want rayjob.Observation
	}{
		"pending":                     {raytest.Job{Status: "PENDING"}, rayjob.Observation{Verdict: rayjob.Pending, Notice: "waiting for Ray to start the job"}},
		"running":                     {raytest.Job{Status: "RUNNING"}, rayjob.Observation{Verdict: rayjob.Running}},
		"succeeded":                   {raytest.Job{Status: "SUCCEEDED", ExitCode: new(0)}, rayjob.Observation{Verdict: rayjob.Succeeded}},
		"stopped":                     {raytest.Job{Status: "STOPPED"}, rayjob.Observation{Verdict: rayjob.Stopped, Reason: "the training was stopped on the Ray cluster"}},
		"a status of another version": {raytest.Job{Status: "HIBERNATING"}, rayjob.Observation{Verdict: rayjob.Running}},
		"a status in small letters":   {raytest.Job{Status: "failed"}, rayjob.Observation{Verdict: rayjob.Running}},
		"a program that failed": {
			raytest.Job{Status: "FAILED", ErrorType: "JOB_ENTRYPOINT_COMMAND_ERROR", ExitCode: new(1), Message: fmt.Sprintf(failed, 1) + "Traceback (most recent call last):\n  File \"x\"\nValueError: no label\n"},
			rayjob.Observation{Verdict: rayjob.Failed, Reason: "the training program ended with exit code 1: ValueError: no label"},
		},
		"a program that failed in silence": {
			raytest.Job{Status: "FAILED", ErrorType: "JOB_ENTRYPOINT_COMMAND_ERROR", ExitCode: new(2), Message: "Job entrypoint command failed with exit code 2. No logs available."},
			rayjob.Observation{Verdict: rayjob.Failed, Reason: "the training program ended with exit code 2"},
		},
		"a program that was killed": {
			raytest.Job{Status: "FAILED", ErrorType: "JOB_ENTRYPOINT_COMMAND_ERROR", ExitCode: new(-9), Message: fmt.Sprintf(failed, -9) + "step 5\n"},
			rayjob.Observation{Verdict: rayjob.Failed, Reason: "the training was killed, probably because its node ran out of memory"},
		},
		"a program that was killed below its shell": {
			raytest.Job{Status: "FAILED", ExitCode: new(137)},
			rayjob.Observation{Verdict: rayjob.Failed, Reason: "the training was killed, probably because its node ran out of memory"},
		},
		"a program that was terminated": {
			raytest.Job{Status: "FAILED", ExitCode: new(143)}, rayjob.Observation{Verdict: rayjob.Failed, Reason: "the training was terminated by another process"},
		},
		"no interpreter": {
			raytest.Job{Status: "FAILED", ErrorType: "JOB_ENTRYPOINT_COMMAND_ERROR", ExitCode: new(127), Message: fmt.Sprintf(failed, 127) + "/bin/sh: 1: pyton: not found\n"},
			rayjob.Observation{Verdict: rayjob.Failed, Reason: "the Python interpreter of the training could not be started on the Ray cluster (exit code 127): /bin/sh: 1: pyton: not found"},
		},
		"a broken environment": {
			raytest.Job{Status: "FAILED", ErrorType: "RUNTIME_ENV_SETUP_FAILURE", Message: "runtime_env setup failed: bad\nmore"},
			rayjob.Observation{Verdict: rayjob.Failed, Reason: "Ray could not prepare the environment of the training: more"},
		},
		"no room": {
			raytest.Job{Status: "FAILED", ErrorType: "JOB_SUPERVISOR_ACTOR_START_TIMEOUT", Message: "Job supervisor actor failed to start within 900.0 seconds."},
			rayjob.Observation{Verdict: rayjob.Failed, Reason: "the Ray cluster had no free resources to start the training in time"},
		},
		"no such machine": {
			raytest.Job{Status: "FAILED", ErrorType: "JOB_SUPERVISOR_ACTOR_UNSCHEDULABLE", Message: "x"},
			rayjob.Observation{Verdict: rayjob.Failed, Reason: "the Ray cluster has no node that can run the training"},
		},
		"a machine that died": {
			raytest.Job{Status: "FAILED", ErrorType: "JOB_SUPERVISOR_ACTOR_DIED", Message: "Job supervisor actor died: The actor died\nbecause its node has died."},
			rayjob.Observation{Verdict: rayjob.Failed, Reason: "the node or the Ray process that ran the training was lost"},
		},
		"a supervisor that never came": {
			raytest.Job{Status: "FAILED", ErrorType: "JOB_SUPERVISOR_ACTOR_START_FAILURE", Message: "Unexpected error occurred: failed to get job supervisor."},
			rayjob.Observation{Verdict: rayjob.Failed, Reason: "Ray could not start the training: failed to get job supervisor."},
		},
		"an unknown failure of the supervisor": {
			raytest.Job{Status: "FAILED", ErrorType: "JOB_SUPERVISOR_ACTOR_UNKNOWN_FAILURE", Message: "Unexpected error occurred: x"},
			rayjob.Observation{Verdict: rayjob.Failed, Reason: "Ray could not start the training: x"},
		},
		"a command that did not start": {
			raytest.Job{Status: "FAILED", ErrorType: "JOB_ENTRYPOINT_COMMAND_START_ERROR", Message: "Traceback (most recent call last):\n  File \"a\"\nOSError: no processes left\n"},
			rayjob.Observation{Verdict: rayjob.Failed, Reason: "Ray could not start the training program: OSError: no processes left"},
		},
		"an error type of another version": {
			raytest.Job{Status: "FAILED", ErrorType: "METEORITE", Message: "hit\n"},
			rayjob.Observation{Verdict: rayjob.Failed, Reason: "the training failed on the Ray cluster: hit"},
		},
		"a failure without a word": {
			raytest.Job{Status: "FAILED"}, rayjob.Observation{Verdict: rayjob.Failed, Reason: "the training failed on the Ray cluster: Job is currently running."},
		},
		"a long message": {
			raytest.Job{Status: "FAILED", ExitCode: new(1), Message: fmt.Sprintf(failed, 1) + strings.Repeat("x", 20_000)},
			rayjob.Observation{Verdict: rayjob.Failed, Reason: "the training program ended with exit code 1: " + strings.Repeat("x", 254) + "…"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, address := serve(t, raytest.Config{})
			server.Change("ft-x-a1", func(j *raytest.Job) {
				j.Status, j.Message, j.ErrorType, j.ExitCode = tc.job.Status, tc.job.Message, tc.job.ErrorType, tc.job.ExitCode
			})
			obs, err := client(t, jobsapi.Config{Address: address}).Observe(t.Context(), rayjob.Handle{ID: "ft-x-a1"}, time.Hour)
			require.NoError(t, err)
			require.Equal(t, tc.want, obs)
		})
	}
}

func TestAForeignStatusIsWarnedAboutOnce(t *testing.T) {
	t.Parallel()
	server, address := serve(t, raytest.Config{})
	for i := range 100 {
		server.Change(fmt.Sprint("ft-x-a", i), func(j *raytest.Job) { j.Status = fmt.Sprint("NEW", i%40) })
	}
	core, logged := observer.New(zapcore.WarnLevel)
	c, err := jobsapi.New(jobsapi.Config{Address: address, PollInterval: time.Nanosecond}, zap.New(core))
	require.NoError(t, err)
	t.Cleanup(c.CloseIdleConnections)
	for range 3 {
		obs, err := c.Observe(t.Context(), rayjob.Handle{ID: "ft-x-a7"}, time.Hour)
		require.NoError(t, err)
		require.Equal(t, rayjob.Running, obs.Verdict)
	}
	require.Equal(t, 32, logged.Len(), "foreign texts do not fill the memory")
	require.Equal(t, "NEW0", logged.All()[0].ContextMap()["status"])
}

func TestAllJobsShareOneListing(t *testing.T) {
	t.Parallel()
	server, address := serve(t, raytest.Config{})
	for i := range 1000 {
		server.Change(fmt.Sprint("ft-x-a", i), func(j *raytest.Job) { j.Status = "RUNNING" })
	}
	c := client(t, jobsapi.Config{Address: address, PollInterval: time.Hour})
	var all sync.WaitGroup
	for i := range 1000 {
		all.Go(func() {
			obs, err := c.Observe(t.Context(), rayjob.Handle{ID: fmt.Sprint("ft-x-a", i)}, time.Hour)
			if err != nil || obs.Verdict != rayjob.Running {
				t.Error(obs, err)
			}
		})
	}
	all.Wait()
	require.Equal(t, 1, server.Requests(http.MethodGet, jobs))
	require.Zero(t, server.Requests(http.MethodGet, one))
}

func TestAnErrorIsSharedAsWell(t *testing.T) {
	t.Parallel()
	server, address := serve(t, raytest.Config{})
	server.Fault(1, http.MethodGet, jobs, raytest.Answer(502, "bad gateway"))
	c := client(t, jobsapi.Config{Address: address, PollInterval: time.Hour})
	for range 10 {
		_, err := c.Observe(t.Context(), rayjob.Handle{ID: "x"}, time.Hour)
		kind, _ := job.Classify(err)
		require.Equal(t, job.KindRetryable, kind)
	}
	require.Equal(t, 1, server.Requests(http.MethodGet, jobs))
}

func TestOneWhoGivesUpDoesNotSpoilItForTheOthers(t *testing.T) {
	t.Parallel()
	server, address := serve(t, raytest.Config{})
	server.Change("x", func(j *raytest.Job) { j.Status = "RUNNING" })
	server.Fault(1, http.MethodGet, jobs, raytest.Hang())
	c := client(t, jobsapi.Config{Address: address, PollInterval: time.Hour})
	ctx, cancel := context.WithCancel(t.Context())
	first := make(chan error, 1)
	go func() { _, err := c.Observe(ctx, rayjob.Handle{ID: "x"}, time.Hour); first <- err }()
	require.Eventually(t, func() bool { return server.Requests(http.MethodGet, jobs) == 1 }, 5*time.Second, time.Millisecond)
	others := make(chan error, 5)
	for range cap(others) {
		go func() { _, err := c.Observe(t.Context(), rayjob.Handle{ID: "x"}, time.Hour); others <- err }()
	}
	cancel()
	require.ErrorIs(t, <-first, context.Canceled)
	for range cap(others) {
		require.NoError(t, <-others)
	}
	require.Equal(t, 2, server.Requests(http.MethodGet, jobs))
}

func TestAJobYoungerThanTheListingIsNotLost(t *testing.T) {
	t.Parallel()
	_, address := serve(t, raytest.Config{Start: make(chan struct{})})
	c := client(t, jobsapi.Config{Address: address, PollInterval: time.Hour})
	_, err := c.Observe(t.Context(), rayjob.Handle{ID: "other"}, time.Hour)
	require.NoError(t, err)
	h, err := c.Submit(t.Context(), attempt())
	require.NoError(t, err)
	obs, err := c.Observe(t.Context(), h, time.Hour)
	require.NoError(t, err)
	require.Equal(t, rayjob.Pending, obs.Verdict)
	var logs bytes.Buffer
	require.NoError(t, c.Logs(t.Context(), h, &logs))
	require.Empty(t, logs.String(), "a pending job has printed nothing")
}

func TestAProxyThatSays404IsNotBelieved(t *testing.T) {
	t.Parallel()
	server, address := serve(t, raytest.Config{})
	server.Fault(1, http.MethodGet, one, raytest.Answer(404, "default backend - 404"))
	server.Fault(1, http.MethodGet, "/api/version", raytest.Answer(404, "default backend - 404"))
	c := client(t, jobsapi.Config{Address: address})
	_, err := c.Observe(t.Context(), rayjob.Handle{ID: "ft-x-a1"}, time.Hour)
	require.Error(t, err)
}

func TestAJobThatIsAskedToStopBeforeItBegan(t *testing.T) {
	t.Parallel()
	start := make(chan struct{})
	server, address := serve(t, raytest.Config{Start: start, Run: raytest.Program})
	// Ray forgets a stop that comes before the supervisor.
	server.Fault(1, http.MethodPost, "/api/jobs/{id}/stop", raytest.Answer(200, `{"stopped": false}`))
	c := client(t, jobsapi.Config{Address: address, PollInterval: time.Nanosecond})
	h, err := c.Submit(t.Context(), attempt())
	require.NoError(t, err)
	require.NoError(t, c.Stop(t.Context(), h))
	obs, err := c.Observe(t.Context(), h, time.Hour)
	require.NoError(t, err)
	require.Equal(t, rayjob.Stopped, obs.Verdict)
}

func TestATrainingThatTakesItsTimeToStop(t *testing.T) {
	t.Parallel()
	began, goodbye := make(chan struct{}), make(chan struct{})
	server, address := serve(t, raytest.Config{Run: func(context.Context, raytest.Driver) int {
		close(began)
		<-goodbye
		return 0
	}})
	t.Cleanup(func() { close(goodbye) })
	c := client(t, jobsapi.Config{Address: address, StopWait: 200 * time.Millisecond})
	h, err := c.Submit(t.Context(), attempt())
	require.NoError(t, err)
	<-began // a stop that comes earlier ends the training before its program runs
	for range 2 {
		err := c.Stop(t.Context(), h)
		require.EqualError(t, err, "waiting for the training to stop")
		kind, after := job.Classify(err)
		require.Equal(t, job.KindLater, kind)
		require.Positive(t, after)
	}
	require.Equal(t, 2, server.Requests(http.MethodPost, "/api/jobs/{id}/stop"))
}

func TestLogsAreCut(t *testing.T) {
	t.Parallel()
	_, address := serve(t, raytest.Config{Run: func(_ context.Context, d raytest.Driver) int {
		_, _ = fmt.Fprint(d.Output, strings.Repeat("0123456789", 1000))
		return 0
	}})
	c := client(t, jobsapi.Config{Address: address, MaxLog: 1000, PollInterval: time.Nanosecond})
	h, err := c.Submit(t.Context(), attempt())
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		obs, err := c.Observe(t.Context(), h, time.Hour)
		require.NoError(t, err)
		return obs.Verdict == rayjob.Succeeded
	}, 5*time.Second, time.Millisecond)
	var logs bytes.Buffer
	require.NoError(t, c.Logs(t.Context(), h, &logs))
	require.Less(t, logs.Len(), 1100)
	require.Contains(t, logs.String(), "truncated after 1000 bytes")
}

func TestCheck(t *testing.T) {
	t.Parallel()
	server, address := serve(t, raytest.Config{Token: "t"})
	c := client(t, jobsapi.Config{Address: address, Token: "t"})
	report, err := c.Check(t.Context())
	require.NoError(t, err)
	require.Equal(t, jobsapi.Report{Address: address, RayVersion: raytest.Version, Session: server.Session(), Nodes: 1, CPUs: 2}, report)

	server.Fault(1, http.MethodGet, "/api/version", raytest.Answer(200, `{"ray_version": "2.53.0", "session_name": "s"}`))
	server.Fault(1, http.MethodGet, "/api/v0/nodes", raytest.Answer(500, "off"))
	report, err = c.Check(t.Context())
	require.NoError(t, err)
	require.Len(t, report.Warnings, 2)
	require.Contains(t, report.Warnings[0], "upgrade to 2.54 or newer")
	require.Contains(t, report.Warnings[1], "are unknown")
}

// A cluster of one's own on this machine is shared with nobody; of any other the operator is told what its users can do to each other.
func TestCheckWarnsOfAClusterThatUsersShare(t *testing.T) {
	t.Parallel()
	for address, shared := range map[string]bool{
		"http://ray-head:8265": true, "https://10.0.0.7": true, "http://127.0.0.1:8265": false, "http://localhost:8265": false, "http://[::1]:8265": false,
	} {
		c := client(t, jobsapi.Config{Address: address, Transport: handled{raytest.NewServer(raytest.Config{})}})
		report, err := c.Check(t.Context())
		require.NoError(t, err)
		require.Equal(t, shared, slices.Contains(report.Warnings, rayjob.StandingWarning), address)
	}
}

// handled answers requests with a handler, whatever their host.
type handled struct{ http.Handler }

func (h handled) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	served := r.Clone(r.Context())
	if served.Body == nil {
		served.Body = http.NoBody
	}
	h.ServeHTTP(w, served)
	return w.Result(), nil
}
