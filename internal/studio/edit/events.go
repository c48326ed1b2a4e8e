package edit

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/studio/web"
)

// writeTime is how long one message of a stream may take to be sent.
const writeTime = 10 * time.Second

// stream tells a window that has a file open who else has it open, and when somebody saves a version. It ends when the visitor may no longer
// see the dataset, and when the service stops.
func (s *Section) stream(w http.ResponseWriter, req *http.Request) {
	ctx, v := req.Context(), web.VisitorOf(req.Context())
	dataset, file := req.PathValue("dataset"), req.PathValue("file")
	state, _, err := s.state(ctx, dataset, file, clowder.RoleViewer)
	if err != nil {
		s.site.Fail(w, req, err)
		return
	}
	win := s.presence.enter(file, v, time.Now())
	if win == nil {
		w.Header().Set("Retry-After", "30")
		s.site.Fail(w, req, &web.Problem{
			Type: "streams", Title: "Too many open windows", Status: http.StatusServiceUnavailable,
			Detail: "The studio shows no more than so many files at a time.", Do: "Close other windows of the studio. Saving works without.",
		})
		return
	}
	defer s.presence.leave(win)
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no") // or NGINX keeps it back
	out := messages{w: w, control: http.NewResponseController(w)}
	s.follow(ctx, win, &out, dataset, state)
}

// follow sends messages until something ends.
func (s *Section) follow(ctx context.Context, win *window, out *messages, dataset string, state clowder.FileState) {
	look, beat := time.NewTicker(s.look), time.NewTicker(s.beat)
	defer look.Stop()
	defer beat.Stop()
	known := savedOf(state)
	for out.err == nil {
		select {
		case <-ctx.Done():
			return
		case <-s.presence.done:
			return
		case <-win.changed:
			people, newest := s.presence.around(win)
			out.send("people", map[string]any{"people": people})
			if newest.Number > 0 && newest.Tag != known.Tag && !newest.At.Before(known.At) {
				known = newest
				out.send("saved", known)
			}
		case <-look.C:
			now, _, err := s.state(ctx, dataset, win.file, clowder.RoleViewer)
			switch p := web.AsProblem(err); {
			case err == nil && tag(now) != known.Tag:
				known = savedOf(now)
				out.send("saved", known)
			case err != nil && (p.Status == http.StatusNotFound || p.Status == http.StatusUnauthorized):
				out.send("end", map[string]string{"reason": p.Error()})
				return
			}
		case <-beat.C:
			out.raw(": \n\n")
		}
	}
}

// messages writes a stream of server-sent events and remembers the first error.
type messages struct {
	w       http.ResponseWriter
	control *http.ResponseController
	err     error
}

func (m *messages) send(event string, data any) {
	body, err := json.Marshal(data)
	if err != nil {
		m.err = err
		return
	}
	m.raw(fmt.Sprintf("event: %s\ndata: %s\n\n", event, body))
}

func (m *messages) raw(text string) {
	if m.err != nil {
		return
	}
	_ = m.control.SetWriteDeadline(time.Now().Add(writeTime)) // a recorder of a test has none
	if _, m.err = m.w.Write([]byte(text)); m.err == nil {
		m.err = m.control.Flush()
	}
}
