package hub_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/hub"
	"github.com/ncsa/clowder-ray/internal/hub/hubtest"
	"github.com/ncsa/clowder-ray/internal/job"
)

const (
	tiny   = "prajjwal1/bert-tiny"
	secret = "hf_thisisasecret"
)

// weights are large enough for the second server of the double.
func weights(size int) []byte {
	return bytes.Repeat([]byte("0123456789abcdef"), size/16)
}

func tinyRepo() hubtest.Repo {
	return hubtest.Repo{License: "mit", Revisions: []string{"refs/pr/11", "v1.0"}, Files: map[string][]byte{
		"config.json": []byte(`{"hidden_size": 128}`), "vocab.txt": []byte("[PAD]\n[UNK]\n"), "README.md": []byte("---\nlicense: mit\n---\n"),
		"model.safetensors": weights(3 << 20), "a folder/file 1.txt": []byte("x"),
	}}
}

func client(t *testing.T, cfg hub.Config) *hub.Client {
	t.Helper()
	cfg.Backoff = time.Millisecond
	c, err := hub.New(cfg)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

func find(t *testing.T, info hub.Info, path string) hub.File {
	t.Helper()
	for _, f := range info.Files {
		if f.Path == path {
			return f
		}
	}
	t.Fatalf("%s is not listed", path)
	return hub.File{}
}

func download(ctx context.Context, c *hub.Client, info hub.Info, f hub.File, offset int64) ([]byte, error) {
	r, err := c.Open(ctx, info.ID, info.Commit, f, offset)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	return io.ReadAll(io.LimitReader(r, f.Size-offset+1))
}

func TestOneRequestSaysAllAboutARevision(t *testing.T) {
	t.Parallel()
	repo := tinyRepo()
	double := hubtest.New(t, map[string]hubtest.Repo{tiny: repo})
	c := client(t, hub.Config{Endpoint: double.URL})
	for _, revision := range []string{"", "main", "refs/pr/11", "v1.0", double.Commit(tiny)} {
		info, err := c.Info(t.Context(), tiny, revision)
		require.NoError(t, err, revision)
		require.Equal(t, double.Commit(tiny), info.Commit)
		require.Equal(t, "mit", info.License)
		require.Len(t, info.Files, len(repo.Files))
		require.Equal(t, hub.File{Path: "vocab.txt", Size: 12, GitSHA1: hubtest.GitSHA1(repo.Files["vocab.txt"])}, find(t, info, "vocab.txt"))
		large := repo.Files["model.safetensors"]
		require.Equal(t, hub.File{Path: "model.safetensors", Size: int64(len(large)), SHA256: hubtest.SHA256(large)}, find(t, info, "model.safetensors"))
	}
	require.Len(t, double.Requests(), 5)
}

func TestEveryFileArrivesWholeOrFromAnOffset(t *testing.T) {
	t.Parallel()
	repo := tinyRepo()
	for name, prefix := range map[string]string{"at the root": "", "below a path": "/artifacts/hf mirror"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			double := hubtest.New(t, map[string]hubtest.Repo{tiny: repo}, hubtest.WithPrefix(escaped(prefix)))
			c := client(t, hub.Config{Endpoint: double.URL})
			info, err := c.Info(t.Context(), tiny, "")
			require.NoError(t, err)
			for _, f := range info.Files {
				for _, offset := range []int64{0, 1, f.Size / 2} {
					if offset >= f.Size {
						continue
					}
					got, err := download(t.Context(), c, info, f, offset)
					require.NoError(t, err, f.Path)
					require.True(t, bytes.Equal(repo.Files[f.Path][offset:], got), "%s from %d", f.Path, offset)
				}
			}
		})
	}
}

func escaped(path string) string {
	return string(bytes.ReplaceAll([]byte(path), []byte(" "), []byte("%20")))
}

func TestTheTokenIsSentToTheEndpointOnly(t *testing.T) {
	t.Parallel()
	repo := tinyRepo()
	repo.Gated = true
	double := hubtest.New(t, map[string]hubtest.Repo{tiny: repo}, hubtest.WithToken(secret))
	c := client(t, hub.Config{Endpoint: double.URL, Token: secret})
	info, err := c.Info(t.Context(), tiny, "")
	require.NoError(t, err)
	got, err := download(t.Context(), c, info, find(t, info, "model.safetensors"), 100)
	require.NoError(t, err)
	require.Len(t, got, 3<<20-100)
	require.False(t, double.Leaked())
	for _, r := range double.Requests() {
		require.Equal(t, r.Host == "api", r.Authorization == "Bearer "+secret, "%+v", r)
	}
}

func TestAWayBackFromAnotherHostGetsNoToken(t *testing.T) {
	t.Parallel()
	var back, seen string
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, back, http.StatusFound) }))
	t.Cleanup(other.Close)
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/private" {
			seen = "token: " + r.Header.Get("Authorization")
			return
		}
		http.Redirect(w, r, other.URL, http.StatusFound)
	}))
	t.Cleanup(endpoint.Close)
	back = endpoint.URL + "/private"
	c := client(t, hub.Config{Endpoint: endpoint.URL, Token: secret})
	r, err := c.Open(t.Context(), tiny, "main", hub.File{Path: "a"}, 0)
	require.NoError(t, err)
	require.NoError(t, r.Close())
	require.Equal(t, "token: ", seen)
}

