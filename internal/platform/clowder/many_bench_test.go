package clowder

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/pipeline/admission"
	"github.com/ncsa/clowder-ray/internal/platform/platformtest"
)

// TestManyDatasetsOfASlowClowder: a job of many datasets ends well although one call of twenty is answered with 504, and another user's job gets the
// only place at once.
func TestManyDatasetsOfASlowClowder(t *testing.T) {
	t.Parallel()
	stageSlow(t, 60, time.Millisecond)
}

// BenchmarkManyDatasets: 2,000 datasets of three files, 20 ms for a call; and 34,000 of a fast Clowder.
func BenchmarkManyDatasets(b *testing.B) {
	for name, tc := range map[string]struct {
		sets  int
		pause time.Duration
	}{"2000": {2000, 20 * time.Millisecond}, "34000": {34_000, 0}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				alone, beside := stageSlow(b, tc.sets, tc.pause)
				b.ReportMetric(alone.Seconds(), "s-small-job-alone")
				b.ReportMetric(beside.Seconds(), "s-small-job-beside")
			}
		})
	}
}

// stageSlow returns how long the small job of another user takes alone, and from its arrival while the large one has the only place.
func stageSlow(tb testing.TB, sets int, pause time.Duration) (alone, beside time.Duration) {
	tb.Helper()
	m := newMany(tb, 2)
	for n := range sets {
		capture(tb, m.server, alice, fmt.Sprintf("plot %d", n), "a.csv", "b.csv", "c.csv")
	}
	line := sometimes(tb, m.server, pause)
	client, err := clowder.NewClient(clowder.Config{
		URL: line.URL, Cache: disk.Folder{Volume: tb.TempDir()}, Backoff: max(pause, time.Millisecond), MaxFiles: 5 * sets,
	})
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, client.Close()) })
	m.platform = New(client, platformtest.Extractors(tb))
	m.rec.Settings = job.NewSettings(map[string]any{"data.datasets": "search:plot"})
	downloads := admission.NewQueue("", 1, 0, func(string) {})
	m.room.Wanted = func() bool { return downloads.Wanted("many") }

	small := newMany(tb, 2)
	small.rec.SecretKey = job.Secret(m.server.Key(bob))
	stageSmall := func(name string) (time.Duration, error) {
		rec := small.rec
		rec.Request.DatasetID = capture(tb, m.server, bob, name, "a.csv", "b.csv", "c.csv")
		began := time.Now()
		_, _, err := m.platform.Stage(context.Background(), rec, disk.Folder{Volume: small.room.Inputs.Volume, Name: name}, quiet)
		return time.Since(began), err
	}
	alone, err = stageSmall("alone")
	require.NoError(tb, err)

	// The other job comes while the first datasets are downloaded, and has the only place at once.
	var had bool
	var smallErr error
	var other sync.WaitGroup
	const searchPage = 500
	line.at(line.calls.Load()+int64(sets/searchPage+3*manyAtOnce), func() {
		other.Go(func() {
			had = downloads.Enter("small", bob, time.Now())
			beside, smallErr = stageSmall("beside")
			downloads.Leave("small")
		})
	})
	heapBefore := heapMB()
	before, began := m.server.Requests("", "/api"), time.Now()
	var inputs []job.Input
	for turns := 1; len(inputs) == 0; turns++ {
		require.Eventually(tb, func() bool { return downloads.Enter("many", alice, began) }, time.Minute, time.Millisecond)
		downloads.Yield("many")
		inputs, _, err = m.platform.StageMany(tb.Context(), m.rec, nil, m.room, quiet)
		if kind, _ := job.Classify(err); turns == 1 || err != nil {
			require.Equal(tb, job.KindLater, kind, "the other job has ended the first turn: %v", err)
		}
		downloads.Leave("many")
	}
	other.Wait()
	require.True(tb, had)
	require.NoError(tb, smallErr)
	require.Len(tb, inputs, 3*sets)
	for _, in := range inputs[:20] {
		body, err := os.ReadFile(filepath.Join(m.room.Inputs.Path(), in.Path))
		require.NoError(tb, err)
		require.Equal(tb, strings.ReplaceAll(in.Name, "/", ""), string(body))
	}
	tb.Logf("%d datasets: %s, %d calls; the small job took %s alone and %s beside; heap %d MB before and %d MB after, with the double and its list of calls", sets,
		time.Since(began).Round(time.Millisecond), m.server.Requests("", "/api")-before, alone.Round(time.Millisecond), beside.Round(time.Millisecond), heapBefore, heapMB())
	runtime.KeepAlive(inputs)
	return alone, beside
}

// heapMB is what is in use of the memory of this process, in MB.
func heapMB() uint64 {
	var memory runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&memory)
	return memory.HeapAlloc >> 20
}

// slowLine is a line to a Clowder.
type slowLine struct {
	*httptest.Server

	calls atomic.Int64
	mark  atomic.Int64
	do    func()
}

// at calls do with the call of this number.
func (l *slowLine) at(call int64, do func()) {
	l.do = do
	l.mark.Store(call)
}

// sometimes is a line to a Clowder that takes pause for a call, and answers one call of twenty with 504.
func sometimes(tb testing.TB, server http.Handler, pause time.Duration) *slowLine {
	tb.Helper()
	line := &slowLine{}
	line.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		number := line.calls.Add(1)
		if number == line.mark.Load() {
			line.do()
		}
		<-time.After(pause)
		if number%20 == 7 {
			http.Error(w, "504 Gateway Time-out", http.StatusGatewayTimeout)
			return
		}
		server.ServeHTTP(w, r)
	}))
	tb.Cleanup(line.Close)
	return line
}
