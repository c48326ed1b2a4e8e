package live

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
)

// Runs is what the section asks of the service about runs.
type Runs interface {
	// Get returns the record of a run, or job.ErrNotFound.
	Get(ctx context.Context, run string) (job.Record, error)
	// Folder is the folder of a run.
	Folder(run string) disk.Folder
	// LastStatus is the newest sentence that the user of an active run was told in Clowder, empty for none.
	LastStatus(run string) string
}

const (
	// look is how often a run is looked at.
	look = time.Second
	// linger is how long a run is looked at after its last viewer has gone: pages are loaded again, and connections break.
	linger = 15 * time.Second
	// maxViewers and maxViewersOfUser bound the streams that are open at once.
	maxViewers       = 2000
	maxViewersOfUser = 8
	// nobody is the user of viewers that stay for a moment only.
	nobody = ""
)

// The errors of Watch.
var (
	errBusy    = errors.New("too many people look at runs now")
	errTooMany = errors.New("this user has too many streams open")
)

// errStopping ends a viewer when the service stops: it comes back by itself.
var errStopping = errors.New("the service stops")

// Hub follows the runs that people look at. It is safe for concurrent use.
type Hub struct {
	runs Runs
	log  *zap.Logger

	mu      sync.Mutex
	watched map[string]*watched
	viewers int
	ofUser  map[string]int
	closed  bool
	stopped chan struct{}
	done    sync.WaitGroup
}

// watched is a watch with its viewers.
type watched struct {
	*watch
	viewers int
	stop    context.CancelFunc
	linger  *time.Timer // ends the watch, nil while it has viewers
}

// NewHub returns a hub that looks at no run yet. Close ends it.
func NewHub(runs Runs, log *zap.Logger) *Hub {
	return &Hub{runs: runs, log: log, watched: map[string]*watched{}, ofUser: map[string]int{}, stopped: make(chan struct{})}
}

// Viewer is one stream about one run. It is not safe for concurrent use; its user closes it.
type Viewer struct {
	hub     *Hub
	watched *watched
	user    string

	after      int64 // where to go on, -1 for nowhere
	next       uint64
	generation int
	ended      bool
}

// Watch begins to look at a run for a user. after is the offset up to which the viewer knows all events, or -1.
func (h *Hub) Watch(run, user string, after int64) (*Viewer, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.closed:
		return nil, errStopping
	case h.viewers >= maxViewers:
		return nil, errBusy
	case user != nobody && h.ofUser[user] >= maxViewersOfUser:
		return nil, errTooMany
	}
	w := h.watched[run]
	if w == nil {
		ctx, stop := context.WithCancel(context.Background()) // it outlives the request of its first viewer
		w = &watched{watch: newWatch(run, h.runs), stop: stop}
		h.watched[run] = w
		h.done.Go(func() {
			w.follow(ctx, look, func(err error) { h.log.Warn("cannot look at a run", zap.String("run", run), zap.Error(err)) })
		})
	}
	if w.linger != nil {
		w.linger.Stop()
		w.linger = nil
	}
	w.viewers++
	h.viewers++
	h.ofUser[user]++
	return &Viewer{hub: h, watched: w, user: user, after: after, generation: -1}, nil
}

// Close ends the viewer. The run is looked at a little longer.
func (v *Viewer) Close() {
	h, w := v.hub, v.watched
	h.mu.Lock()
	defer h.mu.Unlock()
	h.viewers--
	if h.ofUser[v.user]--; h.ofUser[v.user] == 0 {
		delete(h.ofUser, v.user)
	}
	if w.viewers--; w.viewers > 0 || h.closed {
		return
	}
	w.linger = time.AfterFunc(linger, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if w.viewers == 0 && h.watched[w.run] == w {
			delete(h.watched, w.run)
			w.stop()
		}
	})
}

// Next waits for messages and returns them as they are sent, or none at a tick. The error is io.EOF after the end of the run, errStopping
// when the service stops, and that of ctx.
func (v *Viewer) Next(ctx context.Context, tick <-chan time.Time) ([][]byte, error) {
	for {
		if v.ended {
			return nil, io.EOF
		}
		if frames := v.resume(); len(frames) > 0 {
			return frames, nil
		}
		frames, next, generation, changed, over := v.watched.take(v.next, v.generation)
		v.next, v.generation, v.ended = next, generation, over
		if len(frames) > 0 {
			return frames, nil
		}
		if over {
			continue
		}
		select {
		case <-changed:
		case <-tick:
			return nil, nil
		case <-v.hub.stopped:
			return nil, errStopping
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// resume goes on where the viewer was before a break, if that is still known.
func (v *Viewer) resume() [][]byte {
	if v.after < 0 {
		return nil
	}
	frames, next, generation, looked := v.watched.resume(v.after)
	if !looked {
		return nil
	}
	v.after = -1
	if frames != nil {
		v.next, v.generation = next, generation
	}
	return frames
}

// Snapshot returns all that is known about a run, with at most so many points.
func (h *Hub) Snapshot(ctx context.Context, run string, points int) (Snapshot, error) {
	v, err := h.Watch(run, nobody, -1)
	if err != nil {
		return Snapshot{}, err
	}
	defer v.Close()
	if _, err := v.Next(ctx, nil); err != nil {
		return Snapshot{}, err
	}
	v.watched.mu.Lock()
	defer v.watched.mu.Unlock()
	return v.watched.whole(points), nil
}

// Stop ends all viewers, so that their requests do not hold the orderly stop of a server. Later viewers are refused.
func (h *Hub) Stop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return
	}
	h.closed = true
	close(h.stopped)
	for _, w := range h.watched {
		w.stop()
		if w.linger != nil {
			w.linger.Stop()
		}
	}
}

// Close is Stop, and waits until no run is looked at.
func (h *Hub) Close() {
	h.Stop()
	h.done.Wait()
}
