package v1_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/clienttest"
	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
	v1 "github.com/ncsa/clowder-ray/internal/clowder/v1"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
)

const alice = "alice@example.org"

// bench is a double with one dataset and a session of its owner. before answers a request itself if it returns true.
type bench struct {
	server *clowdertest.Server
	client *clowder.Client
	s      *v1.Session
	ds     string
}

func setup(t *testing.T, opts clowdertest.Options, cfg clowder.Config, before func(w http.ResponseWriter, r *http.Request) bool) bench {
	t.Helper()
	server := startDouble(t, opts)
	line := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if before == nil || !before(w, r) {
			server.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(line.Close)
	cfg.URLs = map[int]string{1: line.URL}
	client := clienttest.New(t, cfg)
	return bench{server, client, session(t, client, server.Key(alice)), server.AddDataset(alice, "d")}
}

// calls are one of each way in which the client speaks with Clowder. The first four only read.
func (b bench) calls(t *testing.T) []func() error {
	t.Helper()
	ctx := t.Context()
	one := []clowder.File{{ID: missingID, Name: "a", Path: "a", Size: 3}}
	return []func() error{
		func() error { _, err := b.s.Dataset(ctx, b.ds); return err },
		func() error { _, err := b.s.Files(ctx, b.ds); return err },
		func() error { _, err := b.s.Metadata(ctx, b.ds); return err },
		func() error { _, err := b.s.Stage(ctx, one, disk.Folder{Volume: t.TempDir()}, nil); return err },
		func() error { _, err := b.s.Upload(ctx, b.ds, "", text("a.txt", "", "abc")); return err },
		func() error { _, err := b.s.AddMetadata(ctx, b.ds, clowder.Metadata{}); return err },
	}
}

func TestAnswersThatAreNotClowders(t *testing.T) {
	t.Parallel()
	const page = "<!DOCTYPE html><html>Log in</html>"
	html := func(status int) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			w.WriteHeader(status)
			_, _ = fmt.Fprint(w, page)
			return true
		}
	}
	login := func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/login" {
			http.Redirect(w, r, "/login?for="+r.URL.Path, http.StatusFound)
			return true
		}
		return html(http.StatusOK)(w, r)
	}
	for name, tc := range map[string]struct {
		answer      func(http.ResponseWriter, *http.Request) bool
		read, write job.Kind
		status      int
		text        string
	}{
		"a page with status 200":       {html(http.StatusOK), job.KindRetryable, job.KindUnknown, 0, "it is a web page"},
		"a redirect to a page":         {login, job.KindPermanent, job.KindPermanent, 0, "whether a login page protects the API"},
		"a page with status 500":       {html(http.StatusInternalServerError), job.KindRetryable, job.KindUnknown, 500, "had an error"},
		"a page with status 403":       {html(http.StatusForbidden), job.KindPermanent, job.KindPermanent, 403, "refused to"},
		"a page with status 401":       {html(http.StatusUnauthorized), job.KindPermanent, job.KindPermanent, 401, "does not accept the key"},
		"a page of a server that ends": {html(http.StatusBadGateway), job.KindRetryable, job.KindUnknown, 502, "had an error"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, clowdertest.Options{}, clowder.Config{Attempts: 1}, tc.answer)
			for i, call := range b.calls(t) {
				want := tc.read
				if i > 3 {
					want = tc.write
				}
				err := call()
				clienttest.RequireKind(t, err, want, tc.status)
				require.ErrorContains(t, err, tc.text, "call %d", i)
				require.NotContains(t, err.Error(), "<", "call %d", i)
				require.NotContains(t, err.Error(), b.server.Key(alice), "call %d", i)
			}
		})
	}
}

