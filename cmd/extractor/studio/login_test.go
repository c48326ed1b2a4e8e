package studio

import (
	"encoding/pem"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/studio/login/logintest"
	"github.com/ncsa/clowder-ray/test/ports"
)

const canary = "canary-secret"

// holding writes a file and returns its path.
func holding(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// free is an address on which nothing listens.
func free(t *testing.T) string {
	t.Helper()
	port, err := ports.Free(t.Context(), 1)
	require.NoError(t, err)
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port[0]))
}

func TestTheSecretOfTheClientComesFromAFile(t *testing.T) {
	t.Parallel()
	issuer := func(s Settings) (job.Secret, error) {
		s.Issuer, s.Client = "https://k.example.org/realms/clowder", "clowder-ray"
		found, err := s.issuer("")
		return found.Secret, err
	}
	for name, tc := range map[string]struct {
		content string
		want    job.Secret
	}{
		"a line":                      {canary + "\n", canary},
		"a line of Windows":           {canary + "\r\n", canary},
		"no end of line":              {canary, canary},
		"a secret with a blank in it": {" a b ", "a b"},
	} {
		secret, err := issuer(Settings{SecretFile: holding(t, tc.content)})
		require.NoError(t, err, name)
		require.Equal(t, tc.want, secret, name)
	}
	secret, err := issuer(Settings{})
	require.NoError(t, err)
	require.Empty(t, secret, "a public client has none")

	absent := filepath.Join(t.TempDir(), "none")
	for path, want := range map[string]string{
		absent: "OIDC_CLIENT_SECRET_FILE: open " + absent + ": no such file or directory",
		holding(t, " \r\n"): "OIDC_CLIENT_SECRET_FILE: the file is empty; " +
			"write the secret of the client into it, or leave the setting out for a public client",
	} {
		_, err := issuer(Settings{SecretFile: path})
		require.EqualError(t, err, want)
		kind, _ := job.Classify(err)
		require.Equal(t, job.KindPermanent, kind)
	}
	found, err := (&Settings{SecretFile: absent}).issuer(absent)
	require.NoError(t, err, "without a realm no file is read")
	require.Nil(t, found.HTTP)
}

// TestKeycloakIsTrustedByTheCertificateOfClowder: tokens go to the realm itself, so its certificate is checked and no redirect is followed.
func TestKeycloakIsTrustedByTheCertificateOfClowder(t *testing.T) {
	t.Parallel()
	routes := http.NewServeMux()
	routes.Handle("/realm", http.RedirectHandler("/elsewhere", http.StatusTemporaryRedirect))
	routes.HandleFunc("/elsewhere", func(http.ResponseWriter, *http.Request) {})
	keycloak := httptest.NewTLSServer(routes)
	t.Cleanup(keycloak.Close)
	get := func(ca string) (int, error) {
		found, err := (&Settings{Issuer: keycloak.URL}).issuer(ca)
		require.NoError(t, err)
		t.Cleanup(found.HTTP.CloseIdleConnections)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, keycloak.URL+"/realm", http.NoBody)
		require.NoError(t, err)
		answer, err := found.HTTP.Do(req)
		if err != nil {
			return 0, err
		}
		return answer.StatusCode, answer.Body.Close()
	}
	_, err := get("")
	require.ErrorContains(t, err, "certificate")

	ca := holding(t, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: keycloak.Certificate().Raw})))
	status, err := get(ca)
	require.NoError(t, err)
	require.Equal(t, http.StatusTemporaryRedirect, status)

	_, err = (&Settings{Issuer: keycloak.URL}).issuer(ca + "-not-there")
	require.ErrorContains(t, err, "CLOWDER_CA: open ")
	kind, _ := job.Classify(err)
	require.Equal(t, job.KindPermanent, kind)
}

