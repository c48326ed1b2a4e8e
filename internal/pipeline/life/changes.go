package life

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/job"
)

// rescan is how soon a change by another process, such as a cancellation on the command line, is seen.
const rescan = time.Second

// LookForChanges wakes the jobs that another process changed, until ctx ends.
func (l *Loop) LookForChanges(ctx context.Context) {
	ticker := time.NewTicker(rescan)
	defer ticker.Stop()
	// Nothing falls between the start and the first look. As other processes write it, a time is of the wall clock alone.
	seen := l.cfg.Clock.Wall().Add(-rescan).Round(0)
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		l.cfg.Statuses.NoteOldStarts(ctx)
		if now := l.cfg.Clock.Wall(); now.Before(seen) { // it was set back, and changes are older than those seen before
			seen = now.Add(-2 * rescan)
		}
		changed, err := l.cfg.Store.List(ctx, job.Query{Active: true, ChangedAfter: seen})
		if err != nil {
			l.cfg.Log.Warn("look for changed jobs", zap.Error(err))
			continue
		}
		for _, rec := range changed {
			l.records.drop(rec)
			if rec.CancelledBy != "" || !l.cfg.Schedule.Has(rec.Run) {
				l.interrupts.cut(rec)
				l.cfg.Schedule.Add(rec.Run)
			}
			if rec.Updated.After(seen) {
				seen = rec.Updated
			}
		}
	}
}
