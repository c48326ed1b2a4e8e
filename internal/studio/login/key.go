package login

import (
	"context"
	"crypto/rand"
	"net/http"
	"time"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/studio/web"
)

// The cookies: of a login at Keycloak, of one with a key, and of each attempt to log in at Keycloak, which has the beginning of its state behind
// the name.
const (
	sessionCookie = "ray"
	keyCookie     = "ray-key"
	attemptCookie = "ray-login-"
)

// keyLogin is a login with an API key, as it is sealed in a cookie. A Secret writes no text of itself, so the key is a string.
type keyLogin struct {
	Key     string    `json:"k"`
	ID      string    `json:"i"`
	Started time.Time `json:"s"`
	Used    time.Time `json:"u"`
}

// renewKeyAfter is how much of the time since the last request is not noted, so that not each answer sets a cookie.
const renewKeyAfter = 10 * time.Minute

// keyVisitor is the visitor who pasted a key. The time of the request is noted in a new cookie now and then.
func (a *Authenticator) keyVisitor(w http.ResponseWriter, r *http.Request, text string) (*web.Visitor, error) {
	var login keyLogin
	now := a.now()
	if !a.sealer.open(keyCookie, text, &login) || a.left.Contains(login.ID) || over(now, login.Started, login.Used) {
		return nil, errEnded
	}
	name := nameOf(login.ID)
	v, err := a.users.visitor(r.Context(), name, func(context.Context) (Credential, error) {
		if a.left.Contains(login.ID) || a.now().Sub(login.Started) >= wholeLife {
			return Credential{}, errEnded
		}
		return Credential{Secret: job.Secret(login.Key)}, nil
	})
	if err == nil && byPerson(r) && now.Sub(login.Used) >= renewKeyAfter {
		login.Used = now
		err = a.setKey(w, login)
	}
	return v, err
}

func (a *Authenticator) setKey(w http.ResponseWriter, login keyLogin) error {
	text, err := a.sealer.seal(keyCookie, login)
	if err != nil {
		return err
	}
	a.cookies.set(w, keyCookie, text, 0)
	return nil
}

// beginKey logs somebody in with a key that Clowder accepts.
func (a *Authenticator) beginKey(ctx context.Context, w http.ResponseWriter, key string) error {
	c := Credential{Secret: job.Secret(key)}
	id := rand.Text()
	if _, err := a.users.visitor(ctx, nameOf(id), func(context.Context) (Credential, error) { return c, nil }); err != nil {
		a.users.forget(nameOf(id))
		return err
	}
	return a.setKey(w, keyLogin{Key: key, ID: id, Started: a.now(), Used: a.now()})
}
