package runs

import (
	"sync"
	"time"
)

const (
	// sentAge is how long a submission is remembered: longer than a message waits in a queue that is not full.
	sentAge = time.Hour
	maxSent = 10_000
)

// submissions remembers what visitors have sent to Clowder, until the message has arrived, and lets a double click start one run.
type submissions struct {
	mu   sync.Mutex
	runs map[string]Sent
	// keys are by session and Idempotency-Key.
	keys map[sentKey]*once
}

type sentKey struct{ session, key string }

// Sent is a run that was sent to Clowder.
type Sent struct {
	Run   string `json:"run"`
	JobID string `json:"job_id"`
	// Dataset and By are for those who may see it before the service has heard of it.
	Dataset Dataset   `json:"dataset"`
	Kind    string    `json:"kind"`
	Noun    string    `json:"-"`
	By      string    `json:"-"`
	At      time.Time `json:"-"`
}

// once is a submission that is made once.
type once struct {
	sync.Mutex
	made bool
	sent Sent
	at   time.Time
}

func newSubmissions() *submissions {
	return &submissions{runs: map[string]Sent{}, keys: map[sentKey]*once{}}
}

// make makes a submission, or returns the one that was made with this key before. A submission that failed is made again.
func (s *submissions) make(session, key string, now time.Time, submit func() (Sent, error)) (Sent, error) {
	s.mu.Lock()
	s.trim(now)
	if key == "" {
		s.mu.Unlock()
		return s.note(submit())
	}
	o := s.keys[sentKey{session, key}]
	if o == nil {
		o = &once{at: now}
		s.keys[sentKey{session, key}] = o
	}
	s.mu.Unlock()
	o.Lock()
	defer o.Unlock()
	if o.made {
		return o.sent, nil
	}
	sent, err := s.note(submit())
	if err == nil {
		o.made, o.sent = true, sent
	}
	return sent, err
}

func (s *submissions) note(sent Sent, err error) (Sent, error) {
	if err != nil {
		return Sent{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runs[sent.Run] = sent
	return sent, nil
}

// of returns a submission that may still be on its way.
func (s *submissions) of(run string, now time.Time) (Sent, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sent, ok := s.runs[run]
	return sent, ok && now.Sub(sent.At) < sentAge
}

// trim forgets what is old, and anything where there is too much.
func (s *submissions) trim(now time.Time) {
	for run, sent := range s.runs {
		if now.Sub(sent.At) >= sentAge || len(s.runs) >= maxSent {
			delete(s.runs, run)
		}
	}
	for key, o := range s.keys {
		if now.Sub(o.at) >= sentAge || len(s.keys) >= maxSent {
			delete(s.keys, key)
		}
	}
}
