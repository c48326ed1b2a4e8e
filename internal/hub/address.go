package hub

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/ncsa/clowder-ray/internal/job"
)

// maxRedirects is more than the Hub needs: one from an old name to a new one, one to the host of the file.
const maxRedirects = 5

var (
	errRedirects = errors.New("there are too many redirects")
	errDowngrade = errors.New("a redirect leads from https to an address without encryption")
)

// idPattern is how the Hub names models. No name begins with a dot.
var idPattern = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,95}/[A-Za-z0-9_][A-Za-z0-9_.-]{0,95}$`)

// parseEndpoint checks an address of an endpoint. It never repeats the address in an error if that may hold a password.
func parseEndpoint(address string, withToken bool) (*url.URL, error) {
	u, err := url.Parse(strings.TrimRight(strings.TrimSpace(address), "/"))
	switch {
	case err != nil, u.Host == "", u.Scheme != "http" && u.Scheme != "https", u.RawQuery != "", u.Fragment != "":
		return nil, errors.New("the endpoint must look like https://host or https://host/path: check --endpoint or HF_ENDPOINT")
	case u.User != nil:
		return nil, errors.New("the endpoint must not hold a user or a password: use --token-file or HF_TOKEN")
	case withToken && u.Scheme == "http" && !isLoopback(u.Hostname()):
		return nil, errors.New("the token would be sent without encryption: use an https endpoint, or no token")
	}
	return u, nil
}

func isLoopback(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}

// checkID refuses a name that the Hub cannot have.
func checkID(id string) error {
	if !idPattern.MatchString(id) {
		return job.Permanent(sentence("%q is not the name of a model on the Hub. It is written owner/name.", clip(id)))
	}
	return nil
}

// infoURL is the address of what the Hub says about a revision.
func (c *Client) infoURL(id, revision string) string {
	return c.base.JoinPath("api", "models", id, "revision", url.PathEscape(revision)).String() + "?blobs=true"
}

// treeURL is the address of the first page of all files of a commit.
func (c *Client) treeURL(id, commit string) string {
	return c.base.JoinPath("api", "models", id, "tree", commit).String() + "?recursive=true"
}

// fileURL is the address of one file of a commit.
func (c *Client) fileURL(id, commit, path string) (string, error) {
	if !fs.ValidPath(path) || path == "." {
		return "", job.Permanent(sentence("The Hub lists a file with the invalid name %q.", clip(path)))
	}
	elements := append([]string{id, "resolve", commit}, strings.Split(path, "/")...)
	for i := 3; i < len(elements); i++ {
		elements[i] = url.PathEscape(elements[i])
	}
	return c.base.JoinPath(elements...).String(), nil
}

// checkRedirect follows redirects to other hosts without the token.
func (c *Client) checkRedirect(req *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return errRedirects
	}
	last := via[len(via)-1]
	if last.URL.Scheme == "https" && req.URL.Scheme != "https" {
		return errDowngrade
	}
	// net/http keeps the header for subdomains and for a way back, so it is removed here.
	if req.Header.Get("Authorization") != "" && (!c.isEndpoint(req.URL) || last.Header.Get("Authorization") == "") {
		req.Header.Del("Authorization")
	}
	return nil
}

// isEndpoint reports whether an address has the scheme, host and port of the endpoint.
func (c *Client) isEndpoint(u *url.URL) bool {
	return u.Scheme == c.base.Scheme && strings.EqualFold(u.Hostname(), c.base.Hostname()) && port(u) == port(c.base)
}

func port(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	default:
		return "80"
	}
}

// newTransport makes a connection pool. Proxies come from the environment, because many clusters reach the Hub through one.
// It requests no compression, so that bytes can be counted.
func newTransport(roots *x509.CertPool) *http.Transport {
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}
	return &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		Proxy:           http.ProxyFromEnvironment, DialContext: dialer.DialContext, TLSHandshakeTimeout: 10 * time.Second, ForceAttemptHTTP2: true,
		MaxIdleConns: 16, MaxIdleConnsPerHost: 8, IdleConnTimeout: 30 * time.Second, DisableCompression: true,
		ReadBufferSize: 64 << 10, MaxResponseHeaderBytes: 64 << 10,
	}
}
