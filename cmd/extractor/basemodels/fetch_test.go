package basemodels_test

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/hub/hubtest"
)

func TestAModelIsInstalledFromTheAddressOfAZIPFile(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	double := hubtest.New(t, map[string]hubtest.Repo{tiny: bert()})
	first, bundle := newOperator(t, double), filepath.Join(t.TempDir(), "models.zip")
	_, _, err := first.run(t, "install", tiny, "--yes")
	require.NoError(t, err)
	_, _, err = first.run(t, "bundle", tiny, "--out", bundle)
	require.NoError(t, err)
	content, err := os.ReadFile(bundle)
	require.NoError(t, err)
	sum := sha256.Sum256(content)

	server := httptest.NewTLSServer(http.FileServer(http.Dir(filepath.Dir(bundle))))
	t.Cleanup(server.Close)
	o := newOperator(t, double)
	o.roots = x509.NewCertPool()
	o.roots.AddCert(server.Certificate())
	_, _, err = o.run(t, "install", server.URL+"/models.zip", "--yes", "--sha256", strings.Repeat("0", 64))
	require.ErrorContains(t, err, "and not the one in --sha256")
	require.NoDirExists(t, filepath.Join(o.models(), tiny))
	_, _, err = o.run(t, "install", server.URL+"/missing.zip", "--yes")
	require.ErrorContains(t, err, "does not give the ZIP file (HTTP 404)")
	stdout, stderr, err := o.run(t, "install", server.URL+"/models.zip", "--yes", "--sha256", hex.EncodeToString(sum[:]))
	require.NoError(t, err)
	require.Contains(t, stdout, "installed "+tiny)
	require.Contains(t, stderr, hex.EncodeToString(sum[:]))
	left, err := os.ReadDir(temp)
	require.NoError(t, err)
	for _, entry := range left {
		require.NotContains(t, entry.Name(), "model-", "the temporary file is removed")
	}
}
