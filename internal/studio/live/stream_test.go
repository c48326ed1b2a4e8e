package live

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/studio/web"
)

// rights answers with an error for each time that a stream asks, and with nil from then on.
type rights struct {
	asked int
	say   []error
}

func (r *rights) See(context.Context, string) (job.Record, error) {
	r.asked++
	if r.asked > len(r.say) {
		return job.Record{}, nil
	}
	return job.Record{}, r.say[r.asked-1]
}

// lost is a connection that breaks after some writes.
type lost struct {
	*httptest.ResponseRecorder
	writes int
}

func (l *lost) Write(b []byte) (int, error) {
	if l.writes--; l.writes < 0 {
		return 0, errors.New("broken pipe")
	}
	return l.ResponseRecorder.Write(b)
}

// streamed returns what a stream of a quiet run sends in so many heartbeats, and whether it has ended by itself.
func streamed(t *testing.T, access Access, w http.ResponseWriter, beats int) (ended bool) {
	t.Helper()
	world := newFixture(t)
	synctest.Test(t, func(t *testing.T) {
		hub := newHub(t, world)
		viewer, err := hub.Watch(run, "alice", -1)
		require.NoError(t, err)
		defer viewer.Close()
		ctx, leave := context.WithCancel(t.Context())
		defer leave()
		tick, done := make(chan time.Time), make(chan struct{})
		go func() {
			defer close(done)
			(&Section{hub: hub, access: access}).serve(ctx, run, viewer, tick, sender{w, http.NewResponseController(w)})
		}()
		for range beats {
			synctest.Wait()
			select {
			case tick <- time.Now():
			case <-done:
			}
		}
		synctest.Wait()
		select {
		case <-done:
			ended = true
		default:
		}
		leave()
		<-done
	})
	return ended
}

func TestAQuietStreamIsKeptOpenAndAsksForTheRights(t *testing.T) {
	t.Parallel()
	away := job.Retryable(clowder.NewAnswerError(http.StatusBadGateway, "x"))
	for name, c := range map[string]struct {
		say   []error
		ended bool
		last  string
	}{
		"they stand":                          {nil, false, beat},
		"Clowder does not answer for a while": {[]error{away, away}, false, beat},
		"the dataset is no longer shared": {
			[]error{nil, web.NotFound}, true, "event: end\ndata: {\"text\":\"You may no longer see this dataset.\"}\n\n",
		},
		"the login has ended": {[]error{nil, &web.Problem{Status: http.StatusUnauthorized}}, true, beat},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			access, w := &rights{say: c.say}, httptest.NewRecorder()
			require.Equal(t, c.ended, streamed(t, access, w, 3*recheck))
			require.True(t, strings.HasSuffix(w.Body.String(), c.last), w.Body)
			require.True(t, w.Flushed)
			if c.ended {
				require.Equal(t, len(c.say), access.asked, "nothing follows the end")
				return
			}
			require.Equal(t, 3*recheck, strings.Count(w.Body.String(), beat))
			require.Equal(t, 3, access.asked)
		})
	}
}

func TestAStreamToAConnectionThatIsLostEnds(t *testing.T) {
	t.Parallel()
	for writes := range 4 {
		w := &lost{httptest.NewRecorder(), writes}
		require.True(t, streamed(t, &rights{}, w, 5), writes)
		require.LessOrEqual(t, w.writes, 0, "it is used until it is lost")
		require.GreaterOrEqual(t, w.writes, -1, "and not after that")
	}
}

func TestABrowserThatComesBackSaysWhatItKnows(t *testing.T) {
	t.Parallel()
	const last = "Last-Event-ID"
	for name, c := range map[string]struct {
		header, query string
		want          int64
	}{
		"nothing":                      {"", "", -1},
		"the id of the last message":   {"17", "", 17},
		"the offset in the address":    {"", "17", 17},
		"the id counts more":           {"18", "17", 18},
		"the beginning":                {"0", "", 0},
		"a negative offset":            {"-2", "", -1},
		"no number":                    {"x", "", -1},
		"a number that is too long":    {"9223372036854775808", "", -1},
		"an id that is none hides all": {"x", "17", -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest(http.MethodGet, "/?after="+c.query, http.NoBody)
			r.Header.Set(last, c.header)
			require.Equal(t, c.want, after(r))
		})
	}
}

func TestAStreamThatCannotBeginSaysWhenToComeBack(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.tell(t, progress(1, 0.9))
	server, section := site(t, f, "alice@example.org")
	for range maxViewersOfUser {
		v, err := section.hub.Watch(run, "alice@example.org", -1)
		require.NoError(t, err)
		defer v.Close()
	}
	path := "/api/v1/runs/" + run + "/"
	refused := get(t, server, path+"events", "Accept", streamType)
	require.Equal(t, http.StatusTooManyRequests, refused.StatusCode)
	require.Equal(t, "10", refused.Header.Get("Retry-After"))
	require.Contains(t, body(t, refused), tooMany.Detail)
	require.Equal(t, http.StatusOK, get(t, server, path+"series").StatusCode, "a short look is no stream")

	section.hub.Stop()
	refused = get(t, server, path+"events", "Accept", streamType)
	require.Equal(t, http.StatusServiceUnavailable, refused.StatusCode)
	require.Equal(t, "10", refused.Header.Get("Retry-After"))
	require.Contains(t, body(t, refused), stopping.Detail)
	require.Equal(t, http.StatusOK, get(t, server, path+"events").StatusCode, "the events of a log need no hub")
}
