package hubtest

import (
	"crypto/sha1" //nolint:gosec // the name that git gives to a file
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// LargeFrom is the size in bytes from which on a file is a large one, which the second server sends.
const LargeFrom = 10_000

// Repo is a model. Its files are served at one commit.
type Repo struct {
	Commit, License string
	// Revisions are the names that lead to the commit; main is always one of them.
	Revisions []string
	// Gated lets in only those with the token of the hub.
	Gated bool
	Files map[string][]byte
}

// Hub is a running double.
type Hub struct {
	// URL is the endpoint, with the path prefix.
	URL string
	// FileURL is the address of the second server.
	FileURL string

	prefix, token string
	api, files    *httptest.Server

	mu     sync.Mutex
	repos  map[string]Repo
	faults map[string]Fault
	leaked bool
	seen   []Request
}

// Request is one request that arrived.
type Request struct {
	Host           string // api or files
	Path, Range    string
	Authorization  string
	AcceptEncoding string
}

// Option changes a Hub.
type Option func(*Hub)

// WithPrefix serves the endpoint below a path, as artifact servers do.
func WithPrefix(prefix string) Option { return func(h *Hub) { h.prefix = prefix } }

// WithToken sets the only token that the hub accepts. Without one, any token is refused.
func WithToken(token string) Option { return func(h *Hub) { h.token = token } }

// New starts a hub that stops when the test ends.
func New(tb testing.TB, repos map[string]Repo, options ...Option) *Hub {
	tb.Helper()
	h := Start(repos, options...)
	tb.Cleanup(h.Close)
	return h
}

// Start starts a hub. The caller closes it.
func Start(repos map[string]Repo, options ...Option) *Hub {
	h := &Hub{repos: map[string]Repo{}, faults: map[string]Fault{}}
	for _, option := range options {
		option(h)
	}
	for id, repo := range repos {
		h.Put(id, repo)
	}
	h.files = httptest.NewUnstartedServer(http.HandlerFunc(h.serveLarge))
	h.api = httptest.NewUnstartedServer(http.HandlerFunc(h.serveAPI))
	// The addresses are set before the first request: a client of a hub that ended may ask at once, where the port is the same.
	h.URL, h.FileURL = address(h.api)+h.prefix, address(h.files)
	h.files.Start()
	h.api.Start()
	return h
}

func address(s *httptest.Server) string { return "http://" + s.Listener.Addr().String() }

// Close stops both servers.
func (h *Hub) Close() {
	h.api.Close()
	h.files.Close()
}

// Put adds or replaces a model. Without a commit it gets one that its files decide.
func (h *Hub) Put(id string, repo Repo) {
	if repo.Commit == "" {
		repo.Commit = commitOf(repo.Files)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.repos[id] = repo
}

// Commit is the commit of a model.
func (h *Hub) Commit(id string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.repos[id].Commit
}

// Requests are all requests so far.
func (h *Hub) Requests() []Request {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.seen)
}

// Leaked reports whether a token arrived at the second server.
func (h *Hub) Leaked() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.leaked
}

func (h *Hub) note(host string, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seen = append(h.seen, Request{
		Host: host, Path: r.URL.Path, Range: r.Header.Get("Range"), Authorization: r.Header.Get("Authorization"),
		AcceptEncoding: r.Header.Get("Accept-Encoding"),
	})
	h.leaked = h.leaked || host == "files" && r.Header.Get("Authorization") != ""
}

// commitOf makes a commit from the content of files.
func commitOf(files map[string][]byte) string {
	sum := sha1.New() //nolint:gosec // a name
	for _, name := range sortedNames(files) {
		_, _ = fmt.Fprintf(sum, "%s %s\n", name, GitSHA1(files[name]))
	}
	return hex.EncodeToString(sum.Sum(nil))
}

func sortedNames(files map[string][]byte) []string {
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// GitSHA1 is the name that git gives to a content.
func GitSHA1(content []byte) string {
	sum := sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(content), content)) //nolint:gosec // a name
	return hex.EncodeToString(sum[:])
}

// SHA256 is the sha256 of a content in hex.
func SHA256(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// split divides a path at the endpoint into the name of a model and the rest.
func split(path string) (id, rest string) {
	parts := strings.SplitN(strings.TrimPrefix(path, "/"), "/", 3)
	if len(parts) < 3 {
		return "", ""
	}
	return parts[0] + "/" + parts[1], parts[2]
}
