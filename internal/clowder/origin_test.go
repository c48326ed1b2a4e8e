package clowder_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/clienttest"
	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
)

func TestMessageHostsAreComparedAndNeverFollowed(t *testing.T) {
	t.Parallel()
	client := clienttest.New(t, clowder.Config{AllowedHosts: []string{"https://clowder.example.org", "http://backend:8000/", "https://a.example.org/clowder"}})
	for _, host := range []string{
		"https://clowder.example.org", "https://CLOWDER.example.org/", "https://clowder.example.org:443", "http://backend:8000", "https://a.example.org/clowder/",
	} {
		_, err := client.At(host, "KEY")
		require.NoError(t, err, host)
	}
	for _, host := range []string{
		"", " ", "http://clowder.example.org", "https://clowder.example.org:8443", "https://clowder.example.org.evil.org", "https://evil.org/clowder.example.org",
		"https://clowder.example.org@evil.org", "https://user:pass@clowder.example.org", "https://evil.org#clowder.example.org", "https://clowder.example.org#@evil.org",
		"https://clowder.example.org?x=1", "https://clowder.example.org/?", "https://clowder.example.org\\@evil.org", "https://clowder.example.org/../x",
		"https://clowder.example.org/%2e%2e", "https:clowder.example.org", "//clowder.example.org", "clowder.example.org", "ftp://clowder.example.org",
		"file:///etc/passwd", "javascript:alert(1)", "http://169.254.169.254", "http://[::ffff:169.254.169.254]", "http://[::ffff:169.254.169.254%25eth0]", "http://2852039166",
		"http://0xA9FEA9FE", "http://localhost:8000", "http://127.0.0.1:8000", "http://[::1]:8000", "http://0.0.0.0", "http://backend", "http://backend:8000@evil.org",
		"http://backend:80000", "http://backend:8000/api", "https://clowder.example.org\r\nX: y", "https://clowder.example.org\x00", "https://clowder.example.org.",
		"https://сlowder.example.org", "gopher://clowder.example.org", "https://a.example.org", "https://a.example.org/clowder2",
	} {
		_, err := client.At(host, "KEY")
		clienttest.RequireKind(t, err, job.KindPermanent, 0)
		require.NotContains(t, err.Error(), "pass@", host)
	}
}

func TestConfiguredURLWinsOverTheMessage(t *testing.T) {
	t.Parallel()
	server := startDouble(t, clowdertest.Options{})
	s, err := clienttest.New(t, clowder.Config{URL: server.URL}).At("http://backend:8000", job.Secret(server.Key("alice@example.org")))
	require.NoError(t, err)
	_, err = s.CheckKey(t.Context())
	require.NoError(t, err)
}

func TestClientRefusesAnUnusableConfiguration(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		cfg  clowder.Config
		want string
	}{
		"nothing set":         {clowder.Config{}, "set CLOWDER_URL"},
		"a URL without http":  {clowder.Config{URL: "clowder.example.org"}, "must begin with http"},
		"a URL with a query":  {clowder.Config{URL: "http://x?key=1"}, "must not have a query"},
		"a negative limit":    {clowder.Config{URL: "http://x", MaxFiles: -1}, "limit of files must not be negative"},
		"a cache that cannot": {clowder.Config{URL: "http://x", Cache: disk.Folder{Volume: "/dev/null/x"}}, "open the cache"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := clowder.NewClient(tc.cfg)
			require.ErrorContains(t, err, tc.want)
		})
	}
}

func TestKeyDoesNotFollowARedirectToAnotherAddress(t *testing.T) {
	t.Parallel()
	var stolen []string
	thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { stolen = append(stolen, r.Header.Get("X-API-KEY")) }))
	t.Cleanup(thief.Close)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, thief.URL+r.URL.Path, http.StatusTemporaryRedirect)
	}))
	t.Cleanup(front.Close)
	s := clienttest.New(t, clowder.Config{URL: front.URL}).As("KEY")
	_, err := s.Dataset(t.Context(), missingID)
	require.ErrorContains(t, err, "check CLOWDER_URL")
	_, err = s.Upload(t.Context(), missingID, "", text("a", "", "b"))
	require.Error(t, err)
	_, err = s.Stage(t.Context(), []clowder.File{{ID: missingID, Name: "a", Path: "a"}}, disk.Folder{Volume: t.TempDir()}, nil)
	require.Error(t, err)
	require.Empty(t, stolen)
}

func TestPresignedAddressesStayAwayFromInnerServices(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"the metadata service of a cloud": `{"presigned_url":"http://169.254.169.254/latest/meta-data"}`,
		"a file":                          `{"presigned_url":"file:///etc/passwd"}`,
		"an address with a user":          `{"presigned_url":"http://a:b@127.0.0.1/"}`,
		"no address":                      `{"presigned_url":""}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := startDouble(t, clowdertest.Options{})
			server.Fail(clowdertest.Fault{Path: "/url/", Status: http.StatusOK, Body: body})
			s := clienttest.New(t, clowder.Config{URL: server.URL}).As(job.Secret(server.Key("alice@example.org")))
			_, err := s.Stage(t.Context(), []clowder.File{{ID: missingID, Name: "数.csv", Path: "数.csv"}}, disk.Folder{Volume: t.TempDir()}, nil)
			require.Error(t, err)
			require.NotContains(t, err.Error(), "meta-data")
			require.NotContains(t, err.Error(), "passwd")
		})
	}
}
