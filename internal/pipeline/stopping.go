package pipeline

import (
	"context"
	"errors"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/results"
)

// requestStop passes a request to stop early on to the running training.
func (p *Pipeline) requestStop(rec job.Record) error {
	if rec.StoppedBy == "" {
		return nil
	}
	requested, err := p.cfg.Volume.RequestStop(rec.Run)
	if err == nil && requested {
		p.say(rec, "Stopping early because "+rec.StoppedBy+" asked for it; "+p.cfg.Extractors.Of(rec.Request).Kind.Keeps()+" is kept")
	}
	return err
}

// stoppedEarly begins the terminal status of a training that stopped early because a user asked for it.
func stoppedEarly(rec job.Record, r *results.Result) string {
	if rec.StoppedBy == "" || !r.Training.StoppedByHand() {
		return ""
	}
	return "Stopped early by " + rec.StoppedBy + ". "
}

// releaseAttempts releases what may still run of a job on Ray: its attempt, and an earlier stale one. It returns an error only if Ray
// needs a moment. Other errors are logged, because the user waits for the terminal status.
func (p *Pipeline) releaseAttempts(ctx context.Context, rec job.Record) error {
	var faults error
	for _, h := range []*rayjob.Handle{rec.Stale, rec.Handle} {
		faults = errors.Join(faults, p.release(ctx, h))
	}
	if rec.State == job.Staged && rec.Handle == nil && p.cfg.Extractors.Of(rec.Request).Kind != platform.Runs {
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
