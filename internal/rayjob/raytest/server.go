package raytest

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ncsa/clowder-ray/internal/job"
)

// Version is the version of Ray that the server reports.
const Version = "2.60.0"

// Config configures a server.
type Config struct {
	// Token is required from clients; empty means none.
	Token job.Secret
	// Run acts as the training program of a job, in its own goroutine, and returns the exit code. Its context ends when the job
	// is stopped. Nil means a program that succeeds immediately.
	Run func(ctx context.Context, d Driver) int
	// Start, if set, keeps every job PENDING until it is closed.
	Start <-chan struct{}
}

// Server is a Ray head with its jobs. Close must be called.
type Server struct {
	cfg     Config
	mux     *http.ServeMux
	drivers sync.WaitGroup
	counts  sync.Map // "METHOD /path" without ids → *atomic.Int64

	mu      sync.Mutex
	session int
	jobs    map[string]*Job
	order   []string
	faults  []fault
}

// NewServer returns a server without jobs.
func NewServer(cfg Config) *Server {
	s := &Server{cfg: cfg, mux: http.NewServeMux(), jobs: map[string]*Job{}, session: 1}
	s.mux.HandleFunc("GET /api/version", s.version)
	s.mux.HandleFunc("GET /api/v0/nodes", s.nodes)
	s.mux.HandleFunc("POST /api/jobs/{$}", s.submit)
	s.mux.HandleFunc("GET /api/jobs/{$}", s.list)
	s.mux.HandleFunc("GET /api/jobs/{id}", s.one(s.show))
	s.mux.HandleFunc("DELETE /api/jobs/{id}", s.one(s.remove))
	s.mux.HandleFunc("POST /api/jobs/{id}/stop", s.one(s.stop))
	s.mux.HandleFunc("GET /api/jobs/{id}/logs", s.one(s.logs))
	return s
}

// ServeHTTP implements http.Handler with the checks in Ray's order: browser, token, route.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.count(r)
	if strings.HasPrefix(r.UserAgent(), "Mozilla") && r.Method != http.MethodGet {
		plain(w, http.StatusMethodNotAllowed, "Method Not Allowed for browser traffic.")
		return
	}
	if f := s.fault(r); f != nil {
		f(w, r, s.mux)
		return
	}
	if s.authorized(w, r) {
		s.mux.ServeHTTP(w, r)
	}
}

func (s *Server) authorized(w http.ResponseWriter, r *http.Request) bool {
	if s.cfg.Token == "" {
		return true
	}
	given := r.Header.Get("Authorization")
	if given == "" {
		given = r.Header.Get("X-Ray-Authorization")
	}
	switch {
	case given == "":
		plain(w, http.StatusUnauthorized, "Unauthorized: Missing authentication token")
	case given != "Bearer "+s.cfg.Token.Reveal():
		plain(w, http.StatusForbidden, "Forbidden: Invalid authentication token")
	default:
		return true
	}
	return false
}

// Close stops every driver and waits for them.
func (s *Server) Close() {
	s.mu.Lock()
	for _, j := range s.jobs {
		j.cancel()
	}
	s.mu.Unlock()
	s.drivers.Wait()
}

// Restart acts as a new head: drivers end, jobs are forgotten, the session has a new name.
func (s *Server) Restart() {
	s.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.session++
	s.jobs, s.order = map[string]*Job{}, nil
}

// Session returns the name of the current session.
func (s *Server) Session() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fmt.Sprintf("session_2026-01-02_03-04-05_%06d_1", s.session)
}

// Requests returns the number of requests with this method and path; the id of a job is written {id} in path.
func (s *Server) Requests(method, path string) int {
	if n, ok := s.counts.Load(method + " " + path); ok {
		return int(n.(*atomic.Int64).Load())
	}
	return 0
}

func (s *Server) count(r *http.Request) {
	n, _ := s.counts.LoadOrStore(r.Method+" "+route(r.URL.Path), new(atomic.Int64))
	n.(*atomic.Int64).Add(1)
}

// route replaces the id of a job in a path by {id}.
func route(path string) string {
	rest, ok := strings.CutPrefix(path, "/api/jobs/")
	if !ok || rest == "" {
		return path
	}
	_, below, _ := strings.Cut(rest, "/")
	return strings.TrimSuffix("/api/jobs/{id}/"+below, "/")
}
