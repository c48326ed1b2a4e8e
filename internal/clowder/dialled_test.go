package clowder

import (
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder/connect"
)

// TestTheGuardSeesTheAddressThatIsDialled gives a name that resolves to this machine.
func TestTheGuardSeesTheAddressThatIsDialled(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was reached") }))
	t.Cleanup(server.Close)
	c, err := NewClient(Config{URL: "http://clowder.example.org"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	require.NoError(t, err)
	_, err = c.As("KEY").stream( //nolint:bodyclose // there is none
		t.Context(), operation{what: "download"}, c.storage, "http://localhost:"+port, false)
	require.ErrorIs(t, err, connect.ErrBlocked)
}
