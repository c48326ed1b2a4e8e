package clowdertest

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Fault makes requests go wrong.
type Fault struct {
	// Method and Path say which requests: the method, "" for any, and a part of the path.
	Method, Path string
	// Skip lets so many matching requests pass first. Times ends the fault after so many; 0 goes on until ClearFaults.
	Skip, Times int
	// Delay waits before anything else.
	Delay time.Duration
	// Status answers with this status and does nothing, or, with After, does everything and answers with it all the same.
	Status int
	After  bool
	// Hang never answers; with After the effect happens.
	Hang bool
	// Cut closes the connection after so many bytes of the answer's body; negative cuts before the first one.
	Cut int64
	// Extra adds so many bytes to the body.
	Extra int64
	// Body is sent with Status; empty sends FastAPI's form of an error.
	Body string
}

// faults is the list of faults that are set, and the log of requests.
type faults struct {
	mu       sync.Mutex
	set      []*Fault
	requests []string
	// running counts requests in work, busiest the most of them at once.
	running, busiest int
}

// Fail sets a fault beside those that are set; the first that matches applies.
func (s *Server) Fail(f Fault) {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	s.faults.set = append(s.faults.set, &f)
}

// ClearFaults removes all faults.
func (s *Server) ClearFaults() {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	s.faults.set = nil
}

// Requests returns how many requests came with the method ("" is any) and with part in their path.
func (s *Server) Requests(method, part string) int {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	n := 0
	for _, line := range s.faults.requests {
		m, path, _ := strings.Cut(line, " ")
		if (method == "" || m == method) && strings.Contains(path, part) {
			n++
		}
	}
	return n
}

// Busiest returns how many requests were in work at once at most.
func (s *Server) Busiest() int {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	return s.faults.busiest
}

func (f *faults) count(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.running += n
	f.busiest = max(f.busiest, f.running)
}

// next logs the request and returns the fault that applies to it.
func (f *faults) next(r *http.Request) (Fault, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests = append(f.requests, r.Method+" "+r.URL.Path)
	for i, fault := range f.set {
		if fault.Method != "" && fault.Method != r.Method || !strings.Contains(r.URL.Path, fault.Path) {
			continue
		}
		if fault.Skip > 0 {
			fault.Skip--
			continue
		}
		if fault.Times > 0 {
			if fault.Times--; fault.Times == 0 {
				f.set = slices.Delete(f.set, i, i+1)
			}
		}
		return *fault, true
	}
	return Fault{}, false
}

// around applies faults to every request.
func (f *faults) around(next http.Handler, done <-chan struct{}) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.count(1)
		defer f.count(-1)
		fault, applies := f.next(r)
		if !applies {
			next.ServeHTTP(w, r)
			return
		}
		if fault.Delay > 0 {
			select {
			case <-time.After(fault.Delay):
			case <-done:
			}
		}
		if fault.After {
			next.ServeHTTP(nowhere{}, r)
		}
		switch {
		case fault.Hang:
			_, _ = io.Copy(io.Discard, r.Body) // else net/http does not notice that the client leaves
			select {
			case <-r.Context().Done():
			case <-done:
			}
			panic(http.ErrAbortHandler)
		case fault.Status != 0:
			answerFault(w, r, fault)
		default:
			next.ServeHTTP(&bentWriter{ResponseWriter: w, cut: fault.Cut}, r)
			_, _ = w.Write(make([]byte, fault.Extra)) // the client may be gone
		}
	})
}

func answerFault(w http.ResponseWriter, r *http.Request, fault Fault) {
	_, _ = io.Copy(io.Discard, r.Body) // a fault of the answer, not of the transfer
	if fault.Body != "" {
		w.WriteHeader(fault.Status)
		_, _ = io.WriteString(w, fault.Body)
		return
	}
	if fault.Status == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", "1")
	}
	refuse(fault.Status, "A fault that a test asked for").write(w)
}

// nowhere swallows an answer.
type nowhere struct{}

func (nowhere) Header() http.Header         { return http.Header{} }
func (nowhere) Write(p []byte) (int, error) { return len(p), nil }
func (nowhere) WriteHeader(int)             {}

// bentWriter breaks the connection after a number of bytes.
type bentWriter struct {
	http.ResponseWriter
	cut int64
}

func (b *bentWriter) Write(p []byte) (int, error) {
	if b.cut == 0 || int64(len(p)) < b.cut {
		if b.cut > 0 {
			b.cut -= int64(len(p))
		}
		return b.ResponseWriter.Write(p)
	}
	_, _ = b.ResponseWriter.Write(p[:max(b.cut, 0)])
	_ = http.NewResponseController(b.ResponseWriter).Flush() // what was written so far must arrive
	panic(http.ErrAbortHandler)
}
