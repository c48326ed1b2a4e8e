package live

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/studio/web"
)

type noAssets struct{ http.Handler }

func (noAssets) Names(string) (script, style string) { return "", "" }

// aliceOnly lets Alice see the run.
type aliceOnly struct{ *fixture }

func (a aliceOnly) See(ctx context.Context, name string) (job.Record, error) {
	if web.VisitorOf(ctx).Email != "alice@example.org" || name != run {
		return job.Record{}, web.NotFound
	}
	return a.Get(ctx, name)
}

// site serves the section to a visitor.
func site(tb testing.TB, f *fixture, visitor string) (*httptest.Server, *Section) {
	tb.Helper()
	address, err := url.Parse("https://studio.example.org/ray")
	require.NoError(tb, err)
	s := web.NewSite(address, "https://clowder.example.org/sub", noAssets{http.NotFoundHandler()}, zap.NewNop())
	section := New(s, newHub(tb, f), f, aliceOnly{f}, NewCards(s, [][]byte{[]byte("new"), []byte("old")}))
	mux := http.NewServeMux()
	section.Operations(humago.New(mux, huma.DefaultConfig("test", "1")))
	section.Routes(mux)
	section.Public(mux)
	server := httptest.NewServer(web.Secure(http.HandlerFunc(func(f http.ResponseWriter, r *http.Request) {
		mux.ServeHTTP(f, r.WithContext(web.WithVisitor(r.Context(), &web.Visitor{Email: cmp.Or(visitor, r.Header.Get("X-User"))})))
	})))
	tb.Cleanup(server.Close)
	return server, section
}

// reply is an answer, whose body is closed at the end of the test.
type reply struct {
	StatusCode int
	Header     http.Header
	Body       io.Reader
}

func get(tb testing.TB, server *httptest.Server, path string, headers ...string) reply {
	tb.Helper()
	req, err := http.NewRequestWithContext(tb.Context(), http.MethodGet, server.URL+path, http.NoBody)
	require.NoError(tb, err)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := server.Client().Do(req)
	require.NoError(tb, err)
	tb.Cleanup(func() { _ = res.Body.Close() })
	return reply{res.StatusCode, res.Header, res.Body}
}

func body(tb testing.TB, res reply) string {
	tb.Helper()
	var b strings.Builder
	_, err := bufio.NewReader(res.Body).WriteTo(&b)
	require.NoError(tb, err)
	return b.String()
}

func TestAStreamOfARunThatEnds(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.tell(t, training, progress(1, 0.9))
	server, _ := site(t, f, "alice@example.org")
	res := get(t, server, "/api/v1/runs/"+run+"/events", "Accept", streamType)
	require.Equal(t, http.StatusOK, res.StatusCode)
	require.Equal(t, streamType, res.Header.Get("Content-Type"))
	require.Equal(t, "no", res.Header.Get("X-Accel-Buffering"))
	b, lines := newBrowser(), bufio.NewScanner(res.Body)
	for message := ""; lines.Scan(); message += lines.Text() + "\n" {
		if lines.Text() != "" {
			continue
		}
		b.read(t, []byte(message))
		message = ""
		if len(b.messages) == 1 && b.state.State == "running" {
			f.tell(t, progress(2, 0.8))
			f.end(job.Done, "All is well.")
		}
	}
	require.Equal(t, []float64{0.9, 0.8}, b.points["loss"])
	require.Equal(t, kindEnd, b.messages[len(b.messages)-1].kind)
	require.True(t, b.state.Over)
}

func TestTheAPIOfARun(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.tell(t, training, progress(1, 0.9), validation(2, 0.5), "no event", progress(3, 0.8))
	f.write(t, results.LogFile, "<script>alert(1)</script>\n")
	server, _ := site(t, f, "alice@example.org")

	t.Run("events come in parts", func(t *testing.T) {
		t.Parallel()
		after, kinds := "0", []string{}
		for range 10 {
			var got LogEvents
			require.NoError(t, json.Unmarshal([]byte(body(t, get(t, server, "/api/v1/runs/"+run+"/events?limit=2&after="+after))), &got))
			require.False(t, got.Over)
			for _, e := range got.Events {
				kinds = append(kinds, string(e.Event.Kind))
			}
			after = json.Number(strings.TrimSpace(jsonOf(t, got.After))).String()
			if !got.More {
				break
			}
		}
		require.Equal(t, []string{"phase", "progress", "eval", "progress"}, kinds)
	})
	t.Run("lines can be chosen", func(t *testing.T) {
		t.Parallel()
		var got struct {
			Said  Progress
			Lines []struct{ Name string }
		}
		require.NoError(t, json.Unmarshal([]byte(body(t, get(t, server, "/api/v1/runs/"+run+"/series?names=loss&names=none"))), &got))
		require.Len(t, got.Lines, 1)
		require.Equal(t, "loss", got.Lines[0].Name)
		require.Contains(t, got.Said.Sentence, "Epoch 1 of 2")
	})
	t.Run("the log is a file that no browser runs", func(t *testing.T) {
		t.Parallel()
		res := get(t, server, "/api/v1/runs/"+run+"/log", "Range", "bytes=-10")
		require.Equal(t, http.StatusPartialContent, res.StatusCode)
		require.Equal(t, "text/plain; charset=utf-8", res.Header.Get("Content-Type"))
		require.Contains(t, res.Header.Get("Content-Disposition"), "attachment")
		require.Contains(t, res.Header.Get("Content-Security-Policy"), "sandbox")
		require.Equal(t, "</script>\n", body(t, res))
	})
}

