package login

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/studio/web"
)

const dataset = "0123456789abcdef01234567"

// oracle is a Clowder whose answers a test chooses.
type oracle struct {
	Clowder
	asked   atomic.Int32
	role    clowder.Role
	profile clowder.Profile
	err     error
}

func (o *oracle) Profile(context.Context, Credential) (clowder.Profile, error) {
	return o.profile, o.err
}

func (o *oracle) Role(context.Context, Credential, string) (clowder.Role, error) {
	o.asked.Add(1)
	return o.role, o.err
}

// rights returns a login that asks an oracle, and Alice as its visitor.
func rights(t *testing.T, o *oracle) (*Authenticator, *web.Visitor, *clock) {
	t.Helper()
	at := &clock{at: time.Now()}
	known, err := newUserCache(o, at.now)
	require.NoError(t, err)
	o.profile.Email = alice
	known.known.Add("alice", &cachedUser{name: "alice", credential: func(context.Context) (Credential, error) { return Credential{Secret: "k"}, nil }})
	return &Authenticator{users: known}, &web.Visitor{Session: "alice"}, at
}

func TestARoleIsAskedAgainAfterAMinute(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		role clowder.Role
		life time.Duration
	}{"a role counts for a minute": {clowder.RoleEditor, time.Minute}, "no role counts for ten seconds": {clowder.NoRole, 10 * time.Second}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := &oracle{role: c.role}
			d, v, at := rights(t, o)
			var all sync.WaitGroup
			for range 20 {
				all.Go(func() {
					role, err := d.Role(t.Context(), v, dataset)
					if err != nil || role != c.role {
						t.Errorf("got %q, %v", role, err)
					}
				})
			}
			all.Wait()
			require.EqualValues(t, 1, o.asked.Load(), "twenty requests at once are one question")
			at.pass(c.life - time.Second)
			_, _ = d.Role(t.Context(), v, dataset)
			require.EqualValues(t, 1, o.asked.Load())
			at.pass(time.Second)
			o.role = clowder.RoleOwner
			role, err := d.Role(t.Context(), v, dataset)
			require.NoError(t, err)
			require.Equal(t, clowder.RoleOwner, role)
		})
	}
}

func TestWhileClowderDoesNotAnswerPeopleMayLook(t *testing.T) {
	t.Parallel()
	o := &oracle{role: clowder.RoleOwner}
	d, v, at := rights(t, o)
	_, err := d.Role(t.Context(), v, dataset)
	require.NoError(t, err)
	require.Zero(t, d.users.outage.start())

	o.err = job.Retryable(errors.New("connection refused"))
	at.pass(2 * time.Minute)
	role, err := d.Role(t.Context(), v, dataset)
	require.NoError(t, err)
	require.Equal(t, clowder.RoleViewer, role, "changes wait")
	require.Equal(t, at.now(), d.users.outage.start())
	_, err = d.Role(t.Context(), v, strings.Repeat("f", 24))
	require.Error(t, err, "nothing is known of another dataset")
	at.pass(staleFor)
	_, err = d.Role(t.Context(), v, dataset)
	require.Error(t, err, "what Clowder said is too old")

	o.err = nil
	role, err = d.Role(t.Context(), v, dataset)
	require.NoError(t, err)
	require.Equal(t, clowder.RoleOwner, role)
	require.Zero(t, d.users.outage.start())
}

func TestARoleIsNoMoreThanThePersonMayDo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		o       *oracle
		dataset string
		visitor string
		want    clowder.Role
		status  int
	}{
		"an owner":                           {&oracle{role: clowder.RoleOwner}, dataset, "alice", clowder.RoleOwner, 0},
		"an owner who may read only":         {&oracle{role: clowder.RoleOwner, profile: clowder.Profile{ReadOnly: true}}, dataset, "alice", clowder.RoleViewer, 0},
		"nobody who may read only":           {&oracle{profile: clowder.Profile{ReadOnly: true}}, dataset, "alice", clowder.NoRole, 0},
		"an id that is none":                 {&oracle{role: clowder.RoleOwner}, "../../users", "alice", clowder.NoRole, 0},
		"a login that is not there any more": {&oracle{role: clowder.RoleOwner}, dataset, "bob", clowder.NoRole, 401},
		"a key that was deleted":             {&oracle{err: job.Permanent(clowder.NewAnswerError(401, "no"))}, dataset, "alice", clowder.NoRole, 401},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, _, _ := rights(t, c.o)
			role, err := d.Role(t.Context(), &web.Visitor{Session: c.visitor}, c.dataset)
			require.Equal(t, c.want, role)
			if c.status == 0 {
				require.NoError(t, err)
				return
			}
			require.Error(t, err)
			require.Equal(t, c.status, web.AsProblem(err).Status)
		})
	}
}

func TestUnknownAndForbiddenDatasetsLookTheSame(t *testing.T) {
	t.Parallel()
	for _, version := range []int{2, 1} {
		p := build(t, setup{version: version})
		private := p.clowder.AddDataset(alice, "private")
		answers := map[string]error{}
		for _, id := range []string{private, dataset} {
			c := Credential{Secret: job.Secret(p.clowder.Key(bob))}
			v, err := p.login.plainVisitor(t.Context(), c)
			require.NoError(t, err)
			_, answers[id] = web.CheckRole(web.WithVisitor(t.Context(), v), p.login, id, clowder.RoleViewer)
		}
		require.Equal(t, web.NotFound, answers[private], version)
		require.Equal(t, answers[private], answers[dataset], version)
	}
}

func TestAPageSaysThatClowderDoesNotAnswer(t *testing.T) {
	t.Parallel()
	p := build(t, setup{ways: []Method{ByKey}})
	b := p.browser(t)
	b.loginWithKey(p, p.clowder.Key(alice), "/")
	require.NoError(t, p.clowder.Close())
	p.clock.pass(2 * time.Minute)
	require.Equal(t, "alice X sees /, save false", b.get(p.url+"/").body, "who was known is let in")
	shown := p.browser(t).loginWithKey(p, "another-key", "/")
	require.Equal(t, http.StatusServiceUnavailable, shown.status)
	require.Contains(t, shown.body, "Clowder does not answer since")
	shown = p.browser(t).get(p.url+"/api/v1/me", "X-API-KEY", "another-key")
	require.Equal(t, "30", shown.header.Get("Retry-After"))
	require.Contains(t, shown.body, `"type":"clowder"`)
}

func TestAStreamEndsWithItsLogin(t *testing.T) {
	t.Parallel()
	p := build(t, setup{})
	b := p.browser(t)
	b.login(p, "/", alice)
	id := p.clowder.AddDataset(alice, "Reviews")
	var v *web.Visitor
	for name := range p.login.sessions.held {
		v = &web.Visitor{Session: name}
	}
	role, err := p.login.Role(t.Context(), v, id)
	require.NoError(t, err)
	require.Equal(t, clowder.RoleOwner, role)
	for range 12 { // the tokens are renewed although no request comes
		p.clock.pass(30 * time.Minute)
		_, err = p.login.Role(t.Context(), v, id)
		require.NoError(t, err)
	}
	p.clock.pass(2 * time.Hour)
	_, err = p.login.Role(t.Context(), v, id)
	require.Equal(t, http.StatusUnauthorized, web.AsProblem(err).Status)
}
