package login

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/studio/web"
)

// register is an oracle that lends itself to visitors, and looks at the contexts in which it is asked for a profile.
type register struct {
	oracle
	profiles int
	limited  bool
}

func (r *register) Lend(*web.Visitor, Credential) error { return nil }

func (r *register) Profile(ctx context.Context, c Credential) (clowder.Profile, error) {
	r.profiles++
	_, r.limited = ctx.Deadline()
	if ctx.Err() != nil {
		return clowder.Profile{}, ctx.Err()
	}
	return r.oracle.Profile(ctx, c)
}

// known returns what is kept of people, and a request of Alice with a key.
func known(t *testing.T, r *register) (*userCache, func(context.Context) (*web.Visitor, error), *clock) {
	t.Helper()
	at := &clock{at: time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)}
	p, err := newUserCache(r, at.now)
	require.NoError(t, err)
	r.profile.Email = alice
	return p, func(ctx context.Context) (*web.Visitor, error) {
		return p.visitor(ctx, "alice", func(context.Context) (Credential, error) { return Credential{Secret: "k"}, nil })
	}, at
}

var (
	errKey  = job.Permanent(clowder.NewAnswerError(http.StatusUnauthorized, "no"))
	errLost = job.Retryable(errors.New("connection refused"))
)

func TestARefusalCountsForTenSeconds(t *testing.T) {
	t.Parallel()
	r := &register{oracle: oracle{err: errKey}}
	_, request, at := known(t, r)
	for range 3 {
		_, err := request(t.Context())
		require.True(t, unauthorized(err))
	}
	require.Equal(t, 1, r.profiles, "a script that tries again and again does not reach Clowder")
	r.err = nil
	at.pass(refusedFor - 1)
	_, err := request(t.Context())
	require.True(t, unauthorized(err))
	at.pass(1)
	v, err := request(t.Context())
	require.NoError(t, err)
	require.Equal(t, alice, v.Email)
}

func TestAnOutageLetsInWhomClowderKnewAnHourAgoAtMost(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before  error
		age     time.Duration
		welcome bool
	}{
		"a person of the last minute":         {nil, freshFor - 1, true},
		"a person of the last hour":           {nil, staleFor - 1, true},
		"a person of an hour ago":             {nil, staleFor, false},
		"a key that was refused":              {errKey, refusedFor, false},
		"somebody who came during the outage": {errLost, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &register{oracle: oracle{err: c.before}}
			p, request, at := known(t, r)
			_, _ = request(t.Context())
			r.err = errLost
			at.pass(c.age)
			_, err := request(t.Context())
			require.Equal(t, c.welcome, err == nil, err)
			require.False(t, unauthorized(err), "an outage refuses nobody for good")
			require.Equal(t, c.age >= freshFor || c.before != nil, !p.outage.start().IsZero())
		})
	}
}

func TestTheBeginningOfAnOutageIsKeptUntilClowderAnswers(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		answers []error
		want    time.Time
	}{
		"no answer at all":           {nil, time.Time{}},
		"the first failure counts":   {[]error{errLost, errLost}, noon},
		"an answer ends it":          {[]error{errLost, nil}, time.Time{}},
		"a refusal is an answer":     {[]error{errLost, errKey}, time.Time{}},
		"the next outage is another": {[]error{errLost, nil, errLost}, noon.Add(2 * time.Minute)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var o outage
			for i, err := range c.answers {
				o.note(noon.Add(time.Duration(i)*time.Minute), err)
			}
			require.Equal(t, c.want, o.start())
		})
	}
}

func TestAQuestionToClowderOutlivesTheRequestOfOneVisitor(t *testing.T) {
	t.Parallel()
	r := &register{}
	_, request, _ := known(t, r)
	gone, leave := context.WithCancel(t.Context())
	leave()
	v, err := request(gone)
	require.NoError(t, err, "others wait for the same answer")
	require.Equal(t, alice, v.Email)
	require.True(t, r.limited, "but only for some time")
}

func TestOnlyATokenOfSomebodyWhoMayWriteSaves(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		token, readOnly, want bool
	}{
		"a token": {true, false, true}, "a key": {false, false, false},
		"a token of a reader": {true, true, false}, "a key of a reader": {false, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, _, _ := known(t, &register{oracle: oracle{profile: clowder.Profile{ReadOnly: c.readOnly}}})
			v, err := p.visitor(t.Context(), "x", func(context.Context) (Credential, error) { return Credential{Token: c.token}, nil })
			require.NoError(t, err)
			require.Equal(t, c.want, v.CanSave)
		})
	}
}

func TestALoginThatHasEndedAsksClowderNothing(t *testing.T) {
	t.Parallel()
	r := &register{}
	p, request, _ := known(t, r)
	_, err := request(t.Context())
	require.NoError(t, err)
	_, err = p.visitor(t.Context(), "alice", func(context.Context) (Credential, error) { return Credential{}, errEnded })
	require.ErrorIs(t, err, errEnded, "although the profile is fresh")
	require.Equal(t, 1, r.profiles)
	p.forget("alice")
	_, err = request(t.Context())
	require.NoError(t, err)
	require.Equal(t, 2, r.profiles, "nothing is kept of a login that was forgotten")
}

func TestSomebodyWhoDoesNotComeInLearnsWhy(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err    error
		kind   string
		status int
		retry  bool
	}{
		"a problem stays as it is":   {fmt.Errorf("x: %w", web.NotFound), "not-found", 404, false},
		"a new account":              {fmt.Errorf("x: %w", clowder.ErrUnknownUser), "unknown-user", 403, false},
		"the key of an installation": {job.Permanent(fmt.Errorf("x: %w", clowder.ErrNobody)), "wrong-key", 403, false},
		"a refused credential":       {errKey, "login", 401, false},
		"a login that has ended":     {errEnded, "login", 401, false},
		"a login that was refused":   {fmt.Errorf("%w: the nonce differs", errRefused), "login", 401, false},
		"the login service is away":  {fmt.Errorf("%w: canary", errAway), "login-service", 503, true},
		"another refusal of Clowder": {job.Permanent(clowder.NewAnswerError(403, "Your account is locked")), "forbidden", 403, false},
		"Clowder is away":            {errLost, "clowder", 503, true},
		"Clowder breaks":             {job.Retryable(clowder.NewAnswerError(500, "canary")), "clowder", 503, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := failure(c.err, ended())
			require.Equal(t, []any{c.kind, c.status, c.retry}, []any{p.Type, p.Status, p.RetryAfter == retryAfter})
			require.NotContains(t, p.Error(), "canary")
			require.True(t, strings.HasSuffix(p.Error(), "."), p.Error())
		})
	}
}
