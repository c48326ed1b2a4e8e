package hub_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/hub"
	"github.com/ncsa/clowder-ray/internal/hub/hubtest"
	"github.com/ncsa/clowder-ray/internal/job"
)

// commit is that of the answers of a mirror.
var commit = strings.Repeat("c", 40)

// mirror answers for a model with what head says, and lists the files of its commit with list.
func mirror(t *testing.T, head string, list http.HandlerFunc) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/revision/") {
			_, _ = w.Write([]byte(head))
			return
		}
		list(w, r)
	}))
	t.Cleanup(server.Close)
	return server
}

// withoutSizes is the answer about a model whose sizes only the listing knows.
func withoutSizes() string { return `{"sha":"` + commit + `","siblings":[{"rfilename":"a"}]}` }

// page is a page of a listing with count files.
func page(t *testing.T, count int) []byte {
	t.Helper()
	entries := make([]map[string]any, count)
	for i := range entries {
		entries[i] = map[string]any{"type": "file", "path": fmt.Sprintf("f%d", i), "size": 1}
	}
	doc, err := json.Marshal(entries)
	require.NoError(t, err)
	return doc
}

func TestAListingThatIsNoneIsRefused(t *testing.T) {
	t.Parallel()
	stranger := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("another host was asked") }))
	t.Cleanup(stranger.Close)
	large, one := page(t, 5000), page(t, 1)
	for name, tc := range map[string]struct {
		link string
		body []byte
		want string
	}{
		"it has no end":                 {`<?cursor=1>; rel="next"`, large, "The model " + tiny + " has more than 20000 files."},
		"it goes on at another host":    {"<" + stranger.URL + `/x>; rel="next"`, one, "The list of files goes on at another host than "},
		"it is the page of a proxy":     {"", []byte("<html>"), "is not one of a Hub (it is not the JSON of a model). Check --endpoint and the proxy."},
		"a file has less than no bytes": {"", []byte(`[{"type":"file","path":"a","size":-1}]`), "is not one of a Hub (a size is negative)."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := mirror(t, withoutSizes(), func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Link", tc.link)
				_, _ = w.Write(tc.body)
			})
			info, err := client(t, hub.Config{Endpoint: server.URL, Token: secret}).Info(t.Context(), tiny, "")
			require.ErrorContains(t, err, tc.want)
			require.NotContains(t, err.Error(), secret)
			require.Empty(t, info.Files)
			kind, _ := job.Classify(err)
			require.Equal(t, job.KindPermanent, kind)
		})
	}
}

func TestAListingEndsAtAnEmptyPageAlsoIfAnotherOneIsNamed(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	server := mirror(t, withoutSizes(), func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Link", fmt.Sprintf(`<?cursor=%d>; rel="next"`, asked.Add(1)))
		if r.URL.Query().Get("cursor") == "2" {
			_, _ = w.Write([]byte("[]"))
			return
		}
		_, _ = w.Write(page(t, 2))
	})
	info, err := client(t, hub.Config{Endpoint: server.URL}).Info(t.Context(), tiny, "")
	require.NoError(t, err)
	require.Len(t, info.Files, 4)
	require.EqualValues(t, 3, asked.Load())
}

func TestAModelThatTheHubHasSwitchedOffIsNotLoaded(t *testing.T) {
	t.Parallel()
	server := mirror(t, `{"sha":"`+commit+`","disabled":true,"siblings":[{"rfilename":"a","size":1}]}`, nil)
	_, err := client(t, hub.Config{Endpoint: server.URL}).Info(t.Context(), tiny, "")
	require.EqualError(t, err, "The Hub has disabled "+tiny+". Choose another model.")
	kind, _ := job.Classify(err)
	require.Equal(t, job.KindPermanent, kind)
}

func TestAnAnswerWithoutEndIsReadToItsLimitOnly(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		chunk := bytes.Repeat([]byte(" "), 1<<20)
		for err := error(nil); err == nil; {
			_, err = w.Write(chunk)
		}
	}))
	t.Cleanup(server.Close)
	_, err := client(t, hub.Config{Endpoint: server.URL}).Info(t.Context(), tiny, "")
	require.EqualError(t, err, "The Hub says more than 16 MiB about "+tiny+". Check --endpoint.")
	kind, _ := job.Classify(err)
	require.Equal(t, job.KindPermanent, kind, "it is not asked again")
}

func TestEachMiBThatArrivesGivesADownloadNewAttempts(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		attempts int
		want     string
	}{
		"two attempts": {2, ""},
		"one attempt":  {1, "breaks off before the end of model.safetensors of " + tiny},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			double := hubtest.New(t, map[string]hubtest.Repo{tiny: tinyRepo()})
			double.Fail("model.safetensors", hubtest.Fault{Kind: hubtest.Cut, Times: 2}) // after 1.2 MiB each
			waits := 0
			c := client(t, hub.Config{Endpoint: double.URL, Attempts: tc.attempts, OnWait: func(_ time.Duration, reason error) {
				waits++
				if strings.Contains(reason.Error(), "signature") {
					t.Error("the address of the file is a secret", reason)
				}
			}})
			info, err := c.Info(t.Context(), tiny, "")
			require.NoError(t, err)
			got, err := download(t.Context(), c, info, find(t, info, "model.safetensors"), 0)
			if tc.want != "" {
				require.ErrorContains(t, err, tc.want)
				require.Zero(t, waits)
				return
			}
			require.NoError(t, err)
			require.Len(t, got, 3<<20)
			require.Equal(t, 2, waits)
		})
	}
}

func TestADownloadEndsWithItsContext(t *testing.T) {
	t.Parallel()
	double := hubtest.New(t, map[string]hubtest.Repo{tiny: tinyRepo()})
	reached := make(chan struct{})
	double.Fail("model.safetensors", hubtest.Fault{Kind: hubtest.Stalled, Reached: reached})
	waits := 0
	c := client(t, hub.Config{Endpoint: double.URL, IdleTimeout: time.Minute, OnWait: func(time.Duration, error) { waits++ }})
	info, err := c.Info(t.Context(), tiny, "")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-reached
		cancel()
	}()
	_, err = download(ctx, c, info, find(t, info, "model.safetensors"), 0)
	require.ErrorIs(t, err, context.Canceled)
	require.Zero(t, waits, "it is not tried again")
	_, err = c.Info(ctx, tiny, "")
	require.ErrorIs(t, err, context.Canceled)
	_, err = c.Open(t.Context(), "../x", commit, hub.File{Path: "a"}, 0)
	require.ErrorContains(t, err, "is not the name of a model on the Hub")
	_, err = c.Open(t.Context(), tiny, commit, hub.File{Path: "../a"}, 0)
	require.ErrorContains(t, err, "The Hub lists a file with the invalid name")
}
