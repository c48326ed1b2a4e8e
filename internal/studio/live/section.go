package live

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/studio/web"
)

// Access answers which runs a visitor may see.
type Access interface {
	// See returns the record of a run that the visitor of ctx may see, or web.NotFound.
	See(ctx context.Context, run string) (job.Record, error)
}

// Section is the part of the studio about runs that go on. It is safe for concurrent use.
type Section struct {
	site   *web.Site
	hub    *Hub
	runs   Runs
	access Access
	cards  Cards
}

// New returns the section. The caller closes the hub.
func New(site *web.Site, hub *Hub, runs Runs, access Access, cards Cards) *Section {
	return &Section{site: site, hub: hub, runs: runs, access: access, cards: cards}
}

// Routes adds nothing: what this section shows stands in the page of a run.
func (s *Section) Routes(*http.ServeMux) {}

const (
	// heartbeat keeps proxies from closing a stream, whose limit is often a minute. recheck is how many of them pass until the rights are
	// asked again.
	heartbeat = 15 * time.Second
	recheck   = 4
	// writeTime is how long one write to a viewer may take.
	writeTime = 10 * time.Second
)

// The problems of streams.
var (
	busy = &web.Problem{
		Type: "busy", Title: "Too many viewers", Status: http.StatusServiceUnavailable,
		Detail: "Too many people look at runs now.", Do: "The page asks again from time to time.", RetryAfter: retryAfter,
	}
	tooMany = &web.Problem{
		Type: "too-many-streams", Title: "Too many open pages", Status: http.StatusTooManyRequests,
		Detail: "You have too many pages of runs open at once.", Do: "Close some of them.", RetryAfter: retryAfter,
	}
	stopping = &web.Problem{
		Type: "stopping", Title: "The service restarts", Status: http.StatusServiceUnavailable,
		Detail: "The service is about to restart.", Do: "Try again in some seconds.", RetryAfter: retryAfter,
	}
)

// retryAfter is when a client that was refused comes back.
const retryAfter = 10 * time.Second

// problem turns an error of the hub into one that a visitor reads.
func problem(err error) *web.Problem {
	switch {
	case errors.Is(err, errBusy):
		return busy
	case errors.Is(err, errTooMany):
		return tooMany
	case errors.Is(err, errStopping):
		return stopping
	}
	return web.AsProblem(err)
}

// noLonger says why a stream ends for a visitor.
func noLonger(err error) (text string, ends bool) {
	switch p := web.AsProblem(err); {
	case err == nil, p.Status >= http.StatusInternalServerError:
		return "", false // Clowder does not answer now: what was allowed a minute ago stays allowed
	case errors.Is(err, web.NotFound), p.Status == http.StatusForbidden:
		return "You may no longer see this dataset.", true
	default:
		return "", true // the login has ended: the page comes back with a new one, or not at all
	}
}

// userOf names the visitor for the limit of streams.
func userOf(ctx context.Context) string {
	v := web.VisitorOf(ctx)
	return cmp.Or(v.Email, v.Session)
}
