package attempt

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/rayjob"
)

// orphansEvery is the time between two searches for attempts on Ray that no job needs. The first search is at the start, because most
// of them are left by a service that was killed.
const orphansEvery = 10 * time.Minute

// LookForOrphans releases the attempts on Ray that no record knows any more, where the backend can list its own.
func (r *Releaser) LookForOrphans(ctx context.Context) {
	lister, can := r.Backend.(rayjob.Lister)
	if !can {
		return
	}
	ticker := time.NewTicker(orphansEvery)
	defer ticker.Stop()
	for {
		if err := r.releaseOrphans(ctx, lister); err != nil && ctx.Err() == nil {
			r.Log.Warn("look for orphaned trainings on Ray", zap.Error(err))
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// releaseOrphans is one search. What cannot be released now is found again the next time.
func (r *Releaser) releaseOrphans(ctx context.Context, lister rayjob.Lister) error {
	handles, err := lister.List(ctx)
	if err != nil {
		return err
	}
	var faults []error
	for _, h := range handles {
		orphan, err := r.isOrphan(ctx, h)
		if err == nil && orphan {
			if err = r.Backend.Release(ctx, h); err == nil {
				r.Orphaned()
				r.Log.Warn("released an orphaned training on Ray", zap.String("ray_job", h.ID))
			}
		}
		faults = append(faults, err)
	}
	return errors.Join(faults...)
}

// isOrphan reports whether no record needs the attempt: its job is over or unknown, or runs a later attempt. The present attempt may be
// on Ray before the record says so, and a stale attempt is released by the next submission.
func (r *Releaser) isOrphan(ctx context.Context, h rayjob.Handle) (bool, error) {
	run, ok := rayjob.RunOf(h.ID)
	if !ok {
		return false, nil
	}
	rec, err := r.Records.Get(ctx, run)
	switch {
	case errors.Is(err, job.ErrNotFound):
		return true, nil
	case err != nil:
		return false, err
	case !rec.Active():
		return true, nil
	}
	return h.ID != name(rec) && !isAttempt(rec.Stale, h.ID) && !isAttempt(rec.Handle, h.ID), nil
}

// isAttempt reports whether the handle of a record, which may be nil, is that of the attempt with this id.
func isAttempt(h *rayjob.Handle, id string) bool { return h != nil && h.ID == id }
