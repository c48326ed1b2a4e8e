//go:build integration

package bench

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/test/stack"
)

const (
	// otherUser has the small job.
	otherUser = "bob@example.org"
	// captures are the datasets of a large job, with three files each, and capturesWait is how long it may take.
	captures     = 2000
	capturesWait = 3 * time.Hour
	// oneIn calls is answered with 504.
	oneIn = 20
)

// BenchmarkManyDatasets trains on 2,000 datasets of three files through a line that takes a while for each call and answers one of twenty with 504. It
// measures the memory of the service, and how long the small job of another user takes from its submission to its results: alone, and beside as many
// large jobs as are named.
func BenchmarkManyDatasets(b *testing.B) {
	program := stack.Program(b)
	for name, tc := range map[string]struct {
		pause time.Duration
		large int
	}{"20ms": {20 * time.Millisecond, 1}, "20msFiveLarge": {20 * time.Millisecond, 5}, "2s": {2 * time.Second, 1}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				manyDatasets(b, program, tc.pause, tc.large)
			}
		})
	}
}

func manyDatasets(b *testing.B, program string, pause time.Duration, large int) {
	b.Helper()
	const table = "text,label\ngood,yes\nbad,no\n"
	w := stack.NewFixture(b, program, map[string]string{"notes.txt": "the captures of a season\n"})
	for n := range captures {
		id := w.Clowder.AddDataset(stack.User, fmt.Sprintf("plot %d", n))
		for _, file := range []string{"train.csv", "more.csv", "site.txt"} {
			_, err := w.Clowder.AddFile(id, file, strings.NewReader(fmt.Sprintf("%sof plot %d,%s\n", table, n, file)))
			require.NoError(b, err)
		}
	}
	var calls atomic.Int64
	line := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		<-time.After(pause)
		if calls.Add(1)%oneIn == 0 {
			http.Error(out, "504 Gateway Time-out", http.StatusGatewayTimeout)
			return
		}
		w.Clowder.ServeHTTP(out, r)
	}))
	defer line.Close()
	s := w.Start(b, map[string]string{"LOG_LEVEL": "warn", "CLOWDER_URL": line.URL})
	client, err := clowder.NewClient(clowder.Config{URL: w.Clowder.URL, Cache: disk.Folder{Volume: b.TempDir()}})
	require.NoError(b, err)
	defer func() { require.NoError(b, client.Close()) }()
	bob := client.As(job.Secret(w.Clowder.Key(otherUser)))
	small := func(name string) time.Duration {
		id := w.Clowder.AddDataset(otherUser, name)
		_, err := w.Clowder.AddFile(id, "train.csv", strings.NewReader(table+name+",no\n"))
		require.NoError(b, err)
		began := time.Now()
		submitted, err := bob.Submit(b.Context(), id, stack.Extractor, nil)
		require.NoError(b, err)
		awaitWell(b, bob, submitted)
		return time.Since(began)
	}
	alone := small("alone")

	began, before := time.Now(), calls.Load()
	jobs := make([]string, large)
	for i := range jobs {
		jobs[i] = w.Submit(b, w.Dataset, map[string]any{"more_options": "data.datasets: search:plot"})
	}
	require.Eventually(b, func() bool { return calls.Load() > before+int64(200*large) }, capturesWait, 10*time.Millisecond, "%s", s.Log())
	beside := small("beside")
	for _, id := range jobs {
		awaitWell(b, w.Session, id)
	}
	b.ReportMetric(time.Since(began).Seconds(), "s-large-jobs")
	b.ReportMetric(float64(calls.Load()-before), "calls")
	b.ReportMetric(alone.Seconds(), "s-small-job-alone")
	b.ReportMetric(beside.Seconds(), "s-small-job-beside")
	reportMemory(b, s.Pid())
	if large == 1 {
		require.Less(b, memoryMB(b, s.Pid(), "VmHWM"), 150.0)
	}
	require.Less(b, beside, 2*alone)
	require.NoError(b, s.Stop(time.Minute))
}

// awaitWell waits for the good end of a job.
func awaitWell(b *testing.B, s *clowder.Session, id string) {
	b.Helper()
	var last clowder.Job
	require.Eventually(b, func() bool {
		var err error
		last, err = s.Job(b.Context(), id)
		return err == nil && (last.Status == "SUCCEEDED" || last.Status == "ERROR" || last.Status == "SKIPPED")
	}, capturesWait, 100*time.Millisecond)
	require.Equal(b, "SUCCEEDED", last.Status, last.Message)
}
