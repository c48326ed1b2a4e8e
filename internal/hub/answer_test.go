package hub

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
)

// at returns a client of an endpoint, which sends nothing.
func at(t *testing.T, cfg Config) *Client {
	t.Helper()
	c, err := New(cfg)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

func TestEachAnswerThatIsNoSuccessSaysWhatToDo(t *testing.T) {
	t.Parallel()
	model := target{id: "a/b", revision: "main"}
	file := target{id: "a/b", revision: "main", file: "model.bin"}
	for name, tc := range map[string]struct {
		of        target
		status    int
		headers   string // of the form name: value
		token     job.Secret
		elsewhere bool // the answer is that of the host of a file
		want      string
		kind      job.Kind
	}{
		"no model":                    {of: model, status: 404, want: "The Hub has no model a/b. Check the name; it is written owner/name.", kind: job.KindPermanent},
		"no model, without a token":   {of: model, status: 401, want: "The Hub has no model a/b. Check the name; it is written owner/name.", kind: job.KindPermanent},
		"no model, by its code":       {of: model, status: 401, headers: "X-Error-Code: RepoNotFound", token: "t", want: "The Hub has no model a/b. Check the name; it is written owner/name.", kind: job.KindPermanent},
		"a wrong token":               {of: model, status: 401, token: "t", want: "The token was refused by the Hub. Make a new one with read access.", kind: job.KindPermanent},
		"a token without the right":   {of: model, status: 403, token: "t", want: "The token may not read a/b. Give it read access to this model.", kind: job.KindPermanent},
		"no right, without a token":   {of: model, status: 403, want: "The Hub refuses to give a/b (HTTP 403). Check --endpoint and the token.", kind: job.KindPermanent},
		"a disabled model":            {of: model, status: 403, headers: "X-Error-Message: Access to this resource is disabled.", token: "t", want: "The Hub has disabled a/b. Choose another model.", kind: job.KindPermanent},
		"a gated file":                {of: file, status: 403, headers: "X-Error-Code: GatedRepo", token: "t", want: "a/b is gated: its owner must let you in. Ask for access on its page, then give a token with --token-file.", kind: job.KindPermanent},
		"a file that is only listed":  {of: file, status: 404, headers: "X-Error-Code: EntryNotFound", want: "The Hub does not have model.bin of a/b, which it lists. Try again, or try another mirror.", kind: job.KindPermanent},
		"an entry of no file":         {of: model, status: 404, headers: "X-Error-Code: EntryNotFound", want: "The Hub has no model a/b. Check the name; it is written owner/name.", kind: job.KindPermanent},
		"no revision":                 {of: model, status: 404, headers: "X-Error-Code: RevisionNotFound", want: "The model a/b has no revision main. Check --revision: it is a branch, a tag, a commit or refs/pr/N.", kind: job.KindPermanent},
		"an unknown refusal":          {of: file, status: 418, want: "The Hub refuses to give model.bin of a/b (HTTP 418). Check --endpoint and the token.", kind: job.KindPermanent},
		"a failure":                   {of: file, status: 500, want: "The Hub fails to answer (HTTP 500) when asked for model.bin of a/b. Try again later.", kind: job.KindRetryable},
		"a slow request":              {of: model, status: 408, want: "The Hub fails to answer (HTTP 408) when asked for a/b. Try again later.", kind: job.KindRetryable},
		"a limit":                     {of: model, status: 429, want: "The Hub takes no more requests for 30 s. Try again later, or with a token, which has a higher limit.", kind: job.KindLater},
		"a limit of the host":         {of: file, status: 429, elsewhere: true, headers: "Retry-After: 60", want: "The Hub takes no more requests for 60 s. Try again later, or with a token, which has a higher limit.", kind: job.KindLater},
		"a link that is too old":      {of: file, status: 403, elsewhere: true, token: "t", want: "The file host of the Hub refuses model.bin of a/b (HTTP 403). Try again later.", kind: job.KindRetryable},
		"a file that its host lost":   {of: file, status: 404, elsewhere: true, want: "The file host of the Hub refuses model.bin of a/b (HTTP 404). Try again later.", kind: job.KindRetryable},
		"a failure of the host":       {of: file, status: 503, elsewhere: true, want: "The Hub fails to answer (HTTP 503) when asked for model.bin of a/b. Try again later.", kind: job.KindRetryable},
		"a redirect without a target": {of: model, status: 304, want: "The Hub refuses to give a/b (HTTP 304). Check --endpoint and the token.", kind: job.KindPermanent},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			header := http.Header{}
			if key, value, ok := strings.Cut(tc.headers, ": "); ok {
				header.Set(key, value)
			}
			err := at(t, Config{Token: tc.token}).answerError(tc.of, tc.status, header, !tc.elsewhere)
			require.EqualError(t, err, tc.want)
			kind, _ := job.Classify(err)
			require.Equal(t, tc.kind, kind)
		})
	}
}

