package pipeline

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/job"
)

// resume schedules the active jobs after a start: jobs that had started get their slots back, the others queue in their order. The first
// looks at jobs on Ray are spread out.
func (p *Pipeline) resume(ctx context.Context) error {
	found, now := 0, time.Now()
	type newcomer struct {
		run, owner string
		created    time.Time
	}
	var queued []newcomer
	err := p.store.Each(ctx, job.Query{Active: true}, func(rec job.Record) error {
		found++
		p.replies.Complete(&rec.Request, p.platform.Abilities(rec.Request))
		p.activeOf(rec).Add(rec.Run, rec.Owner)
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
			queued = append(queued, newcomer{rec.Run, rec.Owner, rec.Created})
		case rec.State != job.Accepted && p.activeOf(rec) == p.activeJobs:
			p.inProgress.Restore(rec.Run, rec.Owner)
		}
		return nil
	})
	for _, n := range queued {
		p.inProgress.Enter(n.run, n.owner, n.created)
	}
	if found > 0 {
		p.log.Info("resumed jobs", zap.Int("jobs", found))
	}
	return err
}

// late reports whether the start of the job is delayed because its user submitted very many.
func late(rec job.Record) bool {
	return rec.State == job.Accepted && rec.Failures == 0 && !rec.NotBefore.IsZero() && rec.CancelledBy == ""
}

// flushTimeout is how long queued first and terminal statuses may take to be sent when the service stops.
const flushTimeout = 5 * time.Second

// flushStatuses sends the queued first and terminal statuses, notes which first ones were sent, and closes the jobs whose terminal status was
// sent. The others are sent after the next start.
func (p *Pipeline) flushStatuses(ctx context.Context) {
	soon, cancel := context.WithTimeout(ctx, flushTimeout)
	defer cancel()
	p.reporter.Drain(soon)
	p.noteStarts(ctx, time.Now().Add(time.Second))
	for _, run := range p.reporter.Ended() {
		p.walk(ctx, run)
	}
}
