package studio

import (
	"context"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/answer"
	"github.com/ncsa/clowder-ray/internal/job"
)

// site is a studio that runs, and a browser in which Alice has logged in with her key.
type site struct {
	t       *testing.T
	url     string
	browser *http.Client
}

// serve runs the studio of a fixture until the test ends.
func serve(t *testing.T, f *fixture, change func(*Settings)) *site {
	t.Helper()
	set := served()
	set.Listen = free(t)
	set.URL = "http://" + set.Listen + "/ray"
	change(&set)
	f.parts.Links = linksTo(t, set, f.parts.Keys, nil)
	server, err := New(t.Context(), set, *f.parts)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	s := &site{t: t, url: set.URL, browser: &http.Client{
		Jar: jar, Transport: &http.Transport{}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	t.Cleanup(func() {
		s.browser.CloseIdleConnections()
		stop()
		require.NoError(t, <-ended)
	})
	form := url.Values{"key": {f.clowder.Key(alice)}, "back": {"/"}}.Encode()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/login/key", strings.NewReader(form))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	require.Equal(t, http.StatusSeeOther, s.status(req))
	return s
}

func (s *site) status(req *http.Request) int {
	s.t.Helper()
	answer, err := s.browser.Do(req)
	require.NoError(s.t, err)
	require.NoError(s.t, answer.Body.Close())
	return answer.StatusCode
}

// get is the status of a page.
func (s *site) get(path string) int {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.url+path, http.NoBody)
	require.NoError(s.t, err)
	return s.status(req)
}

// process is a server of the operator beside the service. It tells what it was asked, and with which headers.
func process(t *testing.T) (url string, asked <-chan *http.Request) {
	t.Helper()
	requests := make(chan *http.Request, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests <- r
		_, _ = w.Write([]byte(`{"parameters": {"kind": "text"}}`))
	}))
	t.Cleanup(server.Close)
	return server.URL, requests
}

// TestTensorBoardIsReachedWithItsOwnToken: it gets the token of its setting, and nothing that belongs to the visitor.
func TestTensorBoardIsReachedWithItsOwnToken(t *testing.T) {
	t.Parallel()
	address, asked := process(t)
	f := newFixture(t, 2)
	f.accept(t, "ft-one", func(r *job.Record) { r.User = alice })
	token := holding(t, canary+"\n")
	s := serve(t, f, func(s *Settings) { s.TensorBoard, s.TensorBoardURL, s.TensorBoardToken = true, address+"/", token })
	require.Equal(t, http.StatusOK, s.get("/tensorboard/ft-one/index.js"))
	r := <-asked
	require.Equal(t, "Bearer "+canary, r.Header.Get("Authorization"))
	require.Empty(t, r.Header.Values("Cookie"))
	require.Regexp(t, `^/experiment/[^/]+/index\.js$`, r.URL.Path)
	require.Equal(t, http.StatusNotFound, s.get("/tensorboard/ft-none/index.js"), "a run that the visitor may not see")
	require.Empty(t, asked)
}

func TestTensorBoardHasNoAddressWhereItIsNotOffered(t *testing.T) {
	t.Parallel()
	address, asked := process(t)
	f := newFixture(t, 2)
	f.accept(t, "ft-one", func(r *job.Record) { r.User = alice })
	s := serve(t, f, func(s *Settings) { s.TensorBoardURL = address })
	for _, path := range []string{"/tensorboard/ft-one", "/tensorboard/ft-one/index.js"} {
		require.Equal(t, http.StatusNotFound, s.get(path))
	}
	require.Empty(t, asked)
}

func TestAnswersComeFromTheProcessOfTheOperator(t *testing.T) {
	t.Parallel()
	address, asked := process(t)
	f := newFixture(t, 2)
	f.parts.Python = filepath.Join(t.TempDir(), "none")
	token := holding(t, canary+"\n")
	model := answer.Model{Folder: "folder", Name: "films", Version: 3}
	remote := f.parts.answers(&Settings{Predictor: address, PredictorToken: token})
	t.Cleanup(func() { require.NoError(t, remote.Close()) })
	found, err := remote.Describe(t.Context(), model)
	require.NoError(t, err)
	require.Equal(t, "text", found.Parameters.Kind)
	require.Equal(t, "Bearer "+canary, (<-asked).Header.Get("Authorization"))

	require.NoError(t, os.Remove(token))
	_, err = remote.Describe(t.Context(), model)
	require.ErrorContains(t, err, "PREDICTOR_TOKEN_FILE: open ")
	require.Empty(t, asked, "it is not asked without its token")

	local := f.parts.answers(&Settings{})
	t.Cleanup(func() { require.NoError(t, local.Close()) })
	_, err = local.Describe(t.Context(), model)
	require.ErrorIs(t, err, answer.ErrNotSetUp, "this machine has no Python")
}

func TestTheStudioServesBothVersionsOfClowder(t *testing.T) {
	t.Parallel()
	for _, version := range []int{1, 2} {
		f := newFixture(t, version)
		f.register(t, "films", 1)
		s := serve(t, f, func(*Settings) {})
		for path, want := range map[string]int{
			"/": http.StatusOK, "/datasets/" + f.dataset + "/models": http.StatusOK, "/models/" + f.dataset + "/films": http.StatusOK,
			"/models/" + f.dataset + "/birds": http.StatusNotFound, "/runs/ft-none": http.StatusNotFound, "/nowhere": http.StatusNotFound,
		} {
			require.Equal(t, want, s.get(path), "Clowder v%d: %s", version, path)
		}
	}
}

func TestAStudioThatCannotStartSaysWhichSettingToChange(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, taken.Close()) })
	absent := filepath.Join(t.TempDir(), "none")
	for name, tc := range map[string]struct {
		change func(*Settings)
		want   string
	}{
		"a port that is taken":    {func(s *Settings) { s.Listen = taken.Addr().String() }, "STUDIO_LISTEN: listen tcp " + taken.Addr().String()},
		"an address that is none": {func(s *Settings) { s.Listen = "8781" }, "STUDIO_LISTEN: "},
		"a secret that is not there": {
			func(s *Settings) { s.Issuer, s.SecretFile = "https://k.example.org", absent },
			"OIDC_CLIENT_SECRET_FILE: open " + absent,
		},
		"an address that is no origin": {func(s *Settings) { s.URL = "https:///ray" }, "STUDIO_URL: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := served()
			tc.change(&set)
			f := newFixture(t, 2)
			f.parts.Links = linksTo(t, set, nil, nil)
			server, err := New(t.Context(), set, *f.parts)
			require.ErrorContains(t, err, tc.want)
			require.Nil(t, server)
		})
	}
	server, err := New(t.Context(), Settings{Listen: taken.Addr().String()}, Parts{})
	require.NoError(t, err)
	require.Nil(t, server, "no STUDIO_URL, no studio")
}

func TestPythonIsReadOnlyWhereThisMachineHasOne(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	present, plain := filepath.Join(dir, "python"), filepath.Join(dir, "plain")
	require.NoError(t, os.WriteFile(present, []byte("#!/bin/sh\n"), 0o700))
	require.NoError(t, os.WriteFile(plain, nil, 0o600))
	for python, want := range map[string]bool{present: true, plain: false, filepath.Join(dir, "none"): false, "": false} {
		require.Equal(t, want, (&Parts{Python: python}).python() != nil, python)
	}
}
