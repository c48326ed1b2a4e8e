//go:build integration

package jobsapi_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/rayjob/jobsapi"
	"github.com/ncsa/clowder-ray/internal/rayjob/raylocal"
	"github.com/ncsa/clowder-ray/internal/rayjob/raytest"
)

func TestRealRayKeepsTheContract(t *testing.T) {
	python := raytest.Python(t)
	top := t
	start := func(t *testing.T) *raylocal.Local {
		t.Helper()
		began := time.Now()
		l, err := raylocal.Start(t.Context(), raylocal.Config{Python: python, Dir: top.TempDir(), NumCPUs: 2})
		require.NoError(t, err)
		t.Logf("Ray took jobs after %s", time.Since(began).Round(10*time.Millisecond))
		return l
	}
	ray := start(t)
	t.Cleanup(func() { require.NoError(t, ray.Stop()) })
	// A second cluster at the same address is what a restarted head is to a client.
	relay := newRelay(t, ray)
	report, err := client(t, jobsapi.Config{Address: ray.Address, Token: ray.Token}).Check(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, report.Nodes)
	require.InDelta(t, 2, report.CPUs, 0)
	require.Empty(t, report.Warnings)

	raytest.TestBackend(t, raytest.Fixture{
		Token: ray.Token, Python: python, TrainerPath: raytest.InstallProgram(t), Timeout: time.Minute, Lost: "restarted",
		Restart: func(t *testing.T) {
			t.Helper()
			require.NoError(t, ray.Stop())
			ray = start(t)
			relay.now.Store(ray)
		},
		Backend: func(t *testing.T, token job.Secret) rayjob.Backend {
			t.Helper()
			return client(t, jobsapi.Config{Address: relay.address, Token: token, PollInterval: 100 * time.Millisecond})
		},
	})
}

// relay is one address for one Ray after another, and one token for all of them.
type relay struct {
	address string
	now     atomic.Pointer[raylocal.Local]
}

func newRelay(t *testing.T, first *raylocal.Local) *relay {
	t.Helper()
	r := &relay{}
	r.now.Store(first)
	transport := &http.Transport{}
	proxy := &httputil.ReverseProxy{Transport: transport, Rewrite: func(req *httputil.ProxyRequest) {
		now := r.now.Load()
		target, err := url.Parse(now.Address)
		if err != nil {
			t.Error(err)
			return
		}
		req.SetURL(target)
		if req.In.Header.Get("X-Ray-Authorization") == "Bearer "+first.Token.Reveal() {
			req.Out.Header.Set("X-Ray-Authorization", "Bearer "+now.Token.Reveal())
		}
	}}
	web := httptest.NewServer(proxy)
	t.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
		transport.CloseIdleConnections()
	})
	r.address = web.URL
	return r
}
