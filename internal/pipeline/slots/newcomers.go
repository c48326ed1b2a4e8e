package slots

import (
	"time"

	"golang.org/x/time/rate"

	"github.com/ncsa/clowder-ray/internal/job"
)

const (
	// requestsAtOnce bounds the requests about other jobs that are taken ahead, jobsAtOnce the jobs beyond the free slots.
	requestsAtOnce = 8
	jobsAtOnce     = 8
)

// Free returns how many more jobs of a kind can be taken. While users are at their limit, messages are still taken, because messages of
// other users may be behind them in the queue; the order is then decided here. Requests about runs never wait for jobs, because they may
// cancel them.
func (s *Slots) Free(kind job.Work) int {
	if kind == job.Runs {
		return requestsAtOnce
	}
	inside, _ := s.InProgress.Size()
	free := s.jobs - inside
	if s.InProgress.Contended() {
		free = max(free, jobsAtOnce)
	}
	return free
}

// Waiting counts the jobs of a kind, or the requests, that a user has and that wait.
func (s *Slots) Waiting(kind job.Work, owner string) int {
	waiting := s.Active(kind).Count(owner)
	if kind != job.Runs {
		waiting -= s.InProgress.HeldBy(owner)
	}
	return waiting
}

// Token takes the token of a new job. Where it comes later, the job begins later.
func (s *Slots) Token(rec *job.Record) *rate.Reservation {
	now := time.Now()
	token := s.Active(rec.Kind).Limiter.Reserve(rec.Owner, now)
	if wait := token.DelayFrom(now); wait > 0 {
		rec.NotBefore = now.Add(wait).UTC()
	}
	return token
}