func TestDoctorSaysWhatAnswersAtTheAddressOfTheStudio(t *testing.T) {
	t.Parallel()
	serve := func(status int, policy string) string {
		routes := http.NewServeMux()
		routes.HandleFunc("/ray/login", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Security-Policy", policy)
			w.WriteHeader(status)
		})
		s := httptest.NewServer(routes)
		t.Cleanup(s.Close)
		return s.URL + "/ray"
	}
	const policy = "default-src 'none'; require-trusted-types-for 'script'"
	studio, page, broken, nobody := serve(http.StatusOK, policy), serve(http.StatusOK, ""), serve(http.StatusBadGateway, policy), "http://"+free(t)
	for name, tc := range map[string]struct{ url, want string }{
		"a studio":                  {studio, studio + "/, login with key; it answers"},
		"with a slash at the end":   {studio + "/", studio + "/, login with key; it answers"},
		"another page":              {page, page + "/, login with key; something else answers there (200): check STUDIO_URL and the proxy before it"},
		"a proxy without a studio":  {broken, broken + "/, login with key; something else answers there (502): check STUDIO_URL and the proxy before it"},
		"a service that is stopped": {nobody, nobody + "/, login with key; nothing answers there yet, as seen from here"},
		"no studio is wanted":       {"", "off: STUDIO_URL is not set"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, err := (&Settings{URL: tc.url}).Doctor(t.Context(), "")
			require.NoError(t, err)
			require.Equal(t, tc.want, found)
		})
	}
	_, err := (&Settings{URL: "https://studio example"}).Doctor(t.Context(), "")
	require.ErrorContains(t, err, "STUDIO_URL: ")
}

func TestDoctorTriesTheLoginAtKeycloak(t *testing.T) {
	t.Parallel()
	studio := "http://" + free(t) + "/ray"
	keycloak, err := logintest.Start(logintest.Options{Redirects: []string{studio + "/login/callback"}, Secret: canary})
	require.NoError(t, err)
	t.Cleanup(keycloak.Close)
	secret, wrong := holding(t, canary+"\n"), holding(t, "canary-of-another-client\n")
	const away = "; nothing answers there yet, as seen from here"
	for name, tc := range map[string]struct {
		change func(*Settings)
		found  string
		err    string
	}{
		"everything fits":                  {func(s *Settings) { s.SecretFile = secret }, "/, login with oidc, key at " + keycloak.URL + away, ""},
		"the operator uses keys only":      {func(s *Settings) { s.Login = []string{"key"} }, "/, login with key" + away, ""},
		"the cookie of Clowder as a login": {func(s *Settings) { s.Login = []string{"cookie"} }, "/, login with cookie" + away, ""},
		"the secret is missing":            {func(*Settings) {}, "", "set OIDC_CLIENT_SECRET_FILE to a file with it"},
		"the secret is another one":        {func(s *Settings) { s.SecretFile = wrong }, "", "does not accept the secret of the client clowder-ray"},
		"the file of the secret is gone":   {func(s *Settings) { s.SecretFile = secret + "-none" }, "", "OIDC_CLIENT_SECRET_FILE: open "},
		"the studio has moved": {
			func(s *Settings) { s.URL, s.SecretFile = studio+"2", secret }, "", "add " + studio + "2/login/callback to its redirect URIs",
		},
		"there is no Keycloak":            {func(s *Settings) { s.Issuer = "http://" + free(t) }, "", "check OIDC_ISSUER"},
		"the realm is another one":        {func(s *Settings) { s.Issuer += "/other" }, "", "check OIDC_ISSUER"},
		"a certificate that is not there": {func(s *Settings) { s.SecretFile = secret }, "", "CLOWDER_CA: open "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ca := ""
			if name == "a certificate that is not there" {
				ca = filepath.Join(t.TempDir(), "ca.pem")
			}
			set := Settings{URL: studio, Issuer: keycloak.URL, Client: logintest.Client}
			tc.change(&set)
			found, err := set.Doctor(t.Context(), ca)
			require.NotContains(t, found, "canary")
			if tc.err == "" {
				require.NoError(t, err)
				require.Equal(t, studio+tc.found, found)
				return
			}
			require.ErrorContains(t, err, tc.err)
			require.NotContains(t, err.Error(), "canary")
		})
	}
}
