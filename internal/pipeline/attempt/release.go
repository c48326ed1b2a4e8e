package attempt

import (
	"context"
	"errors"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/rayjob"
)

// Records reads records.
type Records interface {
	Get(ctx context.Context, run string) (job.Record, error)
}

// Releaser ends attempts and frees what Ray keeps for them.
type Releaser struct {
	Backend rayjob.Backend
	Records Records
	// Orphaned is called for each attempt that was released because no record needed it.
	Orphaned func()
	Log      *zap.Logger
}

// name is the name of the present attempt of a job on Ray.
func name(rec job.Record) string { return rayjob.Attempt{Run: rec.Run, Number: rec.Attempt}.Name() }

// ReleaseAll releases what may still run of a job on Ray: its attempt, and an earlier stale one. It returns an error only if Ray
// needs a moment. Other errors are logged, because the user waits for the terminal status.
func (r *Releaser) ReleaseAll(ctx context.Context, rec job.Record) error {
	var faults error
	for _, h := range []*rayjob.Handle{rec.Stale, rec.Handle} {
		faults = errors.Join(faults, r.release(ctx, h))
	}
	if rec.State == job.Staged && rec.Handle == nil && rec.Kind != job.Runs {
		// A kill may have come between the submission and its record.
		faults = errors.Join(faults, r.Backend.Release(ctx, rayjob.Handle{ID: name(rec)}))
	}
	if ctx.Err() != nil {
		return context.Cause(ctx) // whatever Ray said, the next start does it again
	}
	_, setting := errors.AsType[*rayjob.SettingError](faults)
	if kind, _ := job.Classify(faults); kind == job.KindLater && !setting {
		return faults
	}
	if faults != nil {
		r.Log.Warn("release the training on Ray", zap.String("run", rec.Run), zap.Error(faults))
	}
	return nil
}

// release stops an attempt, if it still runs, and frees what Ray keeps for it.
func (r *Releaser) release(ctx context.Context, h *rayjob.Handle) error {
	if h == nil {
		return nil
	}
	return r.Backend.Release(ctx, *h)
}
