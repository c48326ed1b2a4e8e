package edit

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
	"github.com/ncsa/clowder-ray/internal/studio/web"
)

func TestEachPersonIsShownOnceInTheOrderOfTheirComing(t *testing.T) {
	t.Parallel()
	p := newPresence()
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.FixedZone("", 3600))
	ann, ben := &web.Visitor{Email: "ann@example.org", Name: "Ann"}, &web.Visitor{Email: "ben@example.org"}
	first, other := p.enter("f", ann, at), p.enter("g", ann, at)
	second, third := p.enter("f", ben, at.Add(time.Minute)), p.enter("f", ben, at.Add(time.Hour))
	mine := p.enter("f", ann, at.Add(2*time.Hour))

	people, _ := p.around(first)
	require.Equal(t, []Person{
		{Name: "ben@example.org", Email: "ben@example.org", Since: at.Add(time.Minute).UTC()},
		{Name: "Ann", Email: "ann@example.org", Since: at.Add(2 * time.Hour).UTC(), You: true},
	}, people, "who has no name is shown by the address")
	people, _ = p.around(other)
	require.Equal(t, []Person{}, people, "another file has other people")

	p.leave(second)
	people, _ = p.around(mine)
	require.Equal(t, []string{"Ann", "ben@example.org"}, []string{people[0].Name, people[1].Name})
	require.Equal(t, at.Add(time.Hour).UTC(), people[1].Since, "the other window of ben stays")
	for _, s := range []*window{first, third, mine, other} {
		p.leave(s)
	}
	people, newest := p.around(mine)
	require.Nil(t, people)
	require.Zero(t, newest)
	require.Empty(t, p.files, "nothing stays of files that nobody has open")
	require.Zero(t, p.windows)
}

func TestAWindowIsToldOfASaveAlthoughItWasSlow(t *testing.T) {
	t.Parallel()
	p := newPresence()
	v := &web.Visitor{Email: "ann@example.org"}
	s := p.enter("f", v, time.Unix(0, 0))
	p.saved("f", Saved{Number: 2})
	p.saved("f", Saved{Number: 3})
	p.saved("g", Saved{Number: 9})
	<-s.changed
	require.Empty(t, s.changed, "many changes wake a window once")
	_, newest := p.around(s)
	require.Equal(t, 3, newest.Number)
	late := p.enter("g", v, time.Unix(0, 0))
	_, newest = p.around(late)
	require.Zero(t, newest, "who opens a file later reads it from Clowder")
}

func TestOneVisitorCannotTakeAllPlaces(t *testing.T) {
	t.Parallel()
	p := newPresence()
	greedy := &web.Visitor{Email: "ann@example.org"}
	var windows []*window
	for i := range maxWindowsEach {
		windows = append(windows, p.enter(fmt.Sprint("file ", i%3), greedy, time.Unix(0, 0)))
		require.NotNil(t, windows[i])
	}
	require.Nil(t, p.enter("file 9", greedy, time.Unix(0, 0)), "the limit holds over all files")
	for i := len(windows); i < maxWindows; i++ {
		require.NotNil(t, p.enter("file 0", &web.Visitor{Email: strconv.Itoa(i)}, time.Unix(0, 0)))
	}
	require.Nil(t, p.enter("file 0", &web.Visitor{Email: "one too many"}, time.Unix(0, 0)))
	p.leave(windows[0])
	require.NotNil(t, p.enter("file 9", greedy, time.Unix(0, 0)), "a closed window gives its place back")
	p.leave(windows[1])
	p.close()
	p.close()
	require.Nil(t, p.enter("file 0", greedy, time.Unix(0, 0)), "a service that ends opens nothing")
	select {
	case <-p.done:
	default:
		require.Fail(t, "the streams are not told that the service ends")
	}
}

func TestWhoWaitsForALockCanGoAway(t *testing.T) {
	t.Parallel()
	var l locks
	free, err := l.take(t.Context(), "a")
	require.NoError(t, err)
	other, err := l.take(t.Context(), "b")
	require.NoError(t, err, "another file has another lock")
	other()

	reason := errors.New("the visitor went away")
	gone, leave := context.WithCancelCause(t.Context())
	leave(reason)
	_, err = l.take(gone, "a")
	require.ErrorIs(t, err, reason)

	took := make(chan func())
	go func() {
		next, _ := l.take(t.Context(), "a")
		took <- next
	}()
	select {
	case <-took:
		require.Fail(t, "two saves of one file run at once")
	default:
	}
	free()
	(<-took)()
	require.Empty(t, l.files, "nothing stays of a file that nobody saves")
}

func TestAStreamOutlivesAClowderThatDoesNotAnswer(t *testing.T) { //nolint:paralleltest // huma keeps its errors in a variable
	f := newFixture(t)
	f.section.look, f.section.beat = 10*time.Millisecond, time.Hour
	messages := f.listen(t.Context(), bob)
	until(t, messages, "people")
	f.clowder.Fail(clowdertest.Fault{Method: http.MethodGet, Path: "/summary", Times: 20, Status: 500})
	require.Eventually(t, func() bool { return f.clowder.Requests(http.MethodGet, "/summary") > 22 }, 20*time.Second, 5*time.Millisecond)
	f.clowder.ClearFaults()
	require.NoError(t, f.direct(alice, "epochs: 9\n"))
	until(t, messages, "saved", `"number":2`, `"by":"alice@example.org"`)
	f.clowder.Fail(clowdertest.Fault{Method: http.MethodGet, Path: "/summary", Status: 401})
	until(t, messages, "end", "Clowder no longer accepts your login. Log in again.")
	for m := range messages {
		require.Fail(t, "nothing comes after the end", m)
	}
}

func TestAQuietStreamIsKeptOpen(t *testing.T) { //nolint:paralleltest // huma keeps its errors in a variable
	f := newFixture(t)
	f.section.look, f.section.beat = time.Hour, 5*time.Millisecond
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, f.server.URL+f.api("files", f.file, "events"), http.NoBody)
	require.NoError(t, err)
	req.Header.Set("As", carol)
	got, err := f.server.Client().Do(req)
	require.NoError(t, err)
	defer func() { _ = got.Body.Close() }()
	require.Equal(t, "text/event-stream", got.Header.Get("Content-Type"))
	require.Equal(t, "no", got.Header.Get("X-Accel-Buffering"), "NGINX passes each message on at once")
	beats := 0
	for lines := bufio.NewScanner(got.Body); beats < 3; {
		require.True(t, lines.Scan(), "the stream ended")
		if strings.HasPrefix(lines.Text(), ":") {
			beats++
		}
	}
}
