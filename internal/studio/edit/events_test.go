package edit

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// listen opens the stream of the settings file and passes on its messages as "event data".
func (f *fixture) listen(ctx context.Context, email string) <-chan string {
	f.t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.server.URL+f.api("files", f.file, "events"), http.NoBody)
	require.NoError(f.t, err)
	req.Header.Set("As", email)
	got, err := f.server.Client().Do(req) //nolint:bodyclose // the goroutine below closes it
	require.NoError(f.t, err)
	require.Equal(f.t, 200, got.StatusCode)
	out := make(chan string, 20)
	go func() {
		defer close(out)
		defer func() { _ = got.Body.Close() }()
		event := ""
		for lines := bufio.NewScanner(got.Body); lines.Scan(); {
			if name, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
				event = name
			} else if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				out <- event + " " + data
			}
		}
	}()
	return out
}

// until reads messages until one has all these parts.
func until(t *testing.T, messages <-chan string, parts ...string) {
	t.Helper()
	late := time.After(20 * time.Second)
	for {
		select {
		case m, ok := <-messages:
			require.True(t, ok, "the stream ended")
			all := true
			for _, part := range parts {
				all = all && strings.Contains(m, part)
			}
			if all {
				return
			}
		case <-late:
			require.Fail(t, "no message has "+strings.Join(parts, " and "))
		}
	}
}

func TestPeopleInOneFileSeeEachOther(t *testing.T) { //nolint:paralleltest // huma keeps its errors in a variable
	f := newFixture(t)
	f.section.look = 50 * time.Millisecond
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	first := f.listen(ctx, alice)
	until(t, first, `people {"people":[]}`)
	gone, away := context.WithCancel(t.Context())
	second := f.listen(gone, bob)
	until(t, second, "people", `"name":"alice"`)
	until(t, first, "people", `"name":"bob"`, `"email":"bob@example.org"`)
	third := f.listen(ctx, alice)
	until(t, third, `"you":true`)

	require.Equal(t, 200, f.save(bob, f.tag(), "epochs: 8\n").status)
	until(t, first, "saved", `"number":2`, `"by":"bob@example.org"`)
	require.NoError(t, f.direct(bob, "epochs: 9\n"))
	until(t, first, "saved", `"number":3`)
	away()
	until(t, first, "people", `"you":true`)
	f.section.Close()
	for range first { // ends, because the service stops
	}
	for range second { // the visitor went away
	}
	for range third { // ends, too
	}
}

func TestAStreamEndsForWhoMayNoLongerLook(t *testing.T) { //nolint:paralleltest // huma keeps its errors in a variable
	f := newFixture(t)
	f.section.look = 20 * time.Millisecond
	messages := f.listen(t.Context(), bob)
	f.clowder.Share(f.dataset, bob, "")
	until(t, messages, "end", "you may not see it")
	require.Equal(t, 404, f.do(dave, http.MethodGet, f.api("files", f.file, "events"), "").status)
	for range maxWindowsEach {
		f.section.presence.enter("x", f.visitor(carol, false), time.Now())
	}
	full := f.do(carol, http.MethodGet, f.api("files", f.file, "events"), "")
	require.Equal(t, 503, full.status)
	require.Equal(t, "30", full.header.Get("Retry-After"))
}
