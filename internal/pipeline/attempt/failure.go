package attempt

import (
	"errors"
	"fmt"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/crash"
	"github.com/ncsa/clowder-ray/internal/pipeline/stage"
	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/results"
)

// codeStopped is the trainer's code for a run that somebody stopped before there was anything to keep.
const codeStopped = "stopped"

// handleFailure decides what follows a failed attempt. What the trainer wrote itself counts more than what Ray reports.
func (w *Watcher) handleFailure(rec job.Record, obs rayjob.Observation) (stage.Change, error) {
	result, failure, err := results.Read(w.Volume.Run(rec.Run), rec.Run, rec.Attempt)
	switch {
	case err == nil && result != nil: // complete and verified, and only then something broke
		return func(r *job.Record) error { r.Advance(job.Finished); return nil }, nil
	case err == nil && failure != nil && failure.Code == codeStopped:
		return func(r *job.Record) error { r.End(job.Cancelled, failure.Sentence()); return nil }, nil
	case err == nil && failure != nil && failure.User:
		return w.failedByUser(rec, failure)
	case err == nil && failure != nil:
		return w.nextAttempt(rec, failure.What)
	case obs.Final:
		return nil, job.Permanent(errors.New(obs.Reason))
	case obs.Reason != "":
		return w.nextAttempt(rec, obs.Reason)
	default:
		return w.nextAttempt(rec, "the "+rec.Kind.Noun()+" ended without a result")
	}
}

// nextAttempt starts another attempt, if one is left.
func (w *Watcher) nextAttempt(rec job.Record, reason string) (stage.Change, error) {
	if rec.Restarts+1 >= max(1, w.MaxAttempts) {
		return nil, job.Permanent(fmt.Errorf("%s (attempt %d of %d): ask the administrator for the log of the run",
			reason, rec.Restarts+1, max(1, w.MaxAttempts)))
	}
	w.Log.Warn("training failed, starting another attempt", zap.String("run", rec.Run), zap.Int("attempt", rec.Attempt), zap.String("reason", reason))
	w.Statuses.Say(rec, reason+"; starting another attempt")
	return func(r *job.Record) error { r.NextAttempt(); return nil }, nil
}

// failedByUser ends a job of which the input must change. What a script had saved before it failed is delivered first.
func (w *Watcher) failedByUser(rec job.Record, failed *results.Failure) (stage.Change, error) {
	left, err := w.Volume.ReadPartial(rec, failed)
	if kind, _ := job.Classify(err); err != nil && kind == job.KindRetryable && rec.Failures+1 < max(1, w.MaxRetry) {
		return nil, err // the volume may show the newest bytes late
	}
	if err != nil {
		w.Log.Warn("what a failed script has saved cannot be read", zap.String("run", rec.Run), zap.Error(err))
	}
	if err != nil || left == nil {
		return nil, stage.BadInput(job.Permanent(errors.New(failed.Sentence())))
	}
	crash.At(crash.Observed)
	return func(r *job.Record) error { r.Advance(job.Finished); return nil }, nil
}
