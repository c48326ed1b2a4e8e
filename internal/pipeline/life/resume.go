package life

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/pipeline/clock"
	"github.com/ncsa/clowder-ray/internal/pipeline/slots"
)

// Resume schedules the active jobs after a start: jobs that had started get their slots back, the others queue in their order. The first
// looks at jobs on Ray are spread out.
func (l *Loop) Resume(ctx context.Context) error {
	count, now := 0, time.Now()
	var queued []job.Record // without what would take memory for each of very many
	err := l.cfg.Store.Each(ctx, job.Query{Active: true}, func(rec job.Record) error {
		count++
		l.cfg.Resume(&rec.Request)
		due := l.cfg.Clock.Here(rec.NotBefore)
		if clock.Late(rec) && due.After(now) {
			l.cfg.Slots.Active(rec.Kind).Add(rec.Run, rec.Owner)
			l.cfg.Schedule.AddAt(rec.Run, due)
			return nil
		}
		if waits := l.cfg.Slots.Restore(rec); waits {
			queued = append(queued, job.Record{Run: rec.Run, Owner: rec.Owner, Created: rec.Created})
		}
		if slots.OnRay(rec) {
			l.cfg.Schedule.AddAt(rec.Run, now.Add(l.cfg.Slots.Pace()))
		} else {
			l.cfg.Schedule.Add(rec.Run)
		}
		return nil
	})
	for _, rec := range queued {
		l.cfg.Slots.Join(rec)
	}
	if count > 0 {
		l.cfg.Log.Info("resumed jobs", zap.Int("jobs", count))
	}
	return err
}

// flushTimeout is how long queued first and terminal statuses may take to be sent when the service stops.
const flushTimeout = 5 * time.Second

// Flush sends the queued first and terminal statuses, notes which first ones were sent, and closes the jobs whose terminal status was
// sent. The others are sent after the next start.
func (l *Loop) Flush(ctx context.Context) {
	soon, cancel := context.WithTimeout(ctx, flushTimeout)
	defer cancel()
	l.cfg.Statuses.Drain(soon)
	l.cfg.Statuses.NoteStarts(ctx)
	for _, run := range l.cfg.Statuses.Ended() {
		l.walk(ctx, run)
	}
}
