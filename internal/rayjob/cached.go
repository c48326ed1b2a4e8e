package rayjob

import (
	"context"
	"sync"
	"time"
)

// fetchShare is how many times as long as a fetch took its value is kept at least.
const fetchShare = 9

// Cached is a value that all callers share. A caller that finds it older than maxAge fetches it, while the others wait.
// Errors are cached too, so that an unreachable cluster gets no more requests than a healthy one. It has no goroutine of
// its own.
type Cached[T any] struct {
	maxAge time.Duration
	// fetch gets the previous value, or the zero value.
	fetch func(ctx context.Context, before T) (T, error)

	mu     sync.Mutex
	flight chan struct{} // closed at the end of the running fetch; nil if none is running
	at     time.Time     // the end of the newest fetch
	took   time.Duration // the newest fetch
	value  T
	err    error
}

// NewCached returns an empty cache. A value is kept for maxAge; fetch gets the previous one.
func NewCached[T any](maxAge time.Duration, fetch func(ctx context.Context, before T) (T, error)) *Cached[T] {
	return &Cached[T]{maxAge: maxAge, fetch: fetch}
}

// Forget makes the next Get fetch a new value.
func (s *Cached[T]) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at = time.Time{}
}

// Get returns the value, which is at most as old as NewCached allows, or the error of the newest fetch.
func (s *Cached[T]) Get(ctx context.Context) (T, error) { return s.Younger(ctx, s.maxAge) }

// Younger does so for a value that is at most maxAge old. But the fetches that Get would not make take a tenth of the time at most, and an
// error is kept as long as for Get.
func (s *Cached[T]) Younger(ctx context.Context, maxAge time.Duration) (T, error) {
	for {
		s.mu.Lock()
		if !s.at.IsZero() && time.Since(s.at) < s.kept(maxAge) {
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

// kept returns how long the value is kept for a caller that wants one of at most maxAge. The caller holds the lock.
func (s *Cached[T]) kept(maxAge time.Duration) time.Duration {
	if s.err != nil {
		return s.maxAge
	}
	return min(s.maxAge, max(maxAge, fetchShare*s.took))
}

// lead fetches for all callers. If its own caller gives up, the result is dropped and another caller fetches.
func (s *Cached[T]) lead(ctx context.Context, flight chan struct{}, before T) (T, error) {
	began := time.Now()
	value, err := s.fetch(ctx, before)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil || ctx.Err() == nil {
		s.value, s.err, s.at, s.took = value, err, time.Now(), time.Since(began)
	}
	s.flight = nil
	close(flight)
	return value, err
}
