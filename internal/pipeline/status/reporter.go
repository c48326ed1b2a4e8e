package status

import (
	"context"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/clowder/message"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/pipeline/schedule"
)

// Publisher sends one status to the user of a job. After a nil return the status will arrive, or nobody reads it.
type Publisher interface {
	Publish(ctx context.Context, req job.Request, s message.Status) error
}

// Ordered is a Publisher whose reader shows statuses in the order in which they were sent, however soon one follows another.
type Ordered interface {
	Publisher
	KeepsOrder()
}

// Hooks connect a Reporter to the records of the jobs. The reporter is not locked while it calls them.
type Hooks struct {
	// OnSent is called after a status was sent.
	OnSent func(run string, s message.Status)
	// IsDelivered reports whether the reader already shows the first or the terminal status of run.
	IsDelivered func(ctx context.Context, run string, kind message.StatusKind) bool
}

// Reporter sends the statuses of all jobs: those of one job in order, and no faster than the reader can take them. Statuses wait in
// memory. The first and the terminal status must not be lost: the pipeline enqueues them again from the record after a restart.
type Reporter struct {
	publisher Publisher
	hooks     Hooks
	log       *zap.Logger

	// due says when the next status of a job may be sent. A job with nothing to send is not in it.
	due *schedule.Queue
	// sent signals that a status was sent.
	sent chan struct{}

	mu       sync.Mutex
	outboxes map[string]*outbox // by run
}

// outbox holds the statuses of one job that are still to be sent.
type outbox struct {
	req      job.Request
	throttle message.Throttle
	// lastText is the text that was queued last, sentProgress that of the progress status that was sent last.
	lastText, sentProgress string
	// startQueued and endQueued say whether the first and the terminal status were queued, startSent whether the first was sent.
	startQueued, endQueued, startSent bool
	// unconfirmed is since when the first or the terminal status may have been sent without a confirm; zero if neither may have.
	unconfirmed time.Time
}

// once reports whether a status of this kind must be sent only once. A repeated first status sets the job back in Clowder.
func once(kind message.StatusKind) bool { return kind == message.StatusStart || kind.Terminal() }

// NewReporter returns a reporter. Run sends what is enqueued.
func NewReporter(publisher Publisher, hooks Hooks, log *zap.Logger) *Reporter {
	return &Reporter{
		publisher: publisher, hooks: hooks, log: log,
		due: schedule.New(), sent: make(chan struct{}, 1), outboxes: map[string]*outbox{},
	}
}

// Enqueue queues a status. A newer status replaces a passing one that still waits. A text that repeats the last one is dropped, and so
// is a progress text that was sent before, even if there were notes in between.
func (r *Reporter) Enqueue(run string, req job.Request, s message.Status) {
	if r.offer(run, req, s) {
		r.due.Add(run)
	}
}

// EnqueueUnconfirmed queues a first or a terminal status that an earlier process may have sent just before it ended. It is sent only
// if the reader does not show it after settleTime.
func (r *Reporter) EnqueueUnconfirmed(run string, req job.Request, s message.Status) {
	r.mu.Lock()
	r.outbox(run, req).unconfirmed = time.Now()
	r.mu.Unlock()
	r.Enqueue(run, req, s)
}

// outbox returns the outbox of run, a new one if it has none. The reporter must be locked.
func (r *Reporter) outbox(run string, req job.Request) *outbox {
	o := r.outboxes[run]
	if o == nil {
		req.Parameters, req.Notifies = nil, nil // no status needs them, and thousands of jobs may wait here
		_, ordered := r.publisher.(Ordered)
		o = &outbox{req: req, throttle: message.Throttle{KeepsOrder: ordered}}
		r.outboxes[run] = o
	}
	return o
}

func (r *Reporter) offer(run string, req job.Request, s message.Status) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	o := r.outbox(run, req)
	repeated := s.Kind == message.StatusStart && o.startQueued
	if !s.Kind.Terminal() && (o.lastText == s.Text || repeated || s.Progress && o.sentProgress == s.Text) {
		return false
	}
	if !o.throttle.Offer(s) {
		return false // nothing follows a terminal status
	}
	o.lastText, o.endQueued, o.startQueued = s.Text, s.Kind.Terminal(), o.startQueued || s.Kind == message.StatusStart
	return true
}

