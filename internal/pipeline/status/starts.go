package status

import (
	"sync"
	"time"
)

// starts are the first statuses that are confirmed and not yet in the record of their job. The next change of the record writes that too, so
// that it costs no write of its own. The zero value is ready to use, and safe for concurrent use.
type starts struct {
	mu   sync.Mutex
	sent map[string]time.Time // by run; zero until the status is confirmed
}

// expect says that the first status of run may wait for the next change of the record.
func (s *starts) expect(run string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sent == nil {
		s.sent = map[string]time.Time{}
	}
	s.sent[run] = time.Time{}
}

// confirm reports whether the next change of the record takes the news that the first status of run was sent.
func (s *starts) confirm(run string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, waits := s.sent[run]
	if waits {
		s.sent[run] = now
	}
	return waits
}

// confirmed returns when the first status of run was confirmed. It is zero if it was not, or if the record of the job says so by now.
func (s *starts) confirmed(run string) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sent[run]
}

// before lists the runs whose first status was sent before a time.
func (s *starts) before(then time.Time) (runs []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for run, at := range s.sent {
		if !at.IsZero() && at.Before(then) {
			runs = append(runs, run)
		}
	}
	return runs
}

// forget drops a run whose record says that the first status was sent, or that is over.
func (s *starts) forget(run string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sent, run)
}