func TestWhatAnErrorOfClowderSays(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		status     int
		body, text string
	}{
		"a stack trace is left out": {500, `{"status":"error","request":"GET /x?key=SECRET","exception":"java.lang.X\n\tat api.Files(Files.scala:1)"}`, "(500)"},
		"a text":                    {400, "No files uploaded", "(No files uploaded)"},
		"a JSON text":               {400, `"Missing parameter [name]"`, "(Missing parameter [name])"},
		"a message":                 {400, `{"status":"bad request","message":"Cannot parse parameter id","request":"GET /api/x?key=SECRET"}`, "(Cannot parse parameter id)"},
		"a msg":                     {409, `{"status":"error","msg":"File is not ready. Please wait and try again."}`, "(File is not ready. Please wait and try again.)"},
		"a message that is a list":  {400, `{"message":["x"]}`, "(400)"},
		"the key of the user":       {400, "KEY-OF-ALICE is not good", "(… is not good)"},
		"a long text":               {400, strings.Repeat("long ", 1000), "long"},
		"nothing":                   {413, "", "(413)"},
		"why an account is refused": {401, "Terms of Service not accepted", "(401) (Terms of Service not accepted)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, clowdertest.Options{}, clowder.Config{Attempts: 1}, func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.RawQuery != "" {
					t.Error("the key of a user is in a query")
				}
				w.WriteHeader(tc.status)
				_, _ = fmt.Fprint(w, tc.body)
				return true
			})
			_, err := session(t, b.client, "KEY-OF-ALICE").Dataset(t.Context(), b.ds)
			require.ErrorContains(t, err, tc.text)
			require.Equal(t, tc.status, clowder.StatusOf(err))
			require.Less(t, len(err.Error()), 500)
			for _, never := range []string{"java", "scala", "SECRET", "ALICE", "\n"} {
				require.NotContains(t, err.Error(), never)
			}
		})
	}
}

func TestAWrongKeyOfAPublicClowderIsFoundOut(t *testing.T) {
	t.Parallel()
	b := setup(t, clowdertest.Options{Public: true}, clowder.Config{}, nil)
	wrong := session(t, b.client, "wrong-key")
	_, err := wrong.Dataset(t.Context(), b.ds)
	require.NoError(t, err, "everybody may read")
	_, err = wrong.CheckKey(t.Context())
	clienttest.RequireKind(t, err, job.KindPermanent, http.StatusUnauthorized)
	_, err = wrong.Upload(t.Context(), b.ds, "", text("a.txt", "", "abc"))
	clienttest.RequireKind(t, err, job.KindPermanent, http.StatusUnauthorized)
}

func TestTheKeyIsAHeaderWhereClowderTakesOne(t *testing.T) {
	t.Parallel()
	var queries []string
	b := setup(t, clowdertest.Options{}, clowder.Config{}, func(_ http.ResponseWriter, r *http.Request) bool {
		queries = append(queries, r.URL.RawQuery)
		return false
	})
	for _, call := range b.calls(t) {
		_ = call() // some are refused
	}
	for _, q := range queries {
		require.NotContains(t, q, "key=")
	}
	// The key of the installation is asked for once, and then known in all sessions of the client.
	queries = nil
	all := session(t, b.client, b.server.GlobalKey())
	_, err := all.Files(t.Context(), b.ds)
	require.NoError(t, err)
	require.Len(t, queries, 5, "refused, /me as a header, /me as a query, the list, the state of the new file: %v", queries)
	_, err = session(t, b.client, b.server.GlobalKey()).Upload(t.Context(), b.ds, "", text("a.txt", "", "abc"))
	require.NoError(t, err)
	for _, q := range queries[3:] {
		require.Contains(t, q, "key=")
	}
	b.server.Fail(clowdertest.Fault{Status: 500})
	for _, call := range []func() error{
		func() error { _, err := all.Dataset(t.Context(), b.ds); return err },
		func() error { _, err := all.Files(t.Context(), b.ds); return err },
		func() error { _, err := all.Upload(t.Context(), b.ds, "", text("a.txt", "", "abc")); return err },
	} {
		require.NotContains(t, call().Error(), b.server.GlobalKey())
	}
	require.NoError(t, b.server.Close())
	_, err = all.Dataset(t.Context(), b.ds)
	require.NotContains(t, err.Error(), b.server.GlobalKey())
}

func TestFoldersThatClowderNeverListsAreAskedForOnce(t *testing.T) {
	t.Parallel()
	b := setup(t, clowdertest.Options{}, clowder.Config{CallTimeout: 100 * time.Millisecond}, nil)
	status, _ := raw{site{url: b.server.URL}, b.server.Key(alice)}.call(t, "POST", "/api/datasets/"+b.ds+"/newFolder", "application/json",
		`{"name":"orphan","parentId":"`+b.ds+`","parentType":"folder"}`)
	require.Equal(t, 200, status)
	_, err := b.s.FindFolder(t.Context(), b.ds, "", "x")
	clienttest.RequireKind(t, err, job.KindPermanent, 0)
	require.ErrorContains(t, err, "did not list the folders of the dataset within")
	require.Equal(t, 1, b.server.Requests("GET", "/folders"))
}