func TestTheWaitIsWhatTheHubAsksFor(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		after, limit string
		want         time.Duration
	}{
		"nothing":                 {"", "", 30 * time.Second},
		"seconds":                 {"7", "", 7 * time.Second},
		"no wait":                 {"0", "", 0},
		"both":                    {"7", `"api";r=0;t=55`, 7 * time.Second},
		"a limit":                 {"", `"api";r=0;t=55`, 55 * time.Second},
		"a limit in front":        {"", `t=3;r=0`, 3 * time.Second},
		"a limit after a blank":   {"", `"api";r=0; t=8`, 8 * time.Second},
		"a word that ends in t":   {"", `"api";reset=9`, 30 * time.Second},
		"a date":                  {"Wed, 21 Oct 2026 07:28:00 GMT", "", 30 * time.Second},
		"a date and a limit":      {"Wed, 21 Oct 2026 07:28:00 GMT", `"api";r=0;t=4`, 4 * time.Second},
		"less than nothing":       {"-5", "", 30 * time.Second},
		"more than a time holds":  {"9223372036854775807", "", 1_000_000 * time.Second},
		"more than a number does": {"99999999999999999999", "", 30 * time.Second},
		"a limit of many digits":  {"", `"api";r=0;t=12345678`, 30 * time.Second},
	} {
		require.Equal(t, tc.want, askedWait(http.Header{"Retry-After": {tc.after}, "Ratelimit": {tc.limit}}), name)
	}
}

func TestAConnectionThatFailsIsNamedWithoutTheAddressOfTheRequest(t *testing.T) {
	t.Parallel()
	c := at(t, Config{Endpoint: "https://hub.example.org/path"})
	in := func(err error) error {
		return &url.Error{Op: "Get", URL: "https://host.example.org/file?signature=secret", Err: err}
	}
	for name, tc := range map[string]struct {
		err  error
		want string
		kind job.Kind
	}{
		"no connection": {in(errors.New("connection refused")), "The Hub at hub.example.org cannot be reached for w of a/b: connection refused. Check the network, --endpoint and the proxy.", job.KindRetryable},
		"an early end":  {in(io.ErrUnexpectedEOF), "The connection to the Hub at hub.example.org breaks off before the end of w of a/b. Try again later.", job.KindRetryable},
		"no answer":     {in(io.EOF), "The connection to the Hub at hub.example.org breaks off before the end of w of a/b. Try again later.", job.KindRetryable},
		"a time limit":  {in(os.ErrDeadlineExceeded), "The Hub at hub.example.org sent nothing for too long when asked for w of a/b. Try again later.", job.KindRetryable},
		"silence":       {errIdle, "The Hub at hub.example.org sent nothing for too long when asked for w of a/b. Try again later.", job.KindRetryable},
		"a loop":        {in(errRedirects), "The Hub at hub.example.org does not give w of a/b: there are too many redirects. Check --endpoint.", job.KindPermanent},
		"no TLS":        {in(errDowngrade), "The Hub at hub.example.org does not give w of a/b: a redirect leads from https to an address without encryption. Check --endpoint.", job.KindPermanent},
		"a host that nobody knows": {
			in(&net.DNSError{Err: "no such host", Name: "hub.example.org", IsNotFound: true}),
			"The Hub at hub.example.org cannot be reached for w of a/b: lookup hub.example.org: no such host. Check the network, --endpoint and the proxy.", job.KindRetryable,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := c.transportError(target{id: "a/b", file: "w"}, tc.err)
			require.EqualError(t, err, tc.want)
			kind, _ := job.Classify(err)
			require.Equal(t, tc.kind, kind)
		})
	}
}

func TestAFileHasAnAddressBelowItsCommit(t *testing.T) {
	t.Parallel()
	c := at(t, Config{Endpoint: " https://hub.example.org/hf mirror/ "})
	require.Equal(t, "https://hub.example.org/hf%20mirror", c.Endpoint())
	const below = "https://hub.example.org/hf%20mirror/a/b/resolve/c0ffee/"
	for path, want := range map[string]string{
		"model.bin": "model.bin", "a folder/file 1.txt": "a%20folder/file%201.txt", "what?.txt": "what%3F.txt", "a#b": "a%23b", "50%.csv": "50%25.csv",
		"%2e%2e/x": "%252e%252e/x", "ä": "%C3%A4", "...": "...",
	} {
		address, err := c.fileURL("a/b", "c0ffee", path)
		require.NoError(t, err, path)
		require.Equal(t, below+want, address)
	}
	for _, path := range []string{"", ".", "..", "../x", "a/../x", "a/./x", "/x", "a//b", "a/", "a\xffb"} {
		_, err := c.fileURL("a/b", "c0ffee", path)
		require.ErrorContains(t, err, "The Hub lists a file with the invalid name", "%q", path)
		kind, _ := job.Classify(err)
		require.Equal(t, job.KindPermanent, kind)
	}
	require.Equal(t, "https://hub.example.org/hf%20mirror/api/models/a/b/revision/refs%2Fpr%2F1?blobs=true", c.infoURL("a/b", "refs/pr/1"))
	require.Equal(t, "https://hub.example.org/hf%20mirror/api/models/a/b/tree/c0ffee?recursive=true", c.treeURL("a/b", "c0ffee"))
}

