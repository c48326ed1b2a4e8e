//go:build integration

package clowder

import (
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
	v1 "github.com/ncsa/clowder-ray/internal/clowder/v1"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
)

// TestADeliveryToARealClowderV1ThatIsCutIsCompletedOnce is the test with the double, against the Clowder that the environment names.
func TestADeliveryToARealClowderV1ThatIsCutIsCompletedOnce(t *testing.T) {
	address, key := os.Getenv("CLOWDER_URL"), os.Getenv("CLOWDER_KEY")
	if address == "" || key == "" || os.Getenv("CLOWDER_VERSION") != "1" {
		t.Skip("no real Clowder v1 is given: CLOWDER_URL and CLOWDER_KEY are not set, or CLOWDER_VERSION is not 1")
	}
	base, err := url.Parse(address)
	require.NoError(t, err)
	client, err := clowder.NewClient(clowder.Config{URLs: map[int]string{1: address}, Cache: disk.Folder{Volume: t.TempDir()}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	s, err := v1.At(client, "", job.Secret(key))
	require.NoError(t, err)
	proxy := httputil.NewSingleHostReverseProxy(base)
	transport := &http.Transport{DisableCompression: true} // as the client does; v1 breaks off some compressed answers
	t.Cleanup(transport.CloseIdleConnections)
	proxy.Transport = transport
	for cut := 1; ; cut++ {
		dataset, err := s.CreateDataset(t.Context(), "a delivery that is cut", "")
		require.NoError(t, err)
		req := job.Request{APIVersion: 1, Kind: job.Dataset, DatasetID: dataset, ResourceID: dataset}
		d := newDeliveryBehind(t, proxy, req, key)
		if err := d.deliver(t, "1", cut); err == nil {
			require.Greater(t, cut, 30)
			return
		}
		require.NoError(t, d.deliver(t, "1", 0), "cut after %d calls and saves", cut)
		d.requireOneOfEach(t)
		t.Logf("cut after %d: dataset %s", cut, dataset)
	}
}
