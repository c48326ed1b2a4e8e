package jobsapi

import (
	"context"
	"sync"
	"time"
)

// shared is an answer that all callers use together: it is fetched when somebody wants it and it is older than every,
// by one of those who want it, while the others wait. Errors are shared too, so that an unreachable cluster is not asked
// more often than a healthy one. It has no goroutine of its own.
type shared[T any] struct {
	every time.Duration
	// fetch gets the answer before, or none.
	fetch func(ctx context.Context, before T) (T, error)

	mu     sync.Mutex
	flight chan struct{} // closed at the end of the fetch under way; nil while there is none
	at     time.Time     // end of the newest fetch
	value  T
	err    error
}

func newShared[T any](every time.Duration, fetch func(ctx context.Context, before T) (T, error)) *shared[T] {
	return &shared[T]{every: every, fetch: fetch}
}

// forget makes the next get fetch anew.
func (s *shared[T]) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at = time.Time{}
}

// get returns the answer, at most every old, or the error that came instead of it.
func (s *shared[T]) get(ctx context.Context) (T, error) {
	for {
		s.mu.Lock()
		if !s.at.IsZero() && time.Since(s.at) < s.every {
			defer s.mu.Unlock()
			return s.value, s.err
		}
		flight := s.flight
		if flight == nil {
			flight, before := make(chan struct{}), s.value
			s.flight = flight
			s.mu.Unlock()
			return s.lead(ctx, flight, before)
		}
		s.mu.Unlock()
		select {
		case <-flight:
		case <-ctx.Done():
			var none T
			return none, context.Cause(ctx)
		}
	}
}

// lead fetches for everybody. If its own caller gives up, what came is nobody's answer and another one fetches.
func (s *shared[T]) lead(ctx context.Context, flight chan struct{}, before T) (T, error) {
	value, err := s.fetch(ctx, before)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil || ctx.Err() == nil {
		s.value, s.err, s.at = value, err, time.Now()
	}
	s.flight = nil
	close(flight)
	return value, err
}
