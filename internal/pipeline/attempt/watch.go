package attempt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/crash"
	"github.com/ncsa/clowder-ray/internal/pipeline/clock"
	"github.com/ncsa/clowder-ray/internal/pipeline/objects"
	"github.com/ncsa/clowder-ray/internal/pipeline/progress"
	"github.com/ncsa/clowder-ray/internal/pipeline/stage"
	"github.com/ncsa/clowder-ray/internal/pipeline/volume"
	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/text"
)

// Watcher looks at attempts on Ray and decides what follows.
type Watcher struct {
	Backend  rayjob.Backend
	Volume   volume.Volume
	Follower *progress.Follower
	Objects  *objects.Mover
	Clock    *clock.Clock
	Statuses Statuses
	Log      *zap.Logger
	Limits

	// Watched sees every look at a running job.
	Watched func(run string, p results.Progress)
}

// Limits bound how long and how often a job is tried on Ray.
type Limits struct {
	// Poll is the longest time between two looks at a running training. A young one is looked at more often.
	Poll time.Duration
	// PendingTimeout and StallTimeout end a training that does not start and one that says nothing any more.
	PendingTimeout time.Duration
	StallTimeout   time.Duration
	// MaxRetry bounds the tries of a stage, MaxAttempts those of a training that Ray lost.
	MaxRetry, MaxAttempts int
}

// graceAfterLimit is how much longer than the user's time limit a training may take: preparing, testing and exporting are
// not counted by the trainer, which stops the training itself at the limit.
const graceAfterLimit = 30 * time.Minute

// shortestLook is the shortest time between two looks at a training.
const shortestLook = 200 * time.Millisecond

// freshNews is how young the last event of a training is that certainly runs.
const freshNews = 30 * time.Second

// untilNextLook is how long a job that waits for Ray or trains is not looked at, and how old Ray's answer about it may be: a tenth of the time
// since that began, between shortestLook and the configured time. So the end of a short training is seen after a fifth of its time or two of the
// shortest times, and hundreds of long trainings take little.
func (w *Watcher) untilNextLook(rec job.Record) time.Duration {
	began := rec.Began
	if rec.State == job.Running {
		began = rec.Trained
	}
	return w.between(w.Clock.Wall().Sub(began).Abs())
}

// saysDone reports whether the trainer has said that the present attempt is done. Its process ends soon.
func saysDone(rec job.Record, progress results.Progress) bool {
	return progress.Done && progress.Attempt == rec.Attempt
}

// between is the time until the next look at what began that long ago.
func (w *Watcher) between(since time.Duration) time.Duration {
	return min(w.Poll, max(shortestLook, since/10))
}

// Watch looks at the training once: at Ray for the verdict, at the events for the progress. It never stops a training
// itself: an end that is decided here stops it in finish, and another attempt stops it in submit, so
// that the decision is on disk first and is not taken for somebody else's stop.
func (w *Watcher) Watch(ctx context.Context, rec job.Record) (stage.Change, error) {
	if rec.Handle == nil {
		return nil, job.Permanent(errors.New("the job record has no Ray attempt: submit again"))
	}
	obs, err := w.Backend.Observe(ctx, *rec.Handle, w.untilNextLook(rec))
	if err != nil {
		return nil, err
	}
	progress := w.follow(rec)
	if saysDone(rec, progress) && !obs.Verdict.Terminal() { // no event follows, so none is missed
		if obs, err = w.Backend.Observe(ctx, *rec.Handle, shortestLook); err != nil {
			return nil, err
		}
	}

	switch obs.Verdict {
	case rayjob.Succeeded:
		crash.At(crash.Observed)
		return func(r *job.Record) error { r.Advance(job.Finished); return nil }, nil
	case rayjob.Failed, rayjob.Lost:
		return w.handleFailure(rec, obs)
	case rayjob.Stopped:
		return func(r *job.Record) error {
			r.End(job.Cancelled, "The "+rec.Kind.Noun()+" was stopped on the Ray cluster")
			return nil
		}, nil
	case rayjob.Running:
		if obs.Notice != "" {
			w.Statuses.SayPassing(rec, obs.Notice)
		} else {
			w.sayProgress(rec, progress)
		}
		return w.running(rec, progress)
	default:
		return w.pending(rec, obs, progress)
	}
}

// sayProgress sends the progress of the training to the user. A look says it or what the training waits for: with both, each would count
// as news after the other, at every look.
func (w *Watcher) sayProgress(rec job.Record, progress results.Progress) {
	if sentence := progress.Sentence(); sentence != "" {
		w.Statuses.SayProgress(rec, sentence)
	}
}

