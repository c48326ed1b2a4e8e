package hub_test

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/hub"
	"github.com/ncsa/clowder-ray/internal/job"
)

// begun serves the first 300 of 900 bytes, breaks the connection off, and leaves each request after it to rest.
func begun(rest http.HandlerFunc) http.HandlerFunc {
	var calls atomic.Int32
	return func(w http.ResponseWriter, r *http.Request) {
		if calls.Add(1) > 1 {
			rest(w, r)
			return
		}
		w.Header().Set("Content-Length", "900")
		_, _ = (&cutWriter{ResponseWriter: w, left: 300}).Write(make([]byte, 900))
	}
}

func TestTheRestOfAFileMustBeTheRestOfIt(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		span, length string
		want         string
	}{
		"the rest":             {"bytes 300-899/900", "600", ""},
		"the rest of anything": {"bytes 300-899/*", "600", ""},
		"another part":         {"bytes 200-899/900", "700", "sends another part of the ZIP file than it was asked for."},
		"no word about it":     {"", "600", "sends another part of the ZIP file than it was asked for."},
		"more than the limit":  {"bytes 300-1000/1001", "701", "has more than 1000 B: the file is too large."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, cfg := fileHost(t, begun(func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Range") != "bytes=300-" {
					t.Error("asked for", r.Header.Get("Range"))
				}
				w.Header().Set("Content-Range", tc.span)
				w.Header().Set("Content-Length", tc.length)
				w.WriteHeader(http.StatusPartialContent)
				_, _ = w.Write(make([]byte, 600))
			}))
			var got bytes.Buffer
			n, err := hub.Fetch(t.Context(), cfg, address, 1000, &got)
			require.EqualValues(t, got.Len(), n)
			if tc.want == "" {
				require.NoError(t, err)
				require.EqualValues(t, 900, n)
				return
			}
			require.ErrorContains(t, err, tc.want)
			require.EqualValues(t, 300, n, "nothing of it is written")
			require.NotContains(t, err.Error(), "secret")
			kind, _ := job.Classify(err)
			require.Equal(t, job.KindPermanent, kind)
		})
	}
}

func TestAFileHostThatIsBusyIsTriedAgain(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		answer http.HandlerFunc
		want   string
		kind   job.Kind
	}{
		"a limit": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusTooManyRequests)
		}, "takes no more requests now. Try again later.", job.KindLater},
		"a slow request": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusRequestTimeout)
		}, "fails to answer (HTTP 408). Try again later.", job.KindRetryable},
		"no answer": {func(http.ResponseWriter, *http.Request) {
			panic(http.ErrAbortHandler)
		}, "breaks off: EOF. Check the network and the proxy.", job.KindRetryable},
		"silence without a length": {func(w http.ResponseWriter, r *http.Request) {
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done() // the handler ends, so that the body may end as if it were whole
		}, "sent nothing for too long. Try again later.", job.KindRetryable},
		"silence": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "900")
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}, "sent nothing for too long. Try again later.", job.KindRetryable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, cfg := fileHost(t, tc.answer)
			waits := 0
			cfg.Attempts, cfg.OnWait = 3, func(_ time.Duration, reason error) {
				waits++
				if strings.Contains(reason.Error(), "secret") {
					t.Error("the address of the file is a secret", reason)
				}
			}
			if strings.HasPrefix(name, "silence") {
				cfg.IdleTimeout = 50 * time.Millisecond
			}
			n, err := hub.Fetch(t.Context(), cfg, address, 1000, &bytes.Buffer{})
			require.ErrorContains(t, err, tc.want)
			require.NotContains(t, err.Error(), "secret")
			require.Zero(t, n)
			kind, _ := job.Classify(err)
			require.Equal(t, tc.kind, kind)
			require.Equal(t, 2, waits)
		})
	}
}

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestAFullDiskIsNotFilledAgain(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	address, cfg := fileHost(t, func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		_, _ = w.Write(make([]byte, 100))
	})
	_, err := hub.Fetch(t.Context(), cfg, address, 1000, full{})
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.ErrorContains(t, err, "write the ZIP file: ")
	kind, _ := job.Classify(err)
	require.Equal(t, job.KindPermanent, kind)
	require.EqualValues(t, 1, calls.Load())

	ctx, cancel := context.WithCancel(t.Context())
	address, cfg = fileHost(t, func(http.ResponseWriter, *http.Request) {
		calls.Add(1)
		cancel()
		panic(http.ErrAbortHandler)
	})
	_, err = hub.Fetch(ctx, cfg, address, 1000, &bytes.Buffer{})
	require.ErrorIs(t, err, context.Canceled)
	require.EqualValues(t, 2, calls.Load(), "who has given up waits for no other attempt")
}
