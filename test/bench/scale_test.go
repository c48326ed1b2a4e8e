//go:build integration

package bench

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/jobtest"
	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/rayjob/raytest"
	"github.com/ncsa/clowder-ray/test/stack"
)

const (
	// crowd is how many jobs of how many users wait on Ray.
	crowd, users = 10_000, 50
	// watched is how long the service is watched at work.
	watched = 30 * time.Second
)

// BenchmarkCrowd restarts the service on a store of ten thousand jobs that all wait on Ray, and measures what that costs.
func BenchmarkCrowd(b *testing.B) {
	program := stack.Program(b)
	w := stack.NewFixture(b, program, nil)
	gather(b, w)
	for b.Loop() {
		began := time.Now()
		s := w.Start(b, map[string]string{"LOG_LEVEL": "warn", "MAX_JOBS": "20000", "RAY_POLL": "2s"})
		require.NoError(b, s.AwaitReady(b.Context()))
		ready := time.Since(began)
		before := processorTime(b, s.Pid())
		<-time.After(watched)
		share := (processorTime(b, s.Pid()) - before).Seconds() / watched.Seconds()
		list, all := listJobs(b, program, w, "50"), listJobs(b, program, w, "0")
		memory := memoryMB(b, s.Pid(), "VmHWM")
		require.NoError(b, s.Stop(time.Minute))

		b.ReportMetric(ready.Seconds(), "s-to-ready")
		b.ReportMetric(memory, "MB-resident")
		b.ReportMetric(100*share, "%-of-a-core")
		b.ReportMetric(list.Seconds(), "s-jobs-list")
		b.ReportMetric(all.Seconds(), "s-jobs-list-all")
		require.Less(b, ready, 5*time.Second)
		require.Less(b, memory, 150.0)
		require.Less(b, list, time.Second)
	}
}

// gather fills the store of the service and its Ray.
func gather(b *testing.B, w *stack.Fixture) {
	b.Helper()
	store, err := job.OpenSQLite(b.Context(), filepath.Join(w.Env["STATE_DIR"], "jobs.db"))
	require.NoError(b, err)
	defer func() { require.NoError(b, store.Close()) }()
	for i := range crowd {
		run := rayjob.RunName("bench", "crowd", strconv.Itoa(i))
		rec := job.New(run, job.Train, jobtest.Record(run, "h1").Request, job.Secret(fmt.Sprintf("key of user %d", i%users)))
		rec.Request.Name, rec.Request.Parameters = "Reviews", map[string]any{"epochs": 3, "learning_rate": 2e-5, "model": "auto", "run_name": run}
		rec.Settings, rec.State, rec.StartSent, rec.Began = job.NewSettings(rec.Request.Parameters), job.Submitted, true, time.Now().UTC()
		attempt := rayjob.Attempt{Run: run, Number: 1}.Name()
		rec.Handle = &rayjob.Handle{Backend: "jobsapi", ID: attempt, Address: w.Env["RAY_ADDRESS"], Session: w.Ray.Session()}
		_, _, err = store.Accept(b.Context(), rec)
		require.NoError(b, err)
		w.Ray.Change(attempt, func(j *raytest.Job) {
			j.Entrypoint = "python -m trainer run /shared/runs/" + run + "/spec.json"
			j.Metadata = map[string]string{rayjob.LabelRun: run, rayjob.LabelAttempt: "1", rayjob.LabelInstance: store.ID()}
		})
	}
}

// listJobs is how long the command takes that lists the jobs while the service runs.
func listJobs(b *testing.B, program string, w *stack.Fixture, limit string) time.Duration {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), program, "jobs", "list", "--limit", limit)
	cmd.Env = append(os.Environ(), "STATE_DIR="+w.Env["STATE_DIR"])
	out, err := cmd.StdoutPipe()
	require.NoError(b, err)
	began := time.Now()
	require.NoError(b, cmd.Start())
	listed, err := io.ReadAll(out)
	require.NoError(b, err)
	require.NoError(b, cmd.Wait())
	took := time.Since(began)
	want := map[string]int{"50": 50, "0": crowd}[limit]
	require.Equal(b, want+1, strings.Count(string(listed), "\n"))
	return took
}

// processorTime is what a process has used so far.
func processorTime(b *testing.B, pid int) time.Duration {
	b.Helper()
	doc, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	require.NoError(b, err)
	_, rest, _ := strings.Cut(string(doc), ") ")
	fields := strings.Fields(rest)
	var user, system int64
	_, err = fmt.Sscan(fields[11]+" "+fields[12], &user, &system)
	require.NoError(b, err)
	const ticksPerSecond = 100 // USER_HZ on every Linux that Go knows
	return time.Duration(user+system) * time.Second / ticksPerSecond
}