// pending waits for Ray to start the job, with an end. An attempt that ran already has lost its machines to another job, for example by
// a preemption of Kueue: it waits again, with the whole time for it, and resumes from its checkpoint.
func (w *Watcher) pending(rec job.Record, obs rayjob.Observation, progress results.Progress) (stage.Change, error) {
	since := rec.Began
	if rec.State == job.Running {
		if rec.Requeued.IsZero() {
			return func(r *job.Record) error { r.Requeued = time.Now().UTC(); return nil }, nil
		}
		since = rec.Requeued
	}
	began := w.Clock.Since(rec.Run, since, w.PendingTimeout/2)
	waited := time.Since(began)
	if waited > w.PendingTimeout {
		return nil, job.Permanent(fmt.Errorf("the %s did not start on Ray within %s%s: ask the administrator whether the cluster has free resources",
			rec.Kind.Noun(), text.About(waited), because(obs.Notice)))
	}
	speaks := progress.Attempt == rec.Attempt && w.Follower.Silence(rec.Run) < freshNews
	if rec.State != job.Running && speaks { // it runs, and Ray's own word for it comes later
		w.sayProgress(rec, progress)
	} else {
		w.Statuses.SayPassing(rec, waitingLine(obs.Notice, waited, began.Add(w.PendingTimeout)))
	}
	return nil, job.Later(w.untilNextLook(rec), errors.New("waiting for Ray to start the job"))
}

// running waits for the training to end, unless it takes too long or falls silent.
func (w *Watcher) running(rec job.Record, progress results.Progress) (stage.Change, error) {
	if rec.State != job.Running || !rec.Requeued.IsZero() {
		return func(r *job.Record) error {
			r.Trained, r.Requeued = time.Now().UTC(), time.Time{}
			r.Advance(job.Running)
			return nil
		}, nil
	}
	if err := w.requestStop(rec); err != nil {
		return nil, err
	}
	if w.Follower.Flooded(rec.Run) {
		return nil, job.Permanent(fmt.Errorf("the %s was stopped because it wrote more than %s of events: look for an endless loop that reports events",
			rec.Kind.Noun(), text.Bytes(results.MaxEventBytes)))
	}
	limit := timeLimit(rec, progress) + graceAfterLimit
	ran := time.Since(w.Clock.Since(rec.Run, rec.Trained, limit/2))
	if ran > limit {
		return nil, job.Permanent(fmt.Errorf("the %s was stopped because it took longer than %s: raise max_minutes or use less data", rec.Kind.Noun(), text.About(limit)))
	}
	// A script of a user may rightly say nothing for hours; only its time limit ends it.
	quiet := rec.Kind == job.Script
	if silent := min(ran, w.Follower.Silence(rec.Run)); silent > w.StallTimeout && !quiet {
		return w.handleFailure(rec, rayjob.Observation{Reason: "the " + rec.Kind.Noun() + " reported nothing for " + text.About(silent)})
	}
	w.Objects.Look(rec, func(text string) { w.Statuses.Remark(rec, text) })
	wait := w.untilNextLook(rec)
	if saysDone(rec, progress) {
		wait = min(wait, w.between(w.Follower.Silence(rec.Run)))
	}
	return nil, job.Later(wait, errors.New("training"))
}

// requestStop passes a request to stop early on to the running training.
func (w *Watcher) requestStop(rec job.Record) error {
	if rec.StoppedBy == "" {
		return nil
	}
	requested, err := w.Volume.RequestStop(rec.Run)
	if err == nil && requested {
		w.Statuses.Say(rec, "Stopping early because "+rec.StoppedBy+" asked for it; "+rec.Kind.Keeps()+" is kept")
	}
	return err
}

// follow reads the new events of the training and sends its notes to the user.
func (w *Watcher) follow(rec job.Record) results.Progress {
	state, notes, err := w.Follower.Read(rec.Run, rec.Attempt)
	if err != nil {
		w.Log.Warn("read the events of the training", zap.String("run", rec.Run), zap.Error(err))
	}
	for _, note := range notes {
		w.Statuses.Remark(rec, note)
	}
	w.Watched(rec.Run, state)
	return state
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return " (" + reason + ")"
}

// timeLimit is how long the user lets the job work. A trainer of an older version, whose attempt still runs, has read more than its service, and
// says so.
func timeLimit(rec job.Record, progress results.Progress) time.Duration {
	for _, d := range progress.Decisions {
		if n, err := strconv.Atoi(d.Choice); err == nil && d.What == "max_minutes" {
			return time.Duration(n) * time.Minute
		}
	}
	return rec.Settings.MaxDuration
}

// aWhile is how long a job waits for Ray before its user wants to know when that ends.
const aWhile = time.Minute

// waitingLine says what a job waits for on Ray and, after a while, when it will fail.
func waitingLine(what string, waited time.Duration, until time.Time) string {
	what = cmp.Or(what, "waiting for Ray to start the job")
	if waited < aWhile {
		return what
	}
	return what + "; if this lasts until " + until.UTC().Format("2 Jan 15:04 UTC") + ", the job fails"
}
