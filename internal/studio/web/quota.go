package web

import (
	"fmt"
	"net/http"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"
)

// maxCounted is how many people a Quota counts at once. The one who did nothing for the longest time is forgotten.
const maxCounted = 10_000

// Quota limits how often each person may do something. It is safe for concurrent use.
type Quota struct {
	perMinute int
	what      string
	counted   *lru.Cache[string, *rate.Limiter]
}

// NewQuota returns a quota that allows so many at once, and so many in a minute. what names them in its error: "changes".
func NewQuota(perMinute int, what string) *Quota {
	counted, err := lru.New[string, *rate.Limiter](maxCounted)
	if err != nil {
		panic(err) // the size is not positive
	}
	return &Quota{perMinute: perMinute, what: what, counted: counted}
}

// Take counts one, at this time, for a person, whose name is their e-mail address. Beyond the limit it returns a problem of status 429 that says when the next
// one is allowed, and counts nothing.
func (q *Quota) Take(person string, at time.Time) error {
	limiter := rate.NewLimiter(rate.Limit(float64(q.perMinute)/60), q.perMinute)
	if earlier, found, _ := q.counted.PeekOrAdd(person, limiter); found {
		limiter = earlier
		q.counted.Get(person) // used now
	}
	one := limiter.ReserveN(at, 1)
	wait := one.DelayFrom(at)
	if wait == 0 {
		return nil
	}
	one.CancelAt(at)
	return &Problem{
		Type: "too-many", Title: "Too many " + q.what, Status: http.StatusTooManyRequests,
		Detail: fmt.Sprintf("You may make %d %s in a minute.", q.perMinute, q.what), Do: "Wait a few seconds, then try again.", RetryAfter: wait,
	}
}