// idleTimeout is the idle timeout of a download: short only where a connection is silent without end, since a busy machine is silent too.
func idleTimeout(fault hubtest.Kind, short time.Duration) time.Duration {
	if fault == hubtest.Stalled {
		return short
	}
	return time.Minute
}

func TestADownloadGoesOnWhereItBrokeOff(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		fault  hubtest.Fault
		ranges int // requests for a part of the file
	}{
		"each connection carries 40 %":                      {hubtest.Fault{Kind: hubtest.Cut, Times: 2}, 2},
		"the server knows no ranges and breaks off once":    {hubtest.Fault{Kind: hubtest.CutNoRange, Times: 1}, 1},
		"the last byte is missing":                          {hubtest.Fault{Kind: hubtest.ShortOfLength, Times: 1}, 1},
		"the file host refuses a link that is too old":      {hubtest.Fault{Kind: hubtest.Refused, Times: 1}, 0},
		"nothing arrives after the first half":              {hubtest.Fault{Kind: hubtest.Stalled, Times: 1}, 1},
		"the server knows no ranges and nothing breaks off": {hubtest.Fault{Kind: hubtest.NoRanges}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			repo := tinyRepo()
			double := hubtest.New(t, map[string]hubtest.Repo{tiny: repo})
			double.Fail("model.safetensors", tc.fault)
			c := client(t, hub.Config{Endpoint: double.URL, IdleTimeout: idleTimeout(tc.fault.Kind, 3*time.Second)})
			info, err := c.Info(t.Context(), tiny, "")
			require.NoError(t, err)
			got, err := download(t.Context(), c, info, find(t, info, "model.safetensors"), 0)
			require.NoError(t, err)
			require.True(t, bytes.Equal(repo.Files["model.safetensors"], got))
			ranges := 0
			for _, r := range double.Requests() {
				if r.Host == "files" && r.Range != "" {
					ranges++
				}
			}
			require.Equal(t, tc.ranges, ranges)
		})
	}
}

func TestAFileThatNeverArrivesIsGivenUp(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		fault hubtest.Kind
		want  string
		kind  job.Kind
	}{
		"each connection ends at the same byte": {hubtest.CutNoRange, "breaks off before the end of model.safetensors of " + tiny, job.KindRetryable},
		"the file is longer":                    {hubtest.Longer, "model.safetensors of " + tiny + " has 3145729 bytes where the Hub says 3145728", job.KindPermanent},
		"the file is empty":                     {hubtest.Empty, "has 0 bytes where the Hub says 3145728", job.KindPermanent},
		"the file host refuses":                 {hubtest.Refused, "The file host of the Hub refuses model.safetensors of " + tiny + " (HTTP 403)", job.KindRetryable},
		"another part is sent":                  {hubtest.AnotherPart, "sends another part", job.KindPermanent},
		"nothing arrives after the first half":  {hubtest.Stalled, "sent nothing for too long", job.KindRetryable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			double := hubtest.New(t, map[string]hubtest.Repo{tiny: tinyRepo()})
			double.Fail("model.safetensors", hubtest.Fault{Kind: tc.fault})
			c := client(t, hub.Config{Endpoint: double.URL, Attempts: 2, IdleTimeout: idleTimeout(tc.fault, 300*time.Millisecond)})
			info, err := c.Info(t.Context(), tiny, "")
			require.NoError(t, err)
			_, err = download(t.Context(), c, info, find(t, info, "model.safetensors"), 1)
			require.ErrorContains(t, err, tc.want)
			require.NotContains(t, err.Error(), "signature")
			kind, _ := job.Classify(err)
			require.Equal(t, tc.kind, kind)
		})
	}
}

func TestAnEndlessFileIsReadNoFurtherThanItsSize(t *testing.T) {
	t.Parallel()
	double := hubtest.New(t, map[string]hubtest.Repo{tiny: tinyRepo()})
	double.Fail("model.safetensors", hubtest.Fault{Kind: hubtest.Endless})
	c := client(t, hub.Config{Endpoint: double.URL})
	info, err := c.Info(t.Context(), tiny, "")
	require.NoError(t, err)
	got, err := download(t.Context(), c, info, find(t, info, "model.safetensors"), 0)
	require.NoError(t, err)
	require.Len(t, got, 3<<20+1)
}

func TestTheWaitOfTheHubIsKept(t *testing.T) {
	t.Parallel()
	double := hubtest.New(t, map[string]hubtest.Repo{tiny: tinyRepo()})
	double.Fail("/main", hubtest.Fault{Kind: hubtest.RateLimited, Seconds: 1, Times: 1})
	var waits []time.Duration
	c := client(t, hub.Config{Endpoint: double.URL, OnWait: func(d time.Duration, _ error) { waits = append(waits, d) }})
	_, err := c.Info(t.Context(), tiny, "")
	require.NoError(t, err)
	require.Equal(t, []time.Duration{time.Second}, waits)
}

