package rayjob

import (
	"context"
	"sync"
	"time"
)

// Shared is an answer that all callers use together: it is fetched when somebody wants it and it is older than every,
// by one of those who want it, while the others wait. Errors are shared too, so that an unreachable cluster is not asked
// more often than a healthy one. It has no goroutine of its own.
type Shared[T any] struct {
	every time.Duration
	// fetch gets the answer before, or none.
	fetch func(ctx context.Context, before T) (T, error)

	mu     sync.Mutex
	flight chan struct{} // closed at the end of the fetch under way; nil while there is none
	at     time.Time     // end of the newest fetch
	value  T
	err    error
}

// NewShared returns an answer that nobody has asked for yet. An answer is kept for every; fetch gets the one before it.
func NewShared[T any](every time.Duration, fetch func(ctx context.Context, before T) (T, error)) *Shared[T] {
	return &Shared[T]{every: every, fetch: fetch}
}

// Forget makes the next Get fetch anew.
func (s *Shared[T]) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at = time.Time{}
}

// Get returns the answer, at most every old, or the error that came instead of it.
func (s *Shared[T]) Get(ctx context.Context) (T, error) {
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
func (s *Shared[T]) lead(ctx context.Context, flight chan struct{}, before T) (T, error) {
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
