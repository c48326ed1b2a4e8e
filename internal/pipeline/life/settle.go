package life

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/pipeline/metrics"
	"github.com/ncsa/clowder-ray/internal/pipeline/stage"
	"github.com/ncsa/clowder-ray/internal/pipeline/status"
	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/text"
)

// settler writes what stages came to.
type settler struct {
	store    job.Store
	statuses *status.Milestones
	metrics  *metrics.Metrics
	log      *zap.Logger
}

// settle writes what a stage came to. It returns the record as it is now and when the job is due again.
func (s *settler) settle(ctx context.Context, rec job.Record, st stage.Stage, apply stage.Change, err error) (job.Record, time.Duration) {
	kind, after := job.KindRetryable, time.Duration(0)
	if err != nil {
		kind, after = job.Classify(err)
	}
	if kind == job.KindLater {
		s.waiting(ctx, rec, err)
		return rec, after
	}
	// A stop must not cut off the write that says what has already happened.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), job.WriteTimeout)
	defer cancel()
	wait := time.Duration(0)
	switch {
	case err == nil:
	case kind == job.KindPermanent:
		apply = failed(err.Error(), stage.BlamesInput(err))
	case rec.Failures+1 >= max(1, st.Tries):
		apply = failed(fmt.Sprintf("%s (gave up after %s)", err, text.Count(rec.Failures+1, "attempt")), false)
	default:
		wait = min(st.Pause, stage.FirstPause<<min(rec.Failures, 20))
		apply = func(r *job.Record) error { r.Postpone(time.Now().Add(wait), err.Error()); return nil }
		s.retryLater(rec, err, wait)
	}
	if next := rec; err == nil && stage.SuccessMayWait(rec) && apply(&next) == nil && next.State == job.Finished {
		return next, 0
	}
	startSent := s.statuses.StartUnnoted(rec.Run)
	if inner := apply; startSent {
		apply = func(r *job.Record) error { r.StartSent = true; return inner(r) }
	}
	next, werr := s.store.Amend(ctx, rec, apply)
	if werr == nil && startSent {
		s.statuses.StartNoted(rec.Run)
	}
	if errors.Is(werr, job.ErrTooLarge) { // it stays so, however often it is written
		next, werr = s.store.Amend(ctx, rec, failed(werr.Error(), false))
	}
	if werr != nil {
		s.log.Error("write the record", zap.String("run", rec.Run), zap.Error(werr))
		return rec, stage.FirstPause
	}
	if next.State != rec.State || next.Attempt != rec.Attempt || (next.Ending != nil) != (rec.Ending != nil) {
		s.logChange(rec, next)
	}
	return next, wait
}

// failed decides that the job has failed. One that was cancelled meanwhile stays so: its end is decided in the next step.
func failed(text string, badInput bool) stage.Change {
	return func(r *job.Record) error {
		if r.CancelledBy != "" && r.Ending == nil {
			return nil
		}
		first := r.Ending == nil
		r.End(job.Failed, text)
		if first && r.Ending != nil {
			r.Ending.BadInput = badInput
		}
		return nil
	}
}

// retryLater logs a transient error, and tells the user if it occurred twice in a row.
func (s *settler) retryLater(rec job.Record, err error, wait time.Duration) {
	s.metrics.Retried(rec.State)
	if rec.LastError != err.Error() {
		s.log.Warn("will try again", zap.String("run", rec.Run), zap.String("state", string(rec.State)),
			zap.Int("failures", rec.Failures+1), zap.Duration("wait", wait), zap.Error(err))
	}
	if rec.Failures >= 1 {
		s.statuses.Say(rec, fmt.Sprintf("%s; trying again in %s", err, text.About(wait)))
	}
}

// waiting records that a job waits without an error: its earlier failures are over. A wrong setting that makes it wait is reported once
// to the operator and the user.
func (s *settler) waiting(ctx context.Context, rec job.Record, err error) {
	if wait, ok := errors.AsType[*rayjob.WaitError](err); ok {
		s.statuses.SayPassing(rec, wait.Error())
	}
	reason := ""
	if setting, ok := errors.AsType[*rayjob.SettingError](err); ok {
		reason = setting.Error()
	}
	if rec.Failures == 0 && rec.LastError == reason {
		return
	}
	if reason != "" && rec.LastError != reason {
		s.log.Error("jobs are waiting because of a wrong setting", zap.String("run", rec.Run), zap.String("error", reason))
		s.statuses.Say(rec, "Waiting for the administrator to fix the connection of the extractor to Ray")
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), job.WriteTimeout)
	defer cancel()
	_, err = s.store.Change(ctx, rec.Run, func(r *job.Record) error { r.Failures, r.LastError = 0, reason; return nil })
	if err != nil {
		s.log.Error("write the record", zap.String("run", rec.Run), zap.Error(err))
	}
}

// logChange logs a change of state.
func (s *settler) logChange(old, next job.Record) {
	s.metrics.Moved(old.State, next.State)
	fields := []zap.Field{
		zap.String("run", next.Run), zap.String("job_id", next.Request.JobID), zap.String("state", string(next.State)),
		zap.Int("attempt", next.Attempt),
	}
	if next.Ending != nil {
		fields = append(fields, zap.String("ending", string(next.Ending.State)))
	}
	if next.Ending != nil && old.Ending == nil { // what the user reads is logged once
		fields = append(fields, zap.String("text", next.Ending.Text))
	}
	s.log.Info("job", fields...)
}
