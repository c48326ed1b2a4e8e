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
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
)

func serve(t *testing.T, handler http.HandlerFunc) (client *Client, url string) {
	t.Helper()
	server := httptest.NewServer(handler)
	token := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(token, []byte("secret\n"), 0o600))
	client = NewClient(NewRemote(server.URL+"/", token))
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
	outputs, err := client.Infer(t.Context(), reviews, []Tensor{{Name: "text", Datatype: "BYTES", Shape: []int{1}, Data: []any{"a fine film"}}})
	require.NoError(t, err)
	require.Equal(t, []any{0.1, 0.9}, outputs[1].Data)
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

// script returns a program that stands for Python.
func script(t *testing.T, body string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "python")
	require.NoError(t, os.WriteFile(file, []byte("#!/bin/sh\n"+body+"\n"), 0o700))
	return file
}

func local(t *testing.T, body string, timeout time.Duration) *Local {
	t.Helper()
	l, ok := NewLocal(LocalConfig{
		Python: script(t, body), Trainer: func() (string, error) { return "/trainer", nil }, Registry: "/registry", StartTimeout: timeout, Log: zap.NewNop(),
	}).(*Local)
	require.True(t, ok)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	return l
}

func TestAProcessIsStartedOnceAndAgainAfterItsEnd(t *testing.T) {
	t.Parallel()
	starts := filepath.Join(t.TempDir(), "starts")
	l := local(t, `echo "$ANSWER_TOKEN" >> `+starts+`; echo '{"port": 4711}'; exec cat`, time.Minute)
	first, err := l.at(t.Context(), "")
	require.NoError(t, err)
	require.Equal(t, "http://127.0.0.1:4711", first.url)
	again, err := l.at(t.Context(), "")
	require.NoError(t, err)
	require.Equal(t, first, again)
	after, err := l.at(t.Context(), first.url)
	require.NoError(t, err)
	require.NotEqual(t, first.token, after.token, "a new process has a new token")
	doc, err := os.ReadFile(starts)
	require.NoError(t, err)
	require.Equal(t, first.token.Reveal()+"\n"+after.token.Reveal()+"\n", string(doc))
	require.NoError(t, l.Close())
	_, err = l.at(t.Context(), "")
	require.ErrorIs(t, err, ErrNotSetUp, "after Close nothing is started")
}

func TestAProcessThatCannotStartIsNotTriedAtEachQuestion(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body    string
		timeout time.Duration
	}{
		"a missing package": {`echo x >> "$0.starts"; echo "No module named onnxruntime" >&2; exit 1`, time.Minute},
		"no port":           {`echo x >> "$0.starts"; echo hello; exec cat`, time.Minute},
		"a strange port":    {`echo x >> "$0.starts"; echo '{"port": 99999}'; exec cat`, time.Minute},
		"it says nothing":   {`echo x >> "$0.starts"; exec cat`, 50 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := local(t, c.body, c.timeout)
			for range 3 {
				_, err := l.at(t.Context(), "")
				require.ErrorIs(t, err, ErrNotSetUp)
			}
			doc, err := os.ReadFile(l.cfg.Python + ".starts")
			require.NoError(t, err)
			require.Equal(t, "x\n", string(doc))
		})
	}
}

func TestTheProcessGetsNoSettingsOfTheService(t *testing.T) {
	t.Setenv("STATE_KEY", "very secret")
	for _, variable := range environment("/trainer", "token") {
		require.NotContains(t, variable, "secret")
	}
}
