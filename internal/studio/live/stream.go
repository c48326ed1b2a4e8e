package live

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"
)

// beat is a comment in an event stream. retry is the first one: how many milliseconds a browser waits until it comes back.
const (
	beat  = ": still here\n\n"
	retry = "retry: 2000\n\n"
)

// stream sends what happens in a run until it is over, the visitor may no longer see it, or the visitor goes away.
func (s *Section) stream(w http.ResponseWriter, req *http.Request, run string) error {
	viewer, err := s.hub.Watch(run, userOf(req.Context()), after(req))
	if err != nil {
		return problem(err)
	}
	defer viewer.Close()
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	out := sender{w: w, control: http.NewResponseController(w)}
	if out.send([]byte(retry)) != nil {
		return nil
	}
	ticker := time.NewTicker(heartbeat)
	defer ticker.Stop()
	s.serve(req.Context(), run, viewer, ticker.C, out)
	return nil
}

func (s *Section) serve(ctx context.Context, run string, viewer *Viewer, tick <-chan time.Time, out sender) {
	for beats := 1; ; {
		frames, err := viewer.Next(ctx, tick)
		switch {
		case errors.Is(err, io.EOF):
			_ = out.send(frame(kindEnd, -1, End{}).frame)
			return
		case err != nil:
			return // the visitor has gone, or the service stops
		case len(frames) > 0:
			if out.send(frames...) != nil {
				return
			}
			continue
		}
		if out.send([]byte(beat)) != nil {
			return
		}
		if beats++; beats%recheck != 0 {
			continue
		}
		_, err = s.access.See(ctx, run)
		if text, ends := noLonger(err); ends {
			if text != "" {
				_ = out.send(frame(kindEnd, -1, End{text}).frame)
			}
			return
		}
	}
}

// sender writes to one viewer. A write that takes too long ends the stream.
type sender struct {
	w       io.Writer
	control *http.ResponseController
}

func (s sender) send(frames ...[]byte) error {
	if err := s.control.SetWriteDeadline(time.Now().Add(writeTime)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	for _, f := range frames {
		if _, err := s.w.Write(f); err != nil {
			return err
		}
	}
	return s.control.Flush()
}

// after is the offset up to which the visitor knows all events, or -1.
func after(req *http.Request) int64 {
	text := req.Header.Get("Last-Event-ID")
	if text == "" {
		text = req.URL.Query().Get("after")
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return -1
	}
	return n
}