// HasOutbox reports whether this process has queued any status of run.
func (r *Reporter) HasOutbox(run string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.outboxes[run] != nil
}

// LastText returns the newest text that was queued for run, empty if this process has queued none.
func (r *Reporter) LastText(run string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if o := r.outboxes[run]; o != nil {
		return o.lastText
	}
	return ""
}

// EndSent reports whether the terminal status of run was sent.
func (r *Reporter) EndSent(run string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	o := r.outboxes[run]
	return o != nil && o.throttle.Finished()
}

// EndQueued reports whether this process has queued the terminal status of run.
func (r *Reporter) EndQueued(run string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	o := r.outboxes[run]
	return o != nil && o.endQueued
}

// Forget drops a job that is over.
func (r *Reporter) Forget(run string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.outboxes, run)
}

// workers bounds the jobs whose statuses are being sent at once.
const workers = 16

// Run sends what is queued until ctx ends. A status that could not be sent stays first in its outbox.
func (r *Reporter) Run(ctx context.Context) {
	r.due.Work(ctx, workers, func(run string) {
		if wait := r.send(ctx, run); wait > 0 {
			r.due.Requeue(run, time.Now(), wait)
		} else {
			r.due.Done(run)
		}
	})
}

const (
	retryPause = time.Second
	// settleTime is how long the reader gets to show an unconfirmed status before it may be sent again.
	settleTime = 10 * time.Second
)

// send sends every status of a job that may go now, and returns the time until the next one may go, 0 if there is none.
func (r *Reporter) send(ctx context.Context, run string) time.Duration {
	for {
		o, s, wait, ok := r.next(run)
		if !ok {
			return wait
		}
		if err := r.publish(ctx, run, o, s); err != nil {
			if ctx.Err() == nil {
				r.log.Warn("status not sent, will try again", zap.String("run", run), zap.Error(err))
			}
			return retryPause
		}
		r.mu.Lock()
		o.throttle.Sent(time.Now())
		o.startSent = o.startSent || s.Kind == message.StatusStart
		if s.Progress {
			o.sentProgress = s.Text
		}
		r.mu.Unlock()
		r.hooks.OnSent(run, s)
		r.signal()
	}
}

// publish sends one status. A first or terminal status that may have been sent already is looked up first, so that no job starts or
// ends twice.
func (r *Reporter) publish(ctx context.Context, run string, o *outbox, s message.Status) error {
	if once(s.Kind) && r.isUnconfirmed(o) && r.hooks.IsDelivered(ctx, run, s.Kind) {
		return nil
	}
	err := r.publisher.Publish(ctx, o.req, s)
	if kind, _ := job.Classify(err); err != nil && kind == job.KindUnknown && once(s.Kind) {
		r.mu.Lock()
		o.unconfirmed = time.Now()
		r.mu.Unlock()
	}
	return err
}

func (r *Reporter) isUnconfirmed(o *outbox) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !o.unconfirmed.IsZero()
}

// Drain returns when the queued first and terminal statuses are sent, or when ctx ends. Run must be running.
func (r *Reporter) Drain(ctx context.Context) {
	for r.hasUndelivered() {
		select {
		case <-r.sent:
		case <-ctx.Done():
			return
		}
	}
}

// hasUndelivered reports whether a first or a terminal status is still to be sent.
func (r *Reporter) hasUndelivered() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, o := range r.outboxes {
		if o.startQueued && !o.startSent || o.endQueued && !o.throttle.Finished() {
			return true
		}
	}
	return false
}

// Ended names the runs whose terminal status was sent.
func (r *Reporter) Ended() (runs []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for run, o := range r.outboxes {
		if o.throttle.Finished() {
			runs = append(runs, run)
		}
	}
	return runs
}

// signal wakes Drain; one pending signal is enough.
func (r *Reporter) signal() {
	select {
	case r.sent <- struct{}{}:
	default:
	}
}

func (r *Reporter) next(run string) (*outbox, message.Status, time.Duration, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	o := r.outboxes[run]
	if o == nil {
		return nil, message.Status{}, 0, false
	}
	if rest := settleTime - time.Since(o.unconfirmed); rest > 0 {
		return nil, message.Status{}, rest, false
	}
	s, wait, ok := o.throttle.Next(time.Now())
	return o, s, wait, ok
}
