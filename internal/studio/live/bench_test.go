package live

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ncsa/clowder-ray/internal/job"
)

// BenchmarkViewers sends one event after the other to a thousand viewers of one run, each on a connection of its own, and reports the memory
// that they take in server and clients together, and how long an event is on its way from the volume to a viewer, less the second of a look.
func BenchmarkViewers(b *testing.B) {
	const viewers = 1000
	f := newFixture(b)
	f.tell(b, training, progress(1, 0.9))
	server, section := site(b, f, "")
	section.access = allowAll{f}
	before := memory()

	arrived := make(chan time.Time, viewers)
	var open sync.WaitGroup
	open.Add(viewers)
	for i := range viewers {
		go watchOne(b, server.URL+"/api/v1/runs/"+run+"/events", fmt.Sprint("user ", i), &open, arrived)
	}
	open.Wait()
	used := float64(memory()-before) / 1e6

	var delays []time.Duration
	step := 2
	for b.Loop() {
		f.tell(b, progress(step, 0.5))
		step++
		var times []time.Time
		for range viewers {
			times = append(times, <-arrived)
		}
		first := slices.MinFunc(times, time.Time.Compare)
		for _, at := range times {
			delays = append(delays, at.Sub(first))
		}
	}
	slices.Sort(delays)
	b.ReportMetric(used, "MB")
	b.ReportMetric(delays[len(delays)/2].Seconds()*1000, "p50-ms")
	b.ReportMetric(delays[len(delays)*99/100].Seconds()*1000, "p99-ms")
	section.hub.Stop()
}

// allowAll may see the run.
type allowAll struct{ *fixture }

func (e allowAll) See(ctx context.Context, name string) (job.Record, error) { return e.Get(ctx, name) }

// watchOne reads a stream to its end, on a connection without the buffers of an HTTP client, and tells when each event arrives.
func watchOne(tb testing.TB, address, user string, open *sync.WaitGroup, arrived chan<- time.Time) {
	tb.Helper()
	u, err := url.Parse(address)
	if err != nil {
		panic(err)
	}
	conn, err := (&net.Dialer{}).DialContext(tb.Context(), "tcp", u.Host)
	if err != nil {
		panic(err)
	}
	defer func() { _ = conn.Close() }()
	_, _ = fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nAccept: %s\r\nX-User: %s\r\n\r\n", u.Path, u.Host, streamType, user)
	lines := bufio.NewReaderSize(conn, 1<<10)
	for {
		line, err := lines.ReadSlice('\n')
		switch {
		case err == nil && bytes.HasPrefix(line, []byte("event: snapshot")):
			open.Done()
		case err == nil && bytes.HasPrefix(line, []byte("event: event")):
			arrived <- time.Now()
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return
		}
	}
}

func memory() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}
