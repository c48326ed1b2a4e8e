package clowder

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder/connect"
	"github.com/ncsa/clowder-ray/internal/clowder/message"
	"github.com/ncsa/clowder-ray/internal/job"
)

// drip gives one piece at a time, after a pause for each.
type drip struct {
	piece string
	pause time.Duration
}

func (d drip) Read(p []byte) (int, error) {
	<-time.After(d.pause)
	return copy(p, d.piece), nil
}

// RoundTrip answers each request with the body.
func (d drip) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(io.LimitReader(d, 55_000))}, nil
}

func dripped(d drip, attempts int) *Session {
	c := &Client{cfg: Config{URL: "http://x", Attempts: attempts}.withDefaults(), api: &http.Client{Transport: d}}
	base, _ := connect.ParseOrigin("http://x")
	return &Session{c: c, base: base, key: "KEY"}
}

func TestADownloadThatIsTooSlowIsStopped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start, counted := time.Now(), int64(0)
		file := File{ID: strings.Repeat("0", message.ObjectIDLen), Name: "a.csv", Path: "a.csv", Size: 55_000}
		_, err := dripped(drip{"x", 4 * time.Second}, 1).fetch(t.Context(), file, func(n int64) { counted += n })
		require.EqualError(t, err, `Clowder sent 75 B in 5 min when asked to download "a.csv", which is less than 9.8 KiB per second`)
		kind, _ := job.Classify(err)
		require.Equal(t, job.KindRetryable, kind)
		require.Equal(t, 5*time.Minute, time.Since(start), "and not after three days")
		require.Zero(t, counted)
	})
}

func TestADownloadThatIsSlowButSteadyEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		c := dripped(drip{strings.Repeat("x", 55), 5 * time.Second}, 1)
		c.c.cfg.MinRate = 10
		file := File{ID: strings.Repeat("0", message.ObjectIDLen), Name: "a.csv", Path: "a.csv", Size: 55_000}
		_, err := c.fetch(t.Context(), file, func(int64) {})
		require.NoError(t, err)
		require.Greater(t, time.Since(start), time.Hour)
	})
}

// slowDisk takes a minute for each piece.
type slowDisk struct{}

func (slowDisk) Write(p []byte) (int, error) {
	<-time.After(time.Minute)
	return len(p), nil
}

func TestASlowDiskIsNotBlamedOnClowder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, dog, stop := connect.Watch(t.Context(), time.Hour)
		defer stop()
		sink := &bodySink{out: slowDisk{}, dog: dog, pace: connect.Pace{Least: 10_000, Window: 5 * time.Minute}, add: func(int64) {}}
		body := io.LimitReader(drip{"x", time.Millisecond}, 100)
		require.NoError(t, sink.copy(t.Context(), operation{what: "download"}, body, 100))
	})
}
