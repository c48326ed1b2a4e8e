package login

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/studio/web"
)

const (
	// freshFor is how long an answer of Clowder about a person counts, and refusedFor how long a refusal does.
	freshFor   = time.Minute
	refusedFor = 10 * time.Second
	// staleFor is how long an answer counts for looking while Clowder does not answer.
	staleFor = time.Hour
	// askTime limits one question about a person. A page waits for it.
	askTime = 8 * time.Second
	// maxUsers and maxRoles limit what is kept of answers.
	maxUsers = 20_000
	maxRoles = 100_000
)

// cachedUser is somebody with a credential, and what Clowder said of them.
type cachedUser struct {
	name       string
	credential func(context.Context) (Credential, error)

	asking  sync.Mutex // held while Clowder is asked for the profile
	profile clowder.Profile
	asked   time.Time // when Clowder returned the profile
	refused error     // the last answer, if it was a refusal, at the time asked
}

// userCache are those who made requests in the last time. It is safe for concurrent use.
type userCache struct {
	clowder Clowder
	now     func() time.Time
	known   *lru.Cache[string, *cachedUser]
	roles   *lru.Cache[roleOf, *roleEntry]
	outage  outage
}

func newUserCache(c Clowder, now func() time.Time) (*userCache, error) {
	known, err := lru.New[string, *cachedUser](maxUsers)
	if err != nil {
		return nil, err
	}
	roles, err := lru.New[roleOf, *roleEntry](maxRoles)
	if err != nil {
		return nil, err
	}
	return &userCache{clowder: c, now: now, known: known, roles: roles}, nil
}

// visitor returns the person with a credential as the visitor of a request. An error with the status 401 says that Clowder refuses the credential.
func (u *userCache) visitor(ctx context.Context, name string, credential func(context.Context) (Credential, error)) (*web.Visitor, error) {
	who := &cachedUser{name: name, credential: credential}
	if earlier, found, _ := u.known.PeekOrAdd(name, who); found {
		who = earlier
		u.known.Get(name) // used now
	}
	c, err := credential(ctx)
	if err != nil {
		return nil, err
	}
	profile, err := u.profile(ctx, who, c)
	if err != nil {
		return nil, err
	}
	v := &web.Visitor{Email: profile.Email, Name: profile.Name(), CanSave: c.Token && !profile.ReadOnly, Session: name}
	return v, u.clowder.Lend(v, c)
}

// profile returns what Clowder says of a person, at most freshFor old, or older while Clowder does not answer.
func (u *userCache) profile(ctx context.Context, who *cachedUser, c Credential) (clowder.Profile, error) {
	who.asking.Lock()
	defer who.asking.Unlock()
	age := u.now().Sub(who.asked)
	switch {
	case who.refused != nil && age < refusedFor:
		return clowder.Profile{}, who.refused
	case who.refused == nil && !who.asked.IsZero() && age < freshFor:
		return who.profile, nil
	}
	profile, err := ask(ctx, func(ctx context.Context) (clowder.Profile, error) { return u.clowder.Profile(ctx, c) })
	u.outage.note(u.now(), err)
	switch {
	case err == nil:
		who.profile, who.asked, who.refused = profile, u.now(), nil
	case refusal(err):
		who.asked, who.refused = u.now(), err
	case who.refused == nil && !who.asked.IsZero() && age < staleFor:
		return who.profile, nil
	}
	return profile, err
}

// forget removes what is kept of a login.
func (u *userCache) forget(name string) { u.known.Remove(name) }

// ask limits the time of a question to Clowder. It does not end with the request of one visitor, since others can wait for the answer.
func ask[T any](ctx context.Context, question func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTime)
	defer cancel()
	return question(ctx)
}

// refusal reports whether Clowder answered, and said no.
func refusal(err error) bool {
	kind, _ := job.Classify(err)
	return err != nil && kind == job.KindPermanent
}

// unauthorized reports whether Clowder does not accept the credential.
func unauthorized(err error) bool {
	return clowder.StatusOf(err) == http.StatusUnauthorized || errors.Is(err, errEnded)
}

// outage is since when Clowder has not answered.
type outage struct {
	mu    sync.Mutex
	since time.Time
}

// note learns from the last answer.
func (o *outage) note(now time.Time, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case err == nil || refusal(err):
		o.since = time.Time{}
	case o.since.IsZero():
		o.since = now
	}
}

// start is when the outage began; the zero time: Clowder answers.
func (o *outage) start() time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.since
}
