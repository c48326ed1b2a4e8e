package login

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"sync"
	"time"

	"golang.org/x/oauth2"

	"github.com/ncsa/clowder-ray/internal/job"
)

const (
	// idleLife is how long a login lasts without a request of a person, and wholeLife how long it lasts at most.
	idleLife  = 8 * time.Hour
	wholeLife = 12 * time.Hour
	// maxSessions limits the logins in memory, and maxSessionsOfUser those of one person. The one that was used longest ago gives way.
	maxSessions       = 10_000
	maxSessionsOfUser = 20
	// renewBefore is how long before its end an access token is replaced.
	renewBefore = 30 * time.Second
)

// errEnded is the error about a login that has ended.
var errEnded = errors.New("the login has ended")

// nameOf names a login by its secret and tells nothing of it.
func nameOf(secret string) string {
	sum := sha256.Sum256([]byte("clowder-ray login\x00" + secret))
	return hex.EncodeToString(sum[:16])
}

// session is one login at Keycloak.
type session struct {
	name    string
	email   string
	started time.Time
	used    time.Time // guarded by the mutex of sessions

	renewing sync.Mutex // held while tokens are renewed and read
	token    *oauth2.Token
}

// sessions are the logins at Keycloak. They are in memory only. It is safe for concurrent use.
type sessions struct {
	provider *provider
	now      func() time.Time

	mu   sync.Mutex
	held map[string]*session // by name
}

func newSessions(p *provider, now func() time.Time) *sessions {
	return &sessions{provider: p, now: now, held: map[string]*session{}}
}

// begin stores a login and returns its secret, which only the cookie of the browser has.
func (s *sessions) begin(email string, token *oauth2.Token) string {
	secret := rand.Text() + rand.Text()
	made := &session{name: nameOf(secret), email: email, started: s.now(), used: s.now(), token: token}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.makeRoom(email)
	s.held[made.name] = made
	return secret
}

// makeRoom removes ended logins where one of the limits is reached, and then the one that was used longest ago.
func (s *sessions) makeRoom(email string) {
	var all, own []*session
	for name, one := range s.held {
		if over(s.now(), one.started, one.used) {
			delete(s.held, name)
			continue
		}
		all = append(all, one)
		if one.email == email {
			own = append(own, one)
		}
	}
	oldest := func(list []*session) {
		first := slices.MinFunc(list, func(a, b *session) int { return a.used.Compare(b.used) })
		delete(s.held, first.name)
	}
	switch {
	case len(own) >= maxSessionsOfUser:
		oldest(own)
	case len(all) >= maxSessions:
		oldest(all)
	}
}

// find returns the login with a name. seen says that a person made a request, and not a script of an open page.
func (s *sessions) find(name string, seen bool) (*session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.held[name]
	if one == nil {
		return nil, errEnded
	}
	now := s.now()
	if over(now, one.started, one.used) {
		delete(s.held, name)
		return nil, errEnded
	}
	if seen {
		one.used = now
	}
	return one, nil
}

// over reports whether a login has ended.
func over(now, started, used time.Time) bool {
	return now.Sub(used) >= idleLife || now.Sub(started) >= wholeLife
}

// remove ends a login.
func (s *sessions) remove(name string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.held[name]
	delete(s.held, name)
	return one
}

// credential returns the access token of a login, which is renewed shortly before its end. The error is errEnded if Keycloak does not renew it.
func (s *sessions) credential(ctx context.Context, one *session) (Credential, error) {
	one.renewing.Lock()
	defer one.renewing.Unlock()
	left := one.token.Expiry.Sub(s.now())
	if left > renewBefore || one.token.Expiry.IsZero() {
		return Credential{Secret: job.Secret(one.token.AccessToken), Token: true}, nil
	}
	// A visitor who leaves must not cut off the answer: Keycloak may have replaced the refresh token.
	token, err := s.provider.renew(context.WithoutCancel(ctx), one.token)
	switch {
	case errors.Is(err, errRefused):
		s.remove(one.name)
		return Credential{}, errEnded
	case err != nil && left <= 0:
		return Credential{}, err
	case err == nil:
		one.token = token
	}
	return Credential{Secret: job.Secret(one.token.AccessToken), Token: true}, nil
}
