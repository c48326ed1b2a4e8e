package life

import (
	"fmt"
	"time"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/pipeline/clock"
	"github.com/ncsa/clowder-ray/internal/text"
)

// Keep keeps the record of a new job for its first look, which then reads nothing from the disk.
func (l *Loop) Keep(rec job.Record) { l.records.put(rec) }

// Has reports whether the loop works on a run, now or later.
func (l *Loop) Has(run string) bool { return l.cfg.Schedule.Has(run) }

// Begin schedules a job that is not scheduled yet, and tells its user if it starts later.
func (l *Loop) Begin(rec job.Record) {
	active := l.cfg.Slots.Active(rec.Kind)
	active.Add(rec.Run, rec.Owner)
	due := l.cfg.Clock.Here(rec.NotBefore)
	if clock.Late(rec) && due.After(time.Now()) {
		l.cfg.Schedule.AddAt(rec.Run, due)
		l.cfg.Statuses.Say(rec, fmt.Sprintf("You submitted more than %s within an hour: this one will start in %s",
			text.Count(active.Limiter.PerHour, active.Noun), text.About(time.Until(due))))
		return
	}
	if l.cfg.Slots.Needs(rec) {
		l.cfg.Slots.Join(rec)
	}
	l.cfg.Schedule.Add(rec.Run)
}

// Delay schedules a job for the time at which its record says that it may begin, in place of an earlier time.
func (l *Loop) Delay(rec job.Record) { l.cfg.Schedule.AddAt(rec.Run, l.cfg.Clock.Here(rec.NotBefore)) }
