package boards

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/sidecar"
)

// served is a process of TensorBoard with a handler of a test. It counts the boards that it is sent.
func served(t *testing.T, handler http.HandlerFunc) (process sidecar.Process, puts *int) {
	t.Helper()
	puts = new(int)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			*puts++
		}
		handler(w, r)
	}))
	t.Cleanup(server.Close)
	return sidecar.NewRemote(server.URL, "", ""), puts
}

func TestWhatTheProcessAnswersIsPassedOnOrRefused(t *testing.T) {
	t.Parallel()
	const data, page = "/tensorboard/ft-1/data/runs", "/tensorboard/ft-1/"
	put := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPut {
				w.WriteHeader(status)
			}
			_, _ = io.WriteString(w, "canary")
		}
	}
	refuses := func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "canary", http.StatusUnauthorized) }
	leads := func(to string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusFound)
		}
	}
	for name, c := range map[string]struct {
		path     string
		process  http.HandlerFunc
		status   int
		puts     int
		location string
	}{
		"a token that it does not accept": {page, refuses, 500, 0, ""},
		"curves that it does not take":    {data, put(http.StatusBadRequest), 500, 1, ""},
		"a curve that is not there": {data, func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodPut {
				w.WriteHeader(http.StatusNotFound)
			}
		}, 404, 2, ""}, // once more, in case that it has forgotten the board
		"a page that is not there": {page, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }, 404, 0, ""},
		"a way within its pages":   {page, leads("../ft-1/#scalars"), 302, 0, "../ft-1/#scalars"},
		"a way out of its pages":   {page, leads("https://evil.example.org/"), 302, 0, ""},
		"a way to the studio":      {page, leads("/ray/runs"), 302, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			process, puts := served(t, c.process)
			found := newFixture(t, process).do("carol", "GET", c.path, "")
			require.Equal(t, c.status, found.Code)
			require.Equal(t, c.puts, *puts)
			require.Equal(t, c.location, found.Header().Get("Location"))
			require.NotContains(t, found.Body.String(), "canary")
			if c.status != http.StatusInternalServerError {
				require.Contains(t, found.Header().Get("Content-Security-Policy"), "sandbox", "each of its pages stays in the box")
			}
		})
	}
}

func TestAPackedAnswerStaysPacked(t *testing.T) {
	t.Parallel()
	process, _ := served(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept-Encoding") == "gzip" {
			w.Header().Set("Content-Encoding", "gzip")
		}
		w.Header().Set("Content-Type", "text/javascript")
		w.Header().Set("X-Other", "x")
		_, _ = io.WriteString(w, "\x1f\x8bpacked")
	})
	found := newFixture(t, process).do("carol", "GET", "/tensorboard/ft-1/index.js", "")
	require.Equal(t, "\x1f\x8bpacked", found.Body.String())
	require.Equal(t, "gzip", found.Header().Get("Content-Encoding"))
	require.Equal(t, "text/javascript", found.Header().Get("Content-Type"))
	require.Equal(t, "8", found.Header().Get("Content-Length"))
	require.Empty(t, found.Header().Get("X-Other"), "nothing else is passed on")
}

func TestAVisitorReachesPagesBelowTheirBoardOnly(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	for _, path := range []string{"a..b", "data/..", "%2e%2e/%2e%2e/boards/x", "..%2f..%2fboards%2fx", `..%5cx`} {
		require.NotEqual(t, http.StatusOK, f.do("carol", "GET", "/tensorboard/ft-1/"+path, "").Code, path)
	}
	long := f.do("carol", "POST", "/tensorboard/ft-1/data/plugin/scalars/scalars_multirun", strings.Repeat("x", maxQuestion+1))
	require.Equal(t, http.StatusRequestEntityTooLarge, long.Code)
	require.Empty(t, f.asked)
	found := f.do("carol", "GET", "/tensorboard/ft-1/a%3Fb%23c%2Fd?e=%2F..%2F&f=%26", "")
	require.Equal(t, "GET a?b#c/d?e=%2F..%2F&f=%26 ", found.Body.String(), "a mark of the path does not end it, and the query stays as it is")
}

// moving is a process that is started again elsewhere.
type moving struct {
	places []string
	gone   []string
	err    error
}

func (m *moving) At(_ context.Context, gone string) (sidecar.Endpoint, error) {
	if gone != "" {
		m.gone, m.places = append(m.gone, gone), m.places[1:]
	}
	if len(m.places) == 0 {
		return sidecar.Endpoint{}, m.err
	}
	return sidecar.Endpoint{URL: m.places[0], Token: "ours"}, nil
}

func (m *moving) Close() error { return nil }

func TestAProcessThatHasEndedIsStartedOnce(t *testing.T) {
	t.Parallel()
	dead := httptest.NewServer(http.NotFoundHandler())
	dead.Close()
	at := &moving{places: []string{dead.URL, dead.URL}}
	f := newFixture(t, at)
	f.wrote("ft-1/tensorboard/events.out.tfevents.1", "loss", 2)
	at.places[1] = f.process.URL
	require.Equal(t, http.StatusOK, f.do("carol", "GET", "/tensorboard/ft-1/data/runs", "").Code)
	require.Equal(t, []string{dead.URL}, at.gone)
	require.Equal(t, 1, f.puts, "the new one has the curves")

	at.places, at.gone = []string{dead.URL, dead.URL, f.process.URL}, nil
	require.Equal(t, http.StatusServiceUnavailable, f.do("carol", "GET", "/tensorboard/ft-1/data/runs", "").Code)
	require.Equal(t, []string{dead.URL}, at.gone, "one that ends again and again is not always started again")
}

func TestAnEnvironmentWithoutTensorBoardSaysWhatItLacks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err    error
		status int
		said   string
	}{
		"a package":      {&sidecar.MissingError{Package: "tensorboard"}, 503, "The Python environment of this service lacks the package tensorboard."},
		"another reason": {errors.New("open /secret/python"), 500, "Something went wrong"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := newFixture(t, &moving{err: c.err}).do("carol", "GET", "/tensorboard/ft-1/", "")
			require.Equal(t, c.status, found.Code)
			require.Contains(t, found.Body.String(), c.said)
			require.NotContains(t, found.Body.String(), "/secret")
		})
	}
}

func TestAPersonMayHaveEventFilesReadSoOften(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	for f.puts <= 10*readsPerMinute {
		f.forget()
		found := f.do("carol", "GET", "/tensorboard/ft-1/data/runs", "")
		if found.Code == http.StatusTooManyRequests {
			break
		}
		require.Equal(t, http.StatusOK, found.Code)
	}
	require.GreaterOrEqual(t, f.puts, readsPerMinute)
	require.LessOrEqual(t, f.puts, 10*readsPerMinute, "there is a limit")
	require.Equal(t, http.StatusOK, f.do("carol", "GET", "/tensorboard/ft-1/", "").Code, "its page needs no files")
	require.Equal(t, http.StatusOK, f.do("alice", "GET", "/tensorboard/ft-1/data/runs", "").Code, "others have their own")
}