func TestAModelHasAnOwnerAndAName(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 96)
	for id, valid := range map[string]bool{
		"a/b": true, "prajjwal1/bert-tiny": true, "_a/b.c_d-e": true, "a/1": true, long + "/" + long: true,
		"": false, "a": false, "a/": false, "/b": false, "a/b/c": false, ".a/b": false, "a/.b": false, "-a/b": false, "a b/c": false, "a/b\n": false,
		"a/b?x": false, "ä/b": false, long + "x/b": false, "a/..": false, `a\b`: false, "https://hub/a/b": false,
	} {
		err := checkID(id)
		if valid {
			require.NoError(t, err, id)
			continue
		}
		require.ErrorContains(t, err, "is not the name of a model on the Hub. It is written owner/name.", id)
		kind, _ := job.Classify(err)
		require.Equal(t, job.KindPermanent, kind)
	}
}

func TestTheTokenStaysAtTheEndpoint(t *testing.T) {
	t.Parallel()
	request := func(address, token string) *http.Request {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
		require.NoError(t, err)
		if token != "" {
			r.Header.Set("Authorization", token)
		}
		return r
	}
	c := at(t, Config{Endpoint: "https://hub.example.org/hf", Token: "secret"})
	for name, tc := range map[string]struct {
		to, before string // the address, and what the request before it carried
		keeps      bool
		want       error
	}{
		"another path":           {"https://hub.example.org/x", "secret", true, nil},
		"the port in words":      {"https://hub.example.org:443/x", "secret", true, nil},
		"capital letters":        {"https://HUB.example.org/x", "secret", true, nil},
		"a way back":             {"https://hub.example.org/x", "", false, nil},
		"another host":           {"https://files.example.org/x", "secret", false, nil},
		"a host below":           {"https://a.hub.example.org/x", "secret", false, nil},
		"a longer name":          {"https://hub.example.org.evil.org/x", "secret", false, nil},
		"another port":           {"https://hub.example.org:8443/x", "secret", false, nil},
		"no encryption any more": {"http://hub.example.org/x", "secret", true, errDowngrade},
	} {
		last := request("https://hub.example.org/hf/a", tc.before)
		next := request(tc.to, "secret")
		require.ErrorIs(t, c.checkRedirect(next, []*http.Request{last}), tc.want, name)
		require.Equal(t, tc.keeps, next.Header.Get("Authorization") != "", name)
	}
	last := request("https://hub.example.org/hf/a", "secret")
	var via []*http.Request
	for range maxRedirects {
		via = append(via, last)
	}
	require.NoError(t, c.checkRedirect(request("https://hub.example.org/x", ""), via))
	require.ErrorIs(t, c.checkRedirect(request("https://hub.example.org/x", ""), append(via, last)), errRedirects)
	for address, same := range map[string]bool{
		"?cursor=2": true, "/api/x?cursor=2": true, "https://hub.example.org/y": true, "https://evil.example.org/y": false, "//evil.example.org/y": false,
		"http://hub.example.org/y": false, "https://hub.example.org:8443/y": false, "https://hub.example.org@evil.org/y": false, ":": false, "%zz": false,
	} {
		got, err := c.samePlace("https://hub.example.org/hf/api/models/a/b/tree/c?recursive=true", address)
		require.Equal(t, same, err == nil, address)
		if !same {
			require.EqualError(t, err, "The list of files goes on at another host than hub.example.org. Check --endpoint.")
			require.Empty(t, got)
		}
	}
}

func TestTheNextPageIsNamedByTheLink(t *testing.T) {
	t.Parallel()
	const next = "https://hub.example.org/x?cursor=a"
	for header, want := range map[string]string{
		fmt.Sprintf(`<%s>; rel="next"`, next): next, fmt.Sprintf(`<%s>;rel=next`, next): next, fmt.Sprintf(`<https://a/first>; rel="first", <%s>; rel="next"`, next): next,
		"": "", fmt.Sprintf(`<%s>; rel="prev"`, next): "", next: "", "<>; rel=next": "", `rel="next"`: "",
	} {
		require.Equal(t, want, nextPage(header), header)
	}
}
