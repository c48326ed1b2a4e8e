package site

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// Page returns the status and the text of a page, for a user who has logged in.
func (s *Site) Page(tb testing.TB, user, path string) (status int, doc string) {
	tb.Helper()
	req, err := http.NewRequestWithContext(tb.Context(), http.MethodGet, s.URL+"/"+path, http.NoBody)
	require.NoError(tb, err)
	answer, err := s.Login(tb, user).Do(req)
	require.NoError(tb, err)
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	require.NoError(tb, err)
	return answer.StatusCode, string(body)
}

// Call sends a request to the API with the key of a user and decodes the answer. The body is sent as JSON; nil for none.
func (s *Site) Call(tb testing.TB, user, method, path string, body any) (status int, doc map[string]any) {
	tb.Helper()
	var content io.Reader = http.NoBody
	if body != nil {
		encoded, err := json.Marshal(body)
		require.NoError(tb, err)
		content = bytes.NewReader(encoded)
	}
	req, err := http.NewRequestWithContext(tb.Context(), method, s.URL+"/api/v1/"+path, content)
	require.NoError(tb, err)
	req.Header.Set("X-API-KEY", s.Clowder.Key(user))
	req.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(req)
	require.NoError(tb, err)
	defer func() { _ = answer.Body.Close() }()
	require.NoError(tb, json.NewDecoder(answer.Body).Decode(&doc))
	return answer.StatusCode, doc
}
