package pipeline

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/crash"
	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/text"
)

// requestStop passes a request to stop early on to the running training.
func (p *Pipeline) requestStop(rec job.Record) error {
	if rec.StoppedBy == "" {
		return nil
	}
	requested, err := p.cfg.Volume.RequestStop(rec.Run)
	if err == nil && requested {
		p.say(rec, "Stopping early because "+rec.StoppedBy+" asked for it; "+rec.Kind.Keeps()+" is kept")
	}
	return err
}

// stoppedEarly begins the terminal status of a training that stopped early because a user asked for it.
func stoppedEarly(rec job.Record, r *results.Result) string {
	if rec.StoppedBy == "" || !r.Training.StoppedByHand() && r.Script.StoppedBy() != "user" {
		return ""
	}
	return "Stopped early by " + rec.StoppedBy + ". "
}

// result reads what the run left behind. For a script that failed this is what it had saved before, and failure is the sentence that says
// why it failed; otherwise failure is empty.
func (p *Pipeline) result(rec job.Record) (result *results.Result, failure string, err error) {
	result, failed, err := results.Read(p.cfg.Volume.Run(rec.Run), rec.Run, rec.Attempt)
	if err == nil && failed != nil {
		failure = failed.Sentence()
		if result, err = p.partial(rec, failed); result == nil && err == nil {
			err = job.Permanent(errors.New(failure))
		}
		return result, failure, undelivered(failure, err)
	}
	if err == nil && (result.Kind == results.ResultScript) != (rec.Kind == job.Script) {
		// A script must not make a model that others load: it could write this file.
		err = job.Permanent(fmt.Errorf("the %s left a result of another kind: ask the administrator which other program writes to this volume", p.noun(rec)))
	}
	if err != nil || result.Prediction == nil {
		return result, "", err
	}
	inputs, err := p.cfg.Volume.ReadInputs(rec)
	if err != nil {
		return nil, "", err
	}
	keepStaged(result.Prediction, inputs)
	return result, "", nil
}

// partial reads what a script had saved before it failed. It returns nil for a job that is no script, and where there is nothing.
func (p *Pipeline) partial(rec job.Record, failed *results.Failure) (*results.Result, error) {
	if !failed.User || rec.Kind != job.Script {
		return nil, nil
	}
	return results.ReadPartial(p.cfg.Volume.Run(rec.Run), rec.Run, rec.Attempt)
}

// failedByUser ends a job of which the input must change. What a script had saved before it failed is delivered first.
func (p *Pipeline) failedByUser(rec job.Record, failed *results.Failure) (change, error) {
	left, err := p.partial(rec, failed)
	if kind, _ := job.Classify(err); err != nil && kind == job.KindRetryable && rec.Failures+1 < max(1, p.cfg.MaxRetry) {
		return nil, err // the volume may show the newest bytes late
	}
	if err != nil {
		p.log.Warn("what a failed script has saved cannot be read", zap.String("run", rec.Run), zap.Error(err))
	}
	if err != nil || left == nil {
		return nil, badInput(job.Permanent(errors.New(failed.Sentence())))
	}
	crash.At(crash.Observed)
	return func(r *job.Record) error { r.Advance(job.Finished); return nil }, nil
}

// failedButKept is the end of a script that failed and whose files are delivered. copied says where else they are.
func failedButKept(r *results.Result, failure string, copied *string) func(r *job.Record, where string) {
	return func(rec *job.Record, where string) {
		first := rec.Ending == nil
		rec.End(job.Failed, fmt.Sprintf("%s. What the script had saved is delivered with its log: %s. %s%s", failure, text.Count(len(r.Outputs), "file"), where, *copied))
		if first && rec.Ending != nil {
			rec.Ending.BadInput = true
		}
	}
}

// undelivered says first why a script failed, and then why its files are not delivered. It leaves all other errors as they are.
func undelivered(failure string, err error) error {
	if failure == "" || err == nil || strings.HasPrefix(err.Error(), failure) {
		return err
	}
	return fmt.Errorf("%s. Its files could not be delivered: %w", failure, err)
}

// releaseAttempts releases what may still run of a job on Ray: its attempt, and an earlier stale one. It returns an error only if Ray
// needs a moment. Other errors are logged, because the user waits for the terminal status.
func (p *Pipeline) releaseAttempts(ctx context.Context, rec job.Record) error {
	var faults error
	for _, h := range []*rayjob.Handle{rec.Stale, rec.Handle} {
		faults = errors.Join(faults, p.release(ctx, h))
	}
	if rec.State == job.Staged && rec.Handle == nil && rec.Kind != job.Runs {
		// A kill may have come between the submission and its record.
		faults = errors.Join(faults, p.backend.Release(ctx, rayjob.Handle{ID: p.attempt(rec).Name()}))
	}
	if ctx.Err() != nil {
		return context.Cause(ctx) // whatever Ray said, the next start does it again
	}
	_, setting := errors.AsType[*rayjob.SettingError](faults)
	if kind, _ := job.Classify(faults); kind == job.KindLater && !setting {
		return faults
	}
	if faults != nil {
		p.log.Warn("release the training on Ray", zap.String("run", rec.Run), zap.Error(faults))
	}
	return nil
}
