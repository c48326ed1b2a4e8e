package pipeline

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/results"
)

const (
	// stopFile lies in the run folder of a training that is to end early; keepBest in it has the best model kept.
	stopFile = "stop"
	keepBest = "keep"
	maxStop  = 1 << 10
)

// passOnStop tells a running training that somebody wants it to end early. It is told once: the word stands in the run folder for
// all attempts. What an operator has written there by hand, such as to pause, gives way to it.
func (p *Pipeline) passOnStop(rec job.Record) error {
	if rec.StoppedBy == "" {
		return nil
	}
	if told, err := p.cfg.Volume.read(rec.Run, stopFile, maxStop); err == nil && strings.TrimSpace(string(told)) == keepBest {
		return nil
	}
	if err := p.cfg.Volume.write(rec.Run, stopFile, []byte(keepBest+"\n")); err != nil {
		return err
	}
	p.say(rec, "Stopping early, as "+rec.StoppedBy+" asked; the best model so far is kept")
	return nil
}

// stoppedEarly begins the last word about a training that ended early because somebody asked for it.
func stoppedEarly(rec job.Record, r *results.Result) string {
	if rec.StoppedBy == "" || !r.Training.StoppedByHand() {
		return ""
	}
	return "Stopped early by " + rec.StoppedBy + ". "
}

// makeRun makes the folder of a run, into which its training will write, and removes what an earlier life of the run left there
// and a new one would take for its own: its end, and the request to stop.
func (v Volume) makeRun(run string) error {
	root, err := v.Run(run).MakeShared()
	if err != nil {
		return fmt.Errorf("make the run folder: %w", err)
	}
	defer func() { _ = root.Close() }()
	for _, name := range []string{stopFile, results.ResultFile, results.FailureFile} {
		if err := root.RemoveAll(name); err != nil {
			return fmt.Errorf("clear the run folder: %w", err)
		}
	}
	return nil
}

// letGo ends what may still run of a job on Ray: its attempt, and one before it that was given up. Its error says that Ray
// needs a moment; whatever else hinders is left to the operator, since the user waits for the last word.
func (p *Pipeline) letGo(ctx context.Context, rec job.Record) error {
	var faults error
	for _, doc := range [][]byte{rec.Stale, rec.Handle} {
		faults = errors.Join(faults, p.release(ctx, doc))
	}
	if rec.State == job.Staged && len(rec.Handle) == 0 && p.cfg.Extractors.Of(rec.Request).Kind != platform.Runs {
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
		p.log.Warn("clean up after the training", zap.String("run", rec.Run), zap.Error(faults))
	}
	return nil
}
