package raytest

import (
	"io"
	"net/http"
	"net/http/httptest"
)

// Fault answers a request instead of the server; next is the server's own handler.
type Fault func(w http.ResponseWriter, r *http.Request, next http.Handler)

type fault struct {
	method, path string
	left         int
	do           Fault
}

// Fault applies a fault to the next n requests with this method and path; path has no ids, as for Requests.
func (s *Server) Fault(n int, method, path string, do Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, fault{method: method, path: path, left: n, do: do})
}

func (s *Server) fault(r *http.Request) Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.faults {
		if f := &s.faults[i]; f.left > 0 && f.method == r.Method && f.path == route(r.URL.Path) {
			f.left--
			return f.do
		}
	}
	return nil
}

// Answer is a fault that answers with a text.
func Answer(status int, text string) Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) { plain(w, status, text) }
}

// Hang is a fault that does not answer until the client gives up.
func Hang() Fault {
	return func(_ http.ResponseWriter, r *http.Request, _ http.Handler) {
		_, _ = io.Copy(io.Discard, r.Body) // net/http notices a closed connection only once the request is read
		<-r.Context().Done()
	}
}

// Drop is a fault that closes the connection before anything happens.
func Drop() Fault {
	return func(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) }
}

// DropAnswer is a fault that handles the request and closes the connection instead of answering.
func DropAnswer() Fault {
	return func(_ http.ResponseWriter, r *http.Request, next http.Handler) {
		next.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	}
}
