package login

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/studio/login/logintest"
)

func TestTheDoctorSaysWhatKeepsPeopleFromLoggingIn(t *testing.T) {
	t.Parallel()
	k, err := logintest.Start(logintest.Options{Redirects: []string{"https://studio.example.org/login/callback"}})
	require.NoError(t, err)
	held, err := logintest.Start(logintest.Options{Redirects: []string{"https://studio.example.org/login/callback"}, Secret: "s3cret"})
	require.NoError(t, err)
	transport := &http.Transport{}
	t.Cleanup(func() { transport.CloseIdleConnections(); k.Close(); held.Close() })
	good := Issuer{URL: k.URL, Client: logintest.Client, HTTP: &http.Client{Transport: transport}}
	for name, c := range map[string]struct {
		change   func(*Issuer)
		callback string
		skew     time.Duration
		want     string
	}{
		"nothing":                   {nil, "https://studio.example.org/login/callback", 0, ""},
		"a callback that is absent": {nil, "https://other.example.org/login/callback", 0, "add https://other.example.org/login/callback to its redirect URIs"},
		"a client that is absent":   {func(i *Issuer) { i.Client = "other" }, "https://studio.example.org/login/callback", 0, "does not know the client other"},
		"the clock":                 {nil, "https://studio.example.org/login/callback", 3 * time.Minute, "clocks"},
		"a secret that a public client needs not": {func(i *Issuer) { i.Secret = "other" }, "https://studio.example.org/login/callback", 0, ""},
		"the secret":             {func(i *Issuer) { i.URL, i.Secret = held.URL, "s3cret" }, "https://studio.example.org/login/callback", 0, ""},
		"a secret that is wrong": {func(i *Issuer) { i.URL, i.Secret = held.URL, "s3cre" }, "https://studio.example.org/login/callback", 0, "does not accept the secret"},
		"a client whose secret is not in a setting": {func(i *Issuer) { i.URL = held.URL }, "https://studio.example.org/login/callback", 0, "set OIDC_CLIENT_SECRET_FILE"},
		"another realm":    {func(i *Issuer) { i.URL += "2" }, "https://studio.example.org/login/callback", 0, "check OIDC_ISSUER"},
		"another spelling": {func(i *Issuer) { i.URL += "/" }, "https://studio.example.org/login/callback", 0, "check OIDC_ISSUER"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			issuer := good
			if c.change != nil {
				c.change(&issuer)
			}
			err := Check(t.Context(), issuer, c.callback, time.Now().Add(c.skew))
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
			require.NotContains(t, err.Error(), "s3cre")
		})
	}
}
