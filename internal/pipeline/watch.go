package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/clowder/message"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/crash"
	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/text"
)

// graceAfterLimit is how much longer than the user's time limit a training may take: preparing, testing and exporting are
// not counted by the trainer, which stops the training itself at the limit.
const graceAfterLimit = 30 * time.Minute

// shortestLook is the shortest time between two looks at a training.
const shortestLook = 200 * time.Millisecond

// untilNextLook is how long a job that waits for Ray or trains is not looked at, and how old Ray's answer about it may be: a tenth of the time
// since that began, between shortestLook and the configured time. So the end of a short training is seen after a fifth of its time or two of the
// shortest times, and hundreds of long trainings take little.
func (p *Pipeline) untilNextLook(rec job.Record) time.Duration {
	began := rec.Began
	if rec.State == job.Running {
		began = rec.Trained
	}
	return p.between(p.clock.wall().Sub(began).Abs())
}

// saysDone reports whether the trainer has said that the present attempt is done. Its process ends soon.
func saysDone(rec job.Record, progress results.Progress) bool {
	return progress.Done && progress.Attempt == rec.Attempt
}

// between is the time until the next look at what began that long ago.
func (p *Pipeline) between(since time.Duration) time.Duration {
	return min(p.cfg.Poll, max(shortestLook, since/10))
}

// watch looks at the training once: at Ray for the verdict, at the events for the progress. It never stops a training
// itself: an end that is decided here stops it in finish, and another attempt stops it in submit, so
// that the decision is on disk first and is not taken for somebody else's stop.
func (p *Pipeline) watch(ctx context.Context, rec job.Record) (change, error) {
	if rec.Handle == nil {
		return nil, job.Permanent(errors.New("the job record has no Ray attempt: submit again"))
	}
	obs, err := p.backend.Observe(ctx, *rec.Handle, p.untilNextLook(rec))
	if err != nil {
		return nil, err
	}
	progress := p.follow(rec)
	if saysDone(rec, progress) && !obs.Verdict.Terminal() { // no event follows, so none is missed
		if obs, err = p.backend.Observe(ctx, *rec.Handle, shortestLook); err != nil {
			return nil, err
		}
	}

	switch obs.Verdict {
	case rayjob.Succeeded:
		crash.At(crash.Observed)
		return func(r *job.Record) error { r.Advance(job.Finished); return nil }, nil
	case rayjob.Failed, rayjob.Lost:
		return p.handleFailure(rec, obs)
	case rayjob.Stopped:
		return func(r *job.Record) error {
			r.End(job.Cancelled, "The "+p.noun(rec)+" was stopped on the Ray cluster")
			return nil
		}, nil
	case rayjob.Running:
		if obs.Notice != "" {
			p.sayPassing(rec, obs.Notice)
		}
		return p.running(rec, progress)
	default:
		return p.pending(rec, obs)
	}
}

// pending waits for Ray to start the job, with an end.
func (p *Pipeline) pending(rec job.Record, obs rayjob.Observation) (change, error) {
	began := p.clock.since(rec.Run, rec.Began, p.cfg.PendingTimeout/2)
	waited := time.Since(began)
	if waited > p.cfg.PendingTimeout {
		return nil, job.Permanent(fmt.Errorf("the %s did not start on Ray within %s%s: ask the administrator whether the cluster has free resources",
			p.noun(rec), text.About(waited), because(obs.Notice)))
	}
	p.sayPassing(rec, waitingLine(obs.Notice, waited, began.Add(p.cfg.PendingTimeout)))
	return nil, job.Later(p.untilNextLook(rec), errors.New("waiting for Ray to start the job"))
}

