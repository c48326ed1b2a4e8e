package admission

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Limiter limits how many jobs of one user begin in an hour, with a token bucket for each user. A job that finds no token is not
// refused: it begins when its token comes. Buckets are lost at a restart; the times at which jobs begin are kept in their records.
type Limiter struct {
	// PerHour is the size of a bucket, and how many tokens it gets in an hour; 0 limits nothing.
	PerHour int

	mu      sync.Mutex
	buckets map[string]*rate.Limiter // by owner; a full bucket need not be kept
}

// NewLimiter returns a limiter that allows perHour jobs of a user at once and as many in each hour after that; 0 limits nothing.
func NewLimiter(perHour int) *Limiter {
	return &Limiter{PerHour: perHour, buckets: map[string]*rate.Limiter{}}
}

// Reserve takes a token of the owner. The delay of the reservation is the time until that token comes; cancelling the reservation
// gives the token back.
func (l *Limiter) Reserve(owner string, now time.Time) *rate.Reservation {
	if l.PerHour <= 0 {
		return rate.NewLimiter(rate.Inf, 0).ReserveN(now, 1)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	bucket := l.buckets[owner]
	if bucket == nil {
		l.dropFull(now)
		bucket = rate.NewLimiter(rate.Limit(float64(l.PerHour)/time.Hour.Seconds()), l.PerHour)
		l.buckets[owner] = bucket
	}
	return bucket.ReserveN(now, 1)
}

// dropFull drops full buckets, so that their number does not grow with all users that ever were.
func (l *Limiter) dropFull(now time.Time) {
	for owner, bucket := range l.buckets {
		if bucket.TokensAt(now) >= float64(l.PerHour) {
			delete(l.buckets, owner)
		}
	}
}