func TestSizesThatAMirrorLeavesOutComeFromItsListing(t *testing.T) {
	t.Parallel()
	double := hubtest.New(t, map[string]hubtest.Repo{tiny: tinyRepo()}, hubtest.WithPrefix("/hf"))
	c := client(t, hub.Config{Endpoint: double.URL})
	want, err := c.Info(t.Context(), tiny, "")
	require.NoError(t, err)
	double.Fail("/main", hubtest.Fault{Kind: hubtest.WithoutSizes})
	got, err := c.Info(t.Context(), tiny, "")
	require.NoError(t, err)
	require.Equal(t, want, got)
}

func TestEveryRefusalIsASentence(t *testing.T) {
	t.Parallel()
	gated := tinyRepo()
	gated.Gated = true
	repos := map[string]hubtest.Repo{tiny: tinyRepo(), "meta/llama": gated}
	for want, tc := range map[string]struct {
		id, revision string
		cfg          hub.Config
		fault        hubtest.Fault
		kind         job.Kind
	}{
		"The Hub has no model prajjwal1/bert-tinny. Check the name; it is written owner/name.": {id: "prajjwal1/bert-tinny", kind: job.KindPermanent},
		"meta/llama is gated: its owner must let you in. Ask for access on its page, then give a token with --token-file.": {
			id: "meta/llama", kind: job.KindPermanent,
		},
		"The token was refused by the Hub. Make a new one with read access.": {id: tiny, cfg: hub.Config{Token: "wrong"}, kind: job.KindPermanent},
		"The model prajjwal1/bert-tiny has no revision v9. Check --revision: it is a branch, a tag, a commit or refs/pr/N.": {
			id: tiny, revision: "v9", kind: job.KindPermanent,
		},
		`"bert-tiny" is not the name of a model on the Hub. It is written owner/name.`: {id: "bert-tiny", kind: job.KindPermanent},
		`"../x/y" is not the name of a model on the Hub. It is written owner/name.`:    {id: "../x/y", kind: job.KindPermanent},
		`"a/..b" is not the name of a model on the Hub. It is written owner/name.`:     {id: "a/..b", kind: job.KindPermanent},
		"The Hub takes no more requests for 15 min. Try again later, or with a token, which has a higher limit.": {
			id: tiny, fault: hubtest.Fault{Kind: hubtest.RateLimited, Seconds: 900}, kind: job.KindLater,
		},
		"The Hub fails to answer (HTTP 502) when asked for prajjwal1/bert-tiny. Try again later.": {
			id: tiny, fault: hubtest.Fault{Kind: hubtest.Broken}, kind: job.KindRetryable,
		},
		"The answer of HOST is not one of a Hub (it is not the JSON of a model). Check --endpoint and the proxy.": {
			id: tiny, fault: hubtest.Fault{Kind: hubtest.LoginPage}, kind: job.KindPermanent,
		},
		"The Hub at HOST does not give prajjwal1/bert-tiny: there are too many redirects. Check --endpoint.": {
			id: tiny, fault: hubtest.Fault{Kind: hubtest.RedirectLoop}, kind: job.KindPermanent,
		},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			double := hubtest.New(t, repos)
			if tc.fault.Kind != "" {
				double.Fail("main", tc.fault)
			}
			tc.cfg.Endpoint, tc.cfg.Attempts = double.URL, 2
			_, err := client(t, tc.cfg).Info(t.Context(), tc.id, tc.revision)
			host := double.URL[len("http://"):]
			require.EqualError(t, err, string(bytes.ReplaceAll([]byte(want), []byte("HOST"), []byte(host))))
			kind, _ := job.Classify(err)
			require.Equal(t, tc.kind, kind)
		})
	}
}

func TestAHubThatIsNotThereIsNamed(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(nil)
	gone.Close()
	_, err := client(t, hub.Config{Endpoint: gone.URL, Attempts: 2}).Info(t.Context(), tiny, "")
	require.ErrorContains(t, err, fmt.Sprintf("The Hub at %s cannot be reached for %s: ", gone.URL[len("http://"):], tiny))
	require.ErrorContains(t, err, "Check the network, --endpoint and the proxy.")
}

func TestAnEndpointThatCannotBeIsRefused(t *testing.T) {
	t.Parallel()
	for endpoint, want := range map[string]string{
		"hub.example.org":                   "must look like https://host",
		"ftp://hub.example.org":             "must look like https://host",
		"https://hub.example.org/?a=b":      "must look like https://host",
		"https://me:pass@hub.example.org":   "must not hold a user or a password",
		"http://hub.example.org":            "without encryption",
		"https://me:pass@hub.example.org:x": "must look like https://host",
	} {
		_, err := hub.New(hub.Config{Endpoint: endpoint, Token: secret})
		require.ErrorContains(t, err, want, endpoint)
		require.NotContains(t, err.Error(), "pass@")
		require.NotContains(t, err.Error(), secret)
	}
}
