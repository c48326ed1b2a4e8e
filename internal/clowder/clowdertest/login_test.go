package clowdertest_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
)

func TestCredentialsAreReadInTheOrderOfClowder(t *testing.T) {
	t.Parallel()
	server := start(t, clowdertest.Options{})
	token, stranger, ended := server.Token(alice), server.Token("erin@example.org"), server.Token(alice)
	server.RevokeToken(ended)
	dataset := server.AddDataset(alice, "Reviews")
	for name, tc := range map[string]struct {
		path   string
		header http.Header
		want   int
	}{
		"a token":                      {"/users/profile", http.Header{"Authorization": {"Bearer " + token}}, http.StatusOK},
		"a token that ended":           {"/users/profile", http.Header{"Authorization": {"Bearer " + ended}}, http.StatusUnauthorized},
		"a wrong token, a right key":   {"/users/profile", http.Header{"Authorization": {"Bearer x"}, "X-Api-Key": {server.Key(alice)}}, http.StatusUnauthorized},
		"another scheme, a right key":  {"/users/profile", http.Header{"Authorization": {"Basic x"}, "X-Api-Key": {server.Key(alice)}}, http.StatusOK},
		"the cookie of the page":       {"/users/profile", http.Header{"Cookie": {"a=b; " + clowdertest.CookieOf(token)}}, http.StatusOK},
		"the cookie in quotes":         {"/users/profile", http.Header{"Cookie": {`Authorization="Bearer ` + token + `"`}}, http.StatusUnauthorized},
		"a wrong cookie, a right key":  {"/users/profile", http.Header{"Cookie": {"Authorization=x"}, "X-Api-Key": {server.Key(alice)}}, http.StatusUnauthorized},
		"nothing":                      {"/users/profile", nil, http.StatusUnauthorized},
		"an unknown user, its profile": {"/users/profile", http.Header{"Authorization": {"Bearer " + stranger}}, http.StatusNotFound},
		"an unknown user, a dataset":   {"/datasets/" + dataset, http.Header{"Authorization": {"Bearer " + stranger}}, http.StatusInternalServerError},
		"me, which is read as an id":   {"/users/me", http.Header{"Authorization": {"Bearer " + token}}, http.StatusInternalServerError},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/api/v2"+tc.path, nil)
			require.NoError(t, err)
			req.Header = tc.header
			if req.Header == nil {
				req.Header = http.Header{}
			}
			answer, err := http.DefaultClient.Do(req)
			require.NoError(t, err)
			require.NoError(t, answer.Body.Close())
			require.Equal(t, tc.want, answer.StatusCode)
		})
	}
}
