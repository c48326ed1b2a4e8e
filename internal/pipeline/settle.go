package pipeline

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/clowder/message"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/text"
)

// The pauses between two tries of a stage double from the first to the longest. They need no jitter, since one process owns
// all jobs.
const (
	firstPause = 500 * time.Millisecond
	maxPause   = 5 * time.Minute
	watchPause = 30 * time.Second
	// storeTimeout bounds one write to the store, other processes that hold it included.
	storeTimeout = 15 * time.Second
)

// settle writes what a stage came to. It returns the record as it is now and when the job is due again.
func (p *Pipeline) settle(ctx context.Context, rec job.Record, st stage, apply change, err error) (job.Record, time.Duration) {
	kind, after := job.KindRetryable, time.Duration(0)
	if err != nil {
		kind, after = job.Classify(err)
	}
	if kind == job.KindLater {
		p.waiting(ctx, rec, err)
		return rec, after
	}
	// A stop must not cut off the write that says what has already happened.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
	defer cancel()
	wait := time.Duration(0)
	switch {
	case err == nil:
	case kind == job.KindPermanent:
		_, bad := errors.AsType[*inputError](err)
		apply = failed(err.Error(), bad)
	case rec.Failures+1 >= max(1, st.tries):
		apply = failed(fmt.Sprintf("%s (gave up after %s)", err, text.Count(rec.Failures+1, "attempt")), false)
	default:
		wait = min(st.pause, firstPause<<min(rec.Failures, 20))
		apply = func(r *job.Record) error { r.Postpone(time.Now().Add(wait), err.Error()); return nil }
		p.retryLater(rec, err, wait)
	}
	if next := rec; err == nil && p.mayObserveAgain(rec) && apply(&next) == nil && next.State == job.Finished {
		return next, 0
	}
	startSent := !p.starts.confirmed(rec.Run).IsZero()
	if inner := apply; startSent {
		apply = func(r *job.Record) error { r.StartSent = true; return inner(r) }
	}
	next, werr := p.store.Amend(ctx, rec, apply)
	if werr == nil && startSent {
		p.starts.forget(rec.Run)
	}
	if errors.Is(werr, job.ErrTooLarge) { // it stays so, however often it is written
		next, werr = p.store.Amend(ctx, rec, failed(werr.Error(), false))
	}
	if werr != nil {
		p.log.Error("write the record", zap.String("run", rec.Run), zap.Error(werr))
		return rec, firstPause
	}
	if next.State != rec.State || next.Attempt != rec.Attempt || (next.Ending != nil) != (rec.Ending != nil) {
		p.logChange(rec, next)
	}
	return next, wait
}

// mayObserveAgain reports whether the success of an attempt comes onto the disk together with what is made of it: Ray, or else the result on
// the volume, tells it again after a kill. The result of a training does not wait, because its model is registered next, which a cancellation
// must not overtake.
func (p *Pipeline) mayObserveAgain(rec job.Record) bool {
	return rec.Kind != job.Train || rec.Settings.Values["dry_run"] == true
}

// failed decides that the job has failed. One that was cancelled meanwhile stays so: its end is decided in the next step.
func failed(text string, badInput bool) change {
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

// inputError marks an error that the user's data or settings are to blame for.
type inputError struct{ err error }

func (e *inputError) Error() string { return e.err.Error() }
func (e *inputError) Unwrap() error { return e.err }

// badInput blames the user's data or settings for a permanent error; another one stays as it is.
func badInput(err error) error {
	if kind, _ := job.Classify(err); err != nil && kind == job.KindPermanent {
		return &inputError{err}
	}
	return err
}

// retryLater logs a transient error, and tells the user if it occurred twice in a row.
func (p *Pipeline) retryLater(rec job.Record, err error, wait time.Duration) {
	p.metrics.retried(rec.State)
	if rec.LastError != err.Error() {
		p.log.Warn("will try again", zap.String("run", rec.Run), zap.String("state", string(rec.State)),
			zap.Int("failures", rec.Failures+1), zap.Duration("wait", wait), zap.Error(err))
	}
	if rec.Failures >= 1 {
		p.say(rec, fmt.Sprintf("%s; trying again in %s", err, text.About(wait)))
	}
}

// waiting records that a job waits without an error: its earlier failures are over. A wrong setting that makes it wait is reported once
// to the operator and the user.
func (p *Pipeline) waiting(ctx context.Context, rec job.Record, err error) {
	if wait, ok := errors.AsType[*rayjob.WaitError](err); ok {
		p.sayPassing(rec, wait.Error())
	}
	reason := ""
	if setting, ok := errors.AsType[*rayjob.SettingError](err); ok {
		reason = setting.Error()
	}
	if rec.Failures == 0 && rec.LastError == reason {
		return
	}
	if reason != "" && rec.LastError != reason {
		p.log.Error("jobs are waiting because of a wrong setting", zap.String("run", rec.Run), zap.String("error", reason))
		p.say(rec, "Waiting for the administrator to fix the connection of the extractor to Ray")
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
	defer cancel()
	_, err = p.store.Change(ctx, rec.Run, func(r *job.Record) error { r.Failures, r.LastError = 0, reason; return nil })
	if err != nil {
		p.log.Error("write the record", zap.String("run", rec.Run), zap.Error(err))
	}
}

// logChange logs a change of state.
func (p *Pipeline) logChange(old, next job.Record) {
	p.metrics.moved(old.State, next.State)
	fields := []zap.Field{
		zap.String("run", next.Run), zap.String("job_id", next.Request.JobID), zap.String("state", string(next.State)),
		zap.Int("attempt", next.Attempt),
	}
	if next.Ending != nil {
		fields = append(fields, zap.String("ending", string(next.Ending.State)), zap.String("text", next.Ending.Text))
	}
	p.log.Info("job", fields...)
}

// say queues a status that the user should read, as a line of its own. It may be lost if the service is killed.
func (p *Pipeline) say(rec job.Record, sentence string) {
	p.enqueue(rec, message.Status{Text: sentence})
}

// remark is say for a line that may share a status with other remarks and with the end of the job, which so waits for none of them.
func (p *Pipeline) remark(rec job.Record, sentence string) {
	p.enqueue(rec, message.Status{Text: sentence, Note: true})
}

// sayPassing queues a status about the current activity. A newer status replaces it if it was not sent yet.
func (p *Pipeline) sayPassing(rec job.Record, sentence string) {
	p.enqueue(rec, message.Status{Text: sentence, Passing: true})
}

// enqueue completes a status of a job that goes on, and queues it.
func (p *Pipeline) enqueue(rec job.Record, s message.Status) {
	s.Kind, s.Text, s.At = message.StatusProcessing, text.Capital(s.Text), time.Now()
	p.reporter.Enqueue(rec.Run, rec.Request, s)
}
