// Package faulty makes requests to an HTTP server of a test fail, and counts them. It knows nothing of what the server serves.
package faulty

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Fault makes requests fail.
type Fault struct {
	// Method and Path select the requests: the method, "" for any, and a part of the path.
	Method, Path string
	// Skip is the number of matching requests without the fault at first. Times is the number of requests with the fault; 0 is no limit.
	Skip, Times int
	// Delay waits before anything else.
	Delay time.Duration
	// Status is the status of the answer. The request has no effect, or, with After, its normal effect.
	Status int
	After  bool
	// Hang never answers. With After the request has its effect.
	Hang bool
	// Cut closes the connection after this number of bytes of the body; negative: before the first byte.
	Cut int64
	// Extra is the number of bytes that are added to the body.
	Extra int64
	// Body is sent with Status. If it is empty, FastAPI's error body is sent.
	Body string
}

// Faults holds the active faults and the log of requests of one server. The zero value has none. It is safe for concurrent use.
type Faults struct {
	mu       sync.Mutex
	set      []*Fault
	requests []string
	// running is the number of requests that are being handled, and busiest its maximum.
	running, busiest int
}

// Fail adds a fault. The first matching fault applies.
func (f *Faults) Fail(one Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.set = append(f.set, &one)
}

// ClearFaults removes all faults.
func (f *Faults) ClearFaults() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.set = nil
}

// Requests returns the number of requests with the method ("" is any) and with part in their path.
func (f *Faults) Requests(method, part string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, line := range f.requests {
		m, path, _ := strings.Cut(line, " ")
		if (method == "" || m == method) && strings.Contains(path, part) {
			n++
		}
	}
	return n
}

// Busiest returns the largest number of requests that were handled at the same time.
func (f *Faults) Busiest() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.busiest
}

func (f *Faults) count(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.running += n
	f.busiest = max(f.busiest, f.running)
}

// next logs the request and returns the fault that applies to it.
func (f *Faults) next(r *http.Request) (Fault, bool) {
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

// Around applies the faults to all requests of a server until done is closed.
func (f *Faults) Around(next http.Handler, done <-chan struct{}) http.Handler {
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
			_, _ = io.Copy(io.Discard, r.Body) // otherwise net/http does not notice that the client disconnects
			select {
			case <-r.Context().Done():
			case <-done:
			}
			panic(http.ErrAbortHandler)
		case fault.Status != 0:
			answerFault(w, r, fault)
		default:
			next.ServeHTTP(&cutWriter{ResponseWriter: w, cut: fault.Cut}, r)
			_, _ = w.Write(make([]byte, fault.Extra)) // the client may have disconnected
		}
	})
}

func answerFault(w http.ResponseWriter, r *http.Request, fault Fault) {
	_, _ = io.Copy(io.Discard, r.Body) // the fault concerns the answer and not the transfer
	if fault.Body != "" {
		w.WriteHeader(fault.Status)
		_, _ = io.WriteString(w, fault.Body)
		return
	}
	if fault.Status == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", "1")
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(fault.Status)
	_, _ = io.WriteString(w, `{"detail":"A fault that a test asked for"}`)
}

// nowhere discards an answer.
type nowhere struct{}

func (nowhere) Header() http.Header         { return http.Header{} }
func (nowhere) Write(p []byte) (int, error) { return len(p), nil }
func (nowhere) WriteHeader(int)             {}

// cutWriter closes the connection after a number of bytes.
type cutWriter struct {
	http.ResponseWriter
	cut int64
}

func (b *cutWriter) Write(p []byte) (int, error) {
	if b.cut == 0 || int64(len(p)) < b.cut {
		if b.cut > 0 {
			b.cut -= int64(len(p))
		}
		return b.ResponseWriter.Write(p)
	}
	_, _ = b.ResponseWriter.Write(p[:max(b.cut, 0)])
	_ = http.NewResponseController(b.ResponseWriter).Flush() // the bytes that were written must arrive
	panic(http.ErrAbortHandler)
}
