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
	transport := &http.Transport{}
	t.Cleanup(func() { transport.CloseIdleConnections(); k.Close() })
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
		"another realm":             {func(i *Issuer) { i.URL += "2" }, "https://studio.example.org/login/callback", 0, "check OIDC_ISSUER"},
		"another spelling":          {func(i *Issuer) { i.URL += "/" }, "https://studio.example.org/login/callback", 0, "check OIDC_ISSUER"},
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
		})
	}
}
