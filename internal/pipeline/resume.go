package pipeline

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/job"
)

// resume takes up the jobs that are not over: those that had begun are in hand again, the others line up in their order; those on
// Ray keep their places, and the first looks at them are spread over the time that looking at all of them takes.
func (p *Pipeline) resume(ctx context.Context) error {
	found, now := 0, time.Now()
	type newcomer struct {
		run, owner string
		created    time.Time
	}
	var line []newcomer
	err := p.store.Each(ctx, job.Query{Active: true}, func(rec job.Record) error {
		found++
		p.roster(rec).Add(rec.Run, rec.Owner)
		due := p.clock.here(rec.NotBefore)
		switch {
		case rec.State == job.Submitted, rec.State == job.Running:
			p.raySlots.Restore(rec.Run, rec.Owner)
			p.schedule.AddAt(rec.Run, now.Add(p.pace()))
		case late(rec) && due.After(now):
			p.schedule.AddAt(rec.Run, due)
			return nil
		default:
			p.schedule.Add(rec.Run)
		}
		switch {
		case p.needsSlot(rec):
			line = append(line, newcomer{rec.Run, rec.Owner, rec.Created})
		case rec.State != job.Accepted && p.roster(rec) == p.activeJobs:
			p.inProgress.Restore(rec.Run, rec.Owner)
		}
		return nil
	})
	for _, n := range line {
		p.inProgress.Enter(n.run, n.owner, n.created)
	}
	if found > 0 {
		p.log.Info("resumed jobs", zap.Int("jobs", found))
	}
	return err
}

// late reports whether the job has not begun because its user brought very many.
func late(rec job.Record) bool {
	return rec.State == job.Accepted && rec.Failures == 0 && !rec.NotBefore.IsZero() && rec.CancelledBy == ""
}

// flushTimeout is how long the first and the last statuses that are queued may take to go out when the service stops.
const flushTimeout = 5 * time.Second

// lastWords sends what must be told and closes the jobs whose end is told by then. What is still untold afterwards is told
// after the next start.
func (p *Pipeline) flushStatuses(ctx context.Context) {
	soon, cancel := context.WithTimeout(ctx, flushTimeout)
	defer cancel()
	p.reporter.Drain(soon)
	for _, run := range p.reporter.Ended() {
		p.walk(ctx, run)
	}
}