// running waits for the training to end, unless it takes too long or falls silent.
func (p *Pipeline) running(rec job.Record, progress results.Progress) (change, error) {
	if rec.State != job.Running {
		return func(r *job.Record) error {
			r.Trained = time.Now().UTC()
			r.Advance(job.Running)
			return nil
		}, nil
	}
	if err := p.requestStop(rec); err != nil {
		return nil, err
	}
	if p.follower.Flooded(rec.Run) {
		return nil, job.Permanent(fmt.Errorf("the %s was stopped because it wrote more than %s of events: look for an endless loop that reports events",
			p.noun(rec), text.Bytes(results.MaxEventBytes)))
	}
	limit := timeLimit(rec, progress) + graceAfterLimit
	ran := time.Since(p.clock.since(rec.Run, rec.Trained, limit/2))
	if ran > limit {
		return nil, job.Permanent(fmt.Errorf("the %s was stopped because it took longer than %s: raise max_minutes or use less data", p.noun(rec), text.About(limit)))
	}
	// A script of a user may rightly say nothing for hours; only its time limit ends it.
	quiet := rec.Kind == job.Script
	if silent := min(ran, p.follower.Silence(rec.Run)); silent > p.cfg.StallTimeout && !quiet {
		return p.handleFailure(rec, rayjob.Observation{Reason: "the " + p.noun(rec) + " reported nothing for " + text.About(silent)})
	}
	p.objects.Look(rec, func(text string) { p.remark(rec, text) })
	wait := p.untilNextLook(rec)
	if saysDone(rec, progress) {
		wait = min(wait, p.between(p.follower.Silence(rec.Run)))
	}
	return nil, job.Later(wait, errors.New("training"))
}

// codeStopped is the trainer's code for a run that somebody stopped before there was anything to keep.
const codeStopped = "stopped"

// handleFailure decides what follows a failed attempt. What the trainer wrote itself counts more than what Ray reports.
func (p *Pipeline) handleFailure(rec job.Record, obs rayjob.Observation) (change, error) {
	result, failure, err := results.Read(p.cfg.Volume.Run(rec.Run), rec.Run, rec.Attempt)
	switch {
	case err == nil && result != nil: // complete and verified, and only then something broke
		return func(r *job.Record) error { r.Advance(job.Finished); return nil }, nil
	case err == nil && failure != nil && failure.Code == codeStopped:
		return func(r *job.Record) error { r.End(job.Cancelled, failure.Sentence()); return nil }, nil
	case err == nil && failure != nil && failure.User:
		return p.failedByUser(rec, failure)
	case err == nil && failure != nil:
		return p.nextAttempt(rec, failure.What)
	case obs.Final:
		return nil, job.Permanent(errors.New(obs.Reason))
	case obs.Reason != "":
		return p.nextAttempt(rec, obs.Reason)
	default:
		return p.nextAttempt(rec, "the "+p.noun(rec)+" ended without a result")
	}
}

// nextAttempt starts another attempt, if one is left.
func (p *Pipeline) nextAttempt(rec job.Record, reason string) (change, error) {
	if rec.Restarts+1 >= max(1, p.cfg.MaxAttempts) {
		return nil, job.Permanent(fmt.Errorf("%s (attempt %d of %d): ask the administrator for the log of the run",
			reason, rec.Restarts+1, max(1, p.cfg.MaxAttempts)))
	}
	p.log.Warn("training failed, starting another attempt", zap.String("run", rec.Run), zap.Int("attempt", rec.Attempt), zap.String("reason", reason))
	p.say(rec, reason+"; starting another attempt")
	return func(r *job.Record) error { r.NextAttempt(); return nil }, nil
}

// follow reads the new events of the training and sends its notes and its progress to the user.
func (p *Pipeline) follow(rec job.Record) results.Progress {
	state, notes, err := p.follower.Read(rec.Run, rec.Attempt)
	if err != nil {
		p.log.Warn("read the events of the training", zap.String("run", rec.Run), zap.Error(err))
	}
	for _, note := range notes {
		p.remark(rec, note)
	}
	// The progress comes last: a note that follows it would replace it while both wait.
	if sentence := state.Sentence(); sentence != "" {
		p.enqueue(rec, message.Status{Text: sentence, Progress: true})
	}
	if p.cfg.Watch != nil {
		p.cfg.Watch(rec.Run, state)
	}
	return state
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return " (" + reason + ")"
}

func (p *Pipeline) noun(rec job.Record) string { return rec.Kind.Noun() }

// timeLimit is how long the user lets the job work: what the form says, unless the trainer found another limit in the other
// settings of the dataset and said so.
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
