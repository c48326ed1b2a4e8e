package clowder

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
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

// TestManyDatasetsOfASlowClowder: a job of many datasets ends well although one call of twenty is answered with 504, and lets another user's job go
// first after its first turn.
func TestManyDatasetsOfASlowClowder(t *testing.T) {
	t.Parallel()
	stageSlow(t, 60, time.Millisecond)
}

// BenchmarkManyDatasets: 2,000 datasets of three files, 20 ms for a call.
func BenchmarkManyDatasets(b *testing.B) {
	for b.Loop() {
		stageSlow(b, 2000, 20*time.Millisecond)
	}
}

func stageSlow(tb testing.TB, sets int, pause time.Duration) {
	tb.Helper()
	m := newMany(tb, 2)
	for n := range sets {
		capture(tb, m.server, alice, fmt.Sprintf("plot %d", n), "a.csv", "b.csv", "c.csv")
	}
	line := sometimes(tb, m.server, pause)
	client, err := clowder.NewClient(clowder.Config{URL: line.URL, Cache: disk.Folder{Volume: tb.TempDir()}, Backoff: pause})
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, client.Close()) })
	m.platform = New(client, platformtest.Extractors(tb))
	m.rec.Settings = job.NewSettings(map[string]any{"data.datasets": "search:plot"})

	// One place for downloads, and a small job of another user that comes at the beginning of a turn.
	woken := make(chan string, 2)
	downloads := admission.NewQueue("", 1, 0, func(run string) { woken <- run })
	small := newMany(tb, 2)
	small.rec.Request.DatasetID = capture(tb, m.server, bob, "small", "a.csv", "b.csv", "c.csv")
	small.rec.SecretKey = job.Secret(m.server.Key(bob))
	m.room.Wanted = func() bool { return downloads.OthersWait(alice) }
	var alone, waited time.Duration
	began, came, turns := time.Now(), time.Time{}, 0
	var inputs []job.Input
	for len(inputs) == 0 {
		require.True(tb, downloads.Enter("many", alice, began))
		if turns == 0 { // the worst moment
			came = time.Now()
			require.False(tb, downloads.Enter("small", bob, came), "the place is taken")
		}
		var err error
		inputs, _, err = m.platform.StageMany(tb.Context(), m.rec, nil, m.room, func(string) {})
		turns++
		if err != nil {
			kind, _ := job.Classify(err)
			require.NotEqual(tb, job.KindPermanent, kind, "%v", err)
		}
		downloads.Leave("many")
		if turns == 1 {
			require.Equal(tb, "small", <-woken, "the other user is next")
			waited = time.Since(came)
			start := time.Now()
			_, _, err := m.platform.Stage(tb.Context(), small.rec, small.room.Inputs, func(string) {})
			require.NoError(tb, err)
			alone = time.Since(start)
			downloads.Leave("small")
		}
	}
	require.Len(tb, inputs, 3*sets)
	for _, in := range inputs[:min(len(inputs), 20)] {
		body, err := os.ReadFile(filepath.Join(m.room.Inputs.Path(), in.Path))
		require.NoError(tb, err)
		require.Equal(tb, strings.ReplaceAll(in.Name, "/", ""), string(body))
	}
	require.Greater(tb, turns, 1)
	var memory runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&memory)
	tb.Logf("%d datasets: %s, %d turns, %d calls; the small job took %s and waited %s; heap %d MB of client and double",
		sets, time.Since(began).Round(time.Millisecond), turns, m.server.Requests("", "/api"), alone.Round(time.Millisecond), waited.Round(time.Millisecond), memory.HeapInuse>>20)
}

// sometimes is a line to a Clowder that takes pause for a call, and answers one call of twenty with 504.
func sometimes(tb testing.TB, server http.Handler, pause time.Duration) *httptest.Server {
	tb.Helper()
	var calls atomic.Int64
	line := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		<-time.After(pause)
		if calls.Add(1)%20 == 7 {
			http.Error(w, "504 Gateway Time-out", http.StatusGatewayTimeout)
			return
		}
		server.ServeHTTP(w, r)
	}))
	tb.Cleanup(line.Close)
	return line
}
