package pipeline

import (
	"context"
	"sync"
	"time"

	"github.com/ncsa/clowder-ray/internal/clowder/message"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/job"
)

// Voice tells a user how far a job is. A nil return means that the line will reach whoever reads it, or that nobody does.
type Voice interface {
	Tell(ctx context.Context, req job.Request, s message.Status) error
}

// reporter sends the statuses of all jobs, each job's in order and no faster than its reader can take them. Lines wait in
// memory: what must not be lost (the first and the last line) is offered again from the record after a restart.
type reporter struct {
	voice Voice
	log   *zap.Logger
	// sent is called after a line is out, outside of the lock.
	sent func(run string, s message.Status)
	// heard reports whether the line of run that is told once and is of this kind has reached its reader.
	heard func(ctx context.Context, run string, kind message.StatusKind) bool

	// due says when the next line of a job may go. A job with nothing to say is not in it, and costs nothing.
	due *schedule
	// told signals that a line went out.
	told chan struct{}

	mu    sync.Mutex
	lines map[string]*line
}

// line is what is still to be said about one job.
type line struct {
	req      job.Request
	throttle message.Throttle
	last     string
	// greeted and ending say whether the first and the last line were queued, opened whether the first one is out.
	greeted, ending, opened bool
	// doubtful is since when the first or the last line may be out already, zero where neither is.
	doubtful time.Time
}

// once reports whether lines of this kind are told once: the first and the last of a job. A repeated first line sets the job
// back in Clowder's eyes.
func once(kind message.StatusKind) bool { return kind == message.StatusStart || kind.Terminal() }

func newReporter(
	voice Voice, log *zap.Logger, sent func(string, message.Status), heard func(context.Context, string, message.StatusKind) bool,
) *reporter {
	return &reporter{
		voice: voice, log: log, sent: sent, heard: heard,
		due: newSchedule(), told: make(chan struct{}, 1), lines: map[string]*line{},
	}
}

// say queues a line for the user. A passing line gives way to a newer one; a repeated text is left out.
func (r *reporter) say(run string, req job.Request, s message.Status) {
	if r.queue(run, req, s) {
		r.due.touch(run)
	}
}

// sayAgain queues a first or a last line that an earlier process may have sent just before its own end. It gets time to arrive,
// and is looked for before it is sent.
func (r *reporter) sayAgain(run string, req job.Request, s message.Status) {
	r.mu.Lock()
	r.line(run, req).doubtful = time.Now()
	r.mu.Unlock()
	r.say(run, req, s)
}

// line is that of run, a new one where there is none. It is called with the reporter locked.
func (r *reporter) line(run string, req job.Request) *line {
	l := r.lines[run]
	if l == nil {
		req.Parameters, req.Notifies = nil, nil // no status needs them, and thousands of jobs may wait here
		l = &line{req: req}
		r.lines[run] = l
	}
	return l
}

func (r *reporter) queue(run string, req job.Request, s message.Status) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.line(run, req)
	again := s.Kind == message.StatusStart && l.greeted // a job is greeted once, whoever of two comes first
	if !s.Kind.Terminal() && (l.last == s.Text || again) {
		return false
	}
	l.last, l.ending, l.greeted = s.Text, s.Kind.Terminal(), l.greeted || s.Kind == message.StatusStart
	return l.throttle.Offer(s)
}

// knows reports whether this process has said anything about run yet.
func (r *reporter) knows(run string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lines[run] != nil
}

// last is the newest line that was queued for run, empty where this process has said nothing about it.
func (r *reporter) last(run string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if l := r.lines[run]; l != nil {
		return l.last
	}
	return ""
}

// finished reports whether the terminal line of run is out.
func (r *reporter) finished(run string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.lines[run]
	return l != nil && l.throttle.Finished()
}

// ending reports whether this process has queued the terminal line of run.
func (r *reporter) ending(run string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.lines[run]
	return l != nil && l.ending
}

// forget drops a job that is over.
func (r *reporter) forget(run string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.lines, run)
}

// tellers bounds the jobs whose lines are on their way at once.
const tellers = 16

// Run sends what is queued until ctx ends. A line that could not be sent stays first in its queue.
func (r *reporter) Run(ctx context.Context) {
	r.due.work(ctx, tellers, func(run string) {
		if wait := r.flush(ctx, run); wait > 0 {
			r.due.put(run, time.Now(), wait)
		} else {
			r.due.drop(run)
		}
	})
}

const (
	reporterRetry = time.Second
	// doubt is how long a line that is told once and may be out gets to arrive before it may be sent again.
	doubt = 10 * time.Second
)

// flush sends every line of a job that may go now and returns how long until the next one may, 0 where there is none.
func (r *reporter) flush(ctx context.Context, run string) time.Duration {
	for {
		l, s, wait, ok := r.next(run)
		if !ok {
			return wait
		}
		if err := r.tell(ctx, run, l, s); err != nil {
			if ctx.Err() == nil {
				r.log.Warn("status not sent, will try again", zap.String("run", run), zap.Error(err))
			}
			return reporterRetry
		}
		r.mu.Lock()
		l.throttle.Sent(time.Now())
		l.opened = l.opened || s.Kind == message.StatusStart
		r.mu.Unlock()
		r.sent(run, s)
		notify(r.told)
	}
}

// tell sends a line. One that is told once and may be out already is looked for first, so that no job begins or ends twice.
func (r *reporter) tell(ctx context.Context, run string, l *line, s message.Status) error {
	if once(s.Kind) && r.doubts(l) && r.heard(ctx, run, s.Kind) {
		return nil
	}
	err := r.voice.Tell(ctx, l.req, s)
	if kind, _ := job.Classify(err); err != nil && kind == job.KindUnknown && once(s.Kind) {
		r.mu.Lock()
		l.doubtful = time.Now()
		r.mu.Unlock()
	}
	return err
}

func (r *reporter) doubts(l *line) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !l.doubtful.IsZero()
}

// drain returns when the first and the last lines that are queued are out, or when ctx ends. Run must be running.
func (r *reporter) drain(ctx context.Context) {
	for r.owes() {
		select {
		case <-r.told:
		case <-ctx.Done():
			return
		}
	}
}

// owes reports whether a line that must not be lost is still to be sent.
func (r *reporter) owes() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range r.lines {
		if l.greeted && !l.opened || l.ending && !l.throttle.Finished() {
			return true
		}
	}
	return false
}

// allFinished names the jobs whose terminal line is out.
func (r *reporter) allFinished() (runs []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for run, l := range r.lines {
		if l.throttle.Finished() {
			runs = append(runs, run)
		}
	}
	return runs
}

// notify signals on a channel of size 1, where one pending signal is enough.
func notify(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func (r *reporter) next(run string) (*line, message.Status, time.Duration, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.lines[run]
	if l == nil {
		return nil, message.Status{}, 0, false
	}
	if rest := doubt - time.Since(l.doubtful); rest > 0 {
		return nil, message.Status{}, rest, false
	}
	s, wait, ok := l.throttle.Next(time.Now())
	return l, s, wait, ok
}
