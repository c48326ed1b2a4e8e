package answer

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/sidecar"
)

func serve(t *testing.T, handler http.HandlerFunc) (client *Client, url string) {
	t.Helper()
	server := httptest.NewServer(handler)
	token := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(token, []byte("secret\n"), 0o600))
	client = NewClient(sidecar.NewRemote(server.URL, "PREDICTOR_TOKEN_FILE", token))
	t.Cleanup(func() {
		require.NoError(t, client.Close())
		server.Close()
	})
	return client, server.URL
}

var reviews = Model{Folder: "0a1b2c3d-0123456789abcdef01234567", Name: "reviews", Version: 3}

func TestAQuestionHasTheAddressAndTheTokenOfTheProtocol(t *testing.T) {
	t.Parallel()
	var requests []string
	client, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		requests = append(requests, r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization")+string(body))
		if r.Method == http.MethodGet {
			_, _ = fmt.Fprint(w, `{"inputs":[{"name":"text","datatype":"BYTES","shape":[-1]}],"parameters":{"kind":"text","labels":["no","yes"],"columns":[{"name":"text","type":"text"}]}}`)
			return
		}
		_, _ = fmt.Fprint(w, `{"outputs":[{"name":"label","datatype":"BYTES","shape":[1],"data":["yes"]},{"name":"probability","datatype":"FP32","shape":[1,2],"data":[0.1,0.9]}]}`)
	})
	described, err := client.Describe(t.Context(), reviews)
	require.NoError(t, err)
	require.Equal(t, []string{"no", "yes"}, described.Parameters.Labels)
	answered, err := client.Infer(t.Context(), reviews, []Tensor{{Name: "text", Datatype: "BYTES", Shape: []int{1}, Data: []any{"a fine film"}}})
	require.NoError(t, err)
	require.Equal(t, []any{0.1, 0.9}, answered.Outputs[1].Data)
	const address = "/v2/models/0a1b2c3d-0123456789abcdef01234567.reviews/versions/3"
	require.Equal(t, []string{
		"GET " + address + " Bearer secret",
		"POST " + address + `/infer Bearer secret{"inputs":[{"name":"text","datatype":"BYTES","shape":[1],"data":["a fine film"]}]}`,
	}, requests)
}

func TestARefusalIsASentenceAndAFaultIsNot(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		body   string
		want   string
		sender bool
	}{
		"the sender's mistake":       {400, `{"error":"A text is empty."}`, "A text is empty.", true},
		"a model without model.onnx": {409, `{"error":"This version has no model.onnx."}`, "This version has no model.onnx.", true},
		"damaged files":              {500, `{"error":"The files cannot be read."}`, "The files cannot be read.", true},
		"our token":                  {401, `{"error":"The token is wrong."}`, "HTTP status 401", false},
		"a page of a proxy":          {502, `<html>`, "HTTP status 502", false},
		"a redirect":                 {302, ``, "HTTP status 302", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(c.status)
				_, _ = fmt.Fprint(w, c.body)
			})
			_, err := client.Describe(t.Context(), reviews)
			require.ErrorContains(t, err, c.want)
			_, refused := errors.AsType[*RefusedError](err)
			require.Equal(t, c.sender, refused)
			require.NotContains(t, err.Error(), url)
		})
	}
}

func TestAnAnswerIsReadUpToALimit(t *testing.T) {
	t.Parallel()
	client, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(strings.Repeat(" ", maxAnswer+1)))
	})
	_, err := client.Describe(t.Context(), reviews)
	require.ErrorContains(t, err, "more than")
}

func TestWithoutAProcessNothingIsSetUp(t *testing.T) {
	t.Parallel()
	client := NewClient(NewLocal(LocalConfig{Python: "/nowhere/python"}))
	_, err := client.Describe(t.Context(), reviews)
	require.ErrorIs(t, err, ErrNotSetUp)
	require.NoError(t, client.Close())
}
