package hubtest

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"
)

// Kind is a kind of fault.
type Kind string

// The faults of the endpoint: too many requests, a gateway without a Hub behind it, a login page of a proxy, a redirect to itself,
// a listing without sizes.
const (
	RateLimited  Kind = "rate limited"
	Broken       Kind = "broken"
	LoginPage    Kind = "login page"
	RedirectLoop Kind = "redirect loop"
	WithoutSizes Kind = "without sizes"
)

// The faults of a file: one byte is another one, the connection breaks off after 40 % of the file, the same at a server that knows no
// ranges, no byte arrives, the file is longer or empty, bytes never end, nothing arrives after the head, the file host refuses.
const (
	Flipped       Kind = "flipped byte"
	Cut           Kind = "cut at 40 %"
	CutNoRange    Kind = "cut at 40 %, no ranges"
	Longer        Kind = "one byte longer"
	Empty         Kind = "empty"
	Endless       Kind = "endless"
	Stalled       Kind = "stalled"
	Refused       Kind = "refused"
	AnotherPart   Kind = "another part"
	NoRanges      Kind = "no ranges"
	ShortOfLength Kind = "shorter than the length it names"
)

// Fault is a fault of one file, or of the endpoint.
type Fault struct {
	Kind Kind
	// Times is how often it happens; 0 means always.
	Times int
	// Seconds is the wait that a rate limit asks for.
	Seconds int
	// Until ends a stall.
	Until <-chan struct{}
	// Reached is closed by the first stall, if it is not nil.
	Reached chan struct{}

	of string
}

// Fail makes all requests whose path ends with suffix fail.
func (h *Hub) Fail(suffix string, f Fault) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f.of = f.Kind.of()
	if f.Times == 0 {
		f.Times = -1
	}
	h.faults[f.of+" "+suffix] = f
}

// Clear removes all faults.
func (h *Hub) Clear() {
	h.mu.Lock()
	defer h.mu.Unlock()
	clear(h.faults)
}

// of says which part of the double has the fault.
func (k Kind) of() string {
	switch k {
	case RateLimited, Broken, LoginPage, RedirectLoop:
		return "api"
	case WithoutSizes:
		return "sizes"
	default:
		return "file"
	}
}

// takeFault returns the fault of a path, once less.
func (h *Hub) takeFault(path, of string) Fault {
	h.mu.Lock()
	defer h.mu.Unlock()
	for key, f := range h.faults {
		if f.of != of || f.Times == 0 || !strings.HasSuffix(path, strings.TrimPrefix(key, of+" ")) {
			continue
		}
		f.Times--
		h.faults[key] = f
		if f.Reached != nil {
			taken := f
			f.Reached = nil
			h.faults[key] = f
			return taken
		}
		return f
	}
	return Fault{}
}

// spoil answers with a fault.
func (f Fault) spoil(w http.ResponseWriter, r *http.Request, content []byte) {
	switch f.Kind {
	case Flipped:
		other := bytes.Clone(content)
		if len(other) > 0 {
			other[len(other)/2] ^= 1
		}
		serve(w, r, other)
	case NoRanges:
		r.Header.Del("Range")
		serve(w, r, content)
	case Cut:
		serve(&cutting{ResponseWriter: w, left: len(content) * 2 / 5}, r, content)
	case CutNoRange:
		r.Header.Del("Range")
		serve(&cutting{ResponseWriter: w, left: len(content) * 2 / 5}, r, content)
	case ShortOfLength:
		serve(&cutting{ResponseWriter: w, left: len(content) - 1}, r, content)
	case Longer:
		serve(w, r, append(bytes.Clone(content), 'x'))
	case Empty:
		serve(w, r, nil)
	case Refused:
		http.Error(w, "AccessDenied", http.StatusForbidden)
	case AnotherPart:
		w.Header().Set("Content-Range", "bytes 7-8/9")
		w.WriteHeader(http.StatusPartialContent)
	case Endless:
		for err := error(nil); err == nil; {
			_, err = w.Write(make([]byte, 64<<10))
		}
	case Stalled:
		w.Header().Set("Content-Length", strconv.Itoa(len(content)))
		_, _ = w.Write(content[:len(content)/2])
		_ = http.NewResponseController(w).Flush()
		if f.Reached != nil {
			close(f.Reached)
		}
		select {
		case <-f.Until:
		case <-r.Context().Done():
		}
	default: // the others are faults of the endpoint
	}
}

// cutting ends the connection after so many bytes.
type cutting struct {
	http.ResponseWriter
	left int
}

// Write implements io.Writer.
func (c *cutting) Write(p []byte) (int, error) {
	if len(p) <= c.left {
		c.left -= len(p)
		return c.ResponseWriter.Write(p)
	}
	_, _ = c.ResponseWriter.Write(p[:c.left])
	_ = http.NewResponseController(c.ResponseWriter).Flush()
	panic(http.ErrAbortHandler)
}
