package jobsapi_test

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zaptest"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/rayjob/jobsapi"
	"github.com/ncsa/clowder-ray/internal/rayjob/raytest"
)

func TestDoubleKeepsTheContract(t *testing.T) {
	t.Parallel()
	const token = job.Secret("a-token")
	server, address := serve(t, raytest.Config{Token: token, Run: raytest.Program})
	raytest.TestBackend(t, raytest.Fixture{
		Token: token, Python: "python", Timeout: 10 * time.Second,
		Restart: func(*testing.T) { server.Restart() }, Lost: "restarted",
		Backend: func(t *testing.T, token job.Secret) rayjob.Backend {
			t.Helper()
			return client(t, jobsapi.Config{Address: address, Token: token, PollInterval: time.Millisecond})
		},
	})
}

// serve starts a double.
func serve(tb testing.TB, cfg raytest.Config) (*raytest.Server, string) {
	tb.Helper()
	server := raytest.NewServer(cfg)
	web := httptest.NewServer(server)
	tb.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
		server.Close()
	})
	return server, web.URL
}

// client returns a client that leaves no connection behind.
func client(tb testing.TB, cfg jobsapi.Config) *jobsapi.Client {
	tb.Helper()
	c, err := jobsapi.New(cfg, zaptest.NewLogger(tb))
	require.NoError(tb, err)
	tb.Cleanup(c.CloseIdleConnections)
	return c
}
