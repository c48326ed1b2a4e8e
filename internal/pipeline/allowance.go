package pipeline

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// allowance spreads the jobs of users who bring very many of them: a bucket of tokens for each user, filled at a steady rate.
// A job that finds none is taken all the same, and begins when its token comes. Buckets are not kept over a restart; the
// times at which jobs begin are.
type allowance struct {
	perHour int

	mu      sync.Mutex
	buckets map[string]*rate.Limiter // by owner; full ones are as good as none
}

// newAllowance lets perHour jobs of a user begin at once and as many in each hour after that; 0 spreads nothing.
func newAllowance(perHour int) *allowance {
	return &allowance{perHour: perHour, buckets: map[string]*rate.Limiter{}}
}

// take takes a token of the owner; its delay says how long it is until that token comes. A token that is not needed can be
// given back by cancelling it.
func (a *allowance) take(owner string, now time.Time) *rate.Reservation {
	if a.perHour <= 0 {
		return rate.NewLimiter(rate.Inf, 0).ReserveN(now, 1)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	bucket := a.buckets[owner]
	if bucket == nil {
		a.dropFull(now)
		bucket = rate.NewLimiter(rate.Limit(float64(a.perHour)/time.Hour.Seconds()), a.perHour)
		a.buckets[owner] = bucket
	}
	return bucket.ReserveN(now, 1)
}

// dropFull forgets the users who brought nothing for long, so that the buckets do not grow with all who ever came.
func (a *allowance) dropFull(now time.Time) {
	for owner, bucket := range a.buckets {
		if bucket.TokensAt(now) >= float64(a.perHour) {
			delete(a.buckets, owner)
		}
	}
}