func jsonOf(tb testing.TB, v any) string {
	tb.Helper()
	b, err := json.Marshal(v)
	require.NoError(tb, err)
	return string(b)
}

func TestOthersLearnNothingOfARun(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.tell(t, progress(1, 0.9))
	f.write(t, results.LogFile, "secret\n")
	server, _ := site(t, f, "dave@example.org")
	for _, path := range []string{"events", "series", "log"} {
		foreign, invented := get(t, server, "/api/v1/runs/"+run+"/"+path), get(t, server, "/api/v1/runs/ft-none/"+path)
		require.Equal(t, http.StatusNotFound, foreign.StatusCode)
		require.Equal(t, body(t, invented), body(t, foreign))
	}
}

func TestACardShowsARunToThoseWhoHaveItsAddress(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.rec.User, f.rec.Request.Name = "alice@example.org", "secret dataset"
	f.tell(t, training, progress(1000, 0.9), progress(2000, 0.7))
	server, section := site(t, f, "")
	address, err := url.Parse(section.cards.Address(run))
	require.NoError(t, err)
	require.Equal(t, "/ray/embed/runs/"+run, address.Path)
	path := "/embed/runs/" + run + "?" + address.RawQuery

	res := get(t, server, path)
	require.Equal(t, http.StatusOK, res.StatusCode)
	require.Equal(t, cardRefresh, res.Header.Get("Refresh"))
	policy := res.Header.Get("Content-Security-Policy")
	require.Contains(t, policy, "frame-ancestors https://clowder.example.org")
	require.Contains(t, policy, "default-src 'none'")
	page := body(t, res)
	require.Contains(t, page, "Epoch 1 of 2, 20 %")
	require.Contains(t, page, `href="https://studio.example.org/ray/runs/`+run+`"`)
	require.Contains(t, page, "<polyline")
	require.NotContains(t, page, "secret")
	require.NotContains(t, page, "alice")
	require.NotContains(t, page, "1080 rows", "the sentence of the trainer may hold names of columns")

	old := get(t, server, "/embed/runs/"+run+"?t="+token([]byte("old"), run))
	require.Equal(t, http.StatusOK, old.StatusCode, "the state key was replaced by a new one")

	f.end(job.Done, "Trained on secret.csv.")
	f.change(func(rec *job.Record) { rec.Updated = time.Now() })
	res = get(t, server, path)
	require.Empty(t, res.Header.Get("Refresh"))
	require.Contains(t, body(t, res), "Done.")

	f.change(func(rec *job.Record) { rec.Updated = time.Now().Add(-cardTime - time.Hour) })
	for name, bad := range map[string]string{
		"a week after the end": path, "without a token": "/embed/runs/" + run, "with a token of another run": "/embed/runs/ft-two?" + address.RawQuery,
		"with an invented token": "/embed/runs/" + run + "?t=AAAAAAAAAAAAAAAAAAAAAA",
	} {
		require.Equal(t, http.StatusNotFound, get(t, server, bad).StatusCode, name)
	}
}

func TestAStreamEndsForThoseWhoMayNoLongerSeeTheRun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err  error
		text string
		ends bool
	}{
		"the rights stand":           {nil, "", false},
		"the dataset is not shared":  {web.NotFound, "You may no longer see this dataset.", true},
		"the login has ended":        {&web.Problem{Status: http.StatusUnauthorized}, "", true},
		"Clowder does not answer":    {&web.Problem{Status: http.StatusBadGateway}, "", false},
		"the rights of a role ended": {&web.Problem{Status: http.StatusForbidden}, "You may no longer see this dataset.", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, ends := noLonger(c.err)
			require.Equal(t, c.text, text)
			require.Equal(t, c.ends, ends)
		})
	}
}
