package login

import (
	"context"
	"crypto/rand"
	"net/http"
	"time"

	"go.uber.org/zap"
	"golang.org/x/oauth2"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/studio/web"
)

const (
	// attemptLife is how long a visitor may take at the login form of Keycloak.
	attemptLife = 10 * time.Minute
	// maxAttempts is how many tabs of a browser may be at that form.
	maxAttempts = 5
	// stateMark is how much of the state is in the name of the cookie, so that each tab has its own.
	stateMark = 8
)

// startOIDC sends a visitor to Keycloak.
func (d *Door) startOIDC(w http.ResponseWriter, r *http.Request) {
	a := attempt{
		State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), Back: safeBack(r.URL.Query().Get("back")), At: d.now(),
	}
	to, err := d.provider.start(r.Context(), a)
	if err == nil {
		var text string
		if text, err = d.sealer.seal(attemptCookie, a); err == nil {
			if begun := d.attempts(r); len(begun) >= maxAttempts {
				for _, name := range begun {
					d.cookies.remove(w, name)
				}
			}
			d.cookies.set(w, attemptCookie+a.State[:stateMark], text, attemptLife)
			http.Redirect(w, r, to, http.StatusSeeOther)
			return
		}
	}
	d.log.Warn("the login service cannot be asked", zap.Error(err))
	d.show(w, r, http.StatusBadGateway, loginView{Back: a.Back, Problem: failure(err, refusedProblem())})
}

// finishOIDC takes the visitor back from Keycloak.
func (d *Door) finishOIDC(w http.ResponseWriter, r *http.Request) {
	answer := r.URL.Query()
	a, found := d.attemptOf(w, r, answer.Get("state"))
	if !found {
		d.show(w, r, http.StatusBadRequest, loginView{Problem: &web.Problem{
			Type: "login", Title: "This login cannot go on", Detail: "It took longer than ten minutes, or it was begun in another browser.", Do: "Log in again.",
		}})
		return
	}
	token, err := d.provider.finish(r.Context(), a, answer)
	if err == nil {
		err = d.beginOIDC(r.Context(), w, token)
	}
	if err != nil {
		p := failure(err, refusedProblem())
		d.log.Info("a login at the login service failed", zap.Error(err))
		d.show(w, r, p.Status, loginView{Back: a.Back, Problem: p, End: d.provider.endPage(r.Context())})
		return
	}
	d.log.Info("a visitor logged in", zap.String("with", string(ByOIDC)))
	d.lead(w, r, a.Back)
}

// attemptOf returns the attempt that the cookie for a state holds, and removes the cookie: an attempt counts once.
func (d *Door) attemptOf(w http.ResponseWriter, r *http.Request, state string) (attempt, bool) {
	var a attempt
	if len(state) < stateMark || !plain(state) {
		return a, false
	}
	name := attemptCookie + state[:stateMark]
	text := d.cookies.get(r, name)
	if text == "" {
		return a, false
	}
	d.cookies.remove(w, name)
	return a, d.sealer.open(attemptCookie, text, &a) && d.now().Sub(a.At) < attemptLife
}

// beginOIDC logs somebody in whom Clowder knows.
func (d *Door) beginOIDC(ctx context.Context, w http.ResponseWriter, token *oauth2.Token) error {
	profile, err := ask(ctx, func(ctx context.Context) (clowder.Profile, error) {
		return d.people.clowder.Profile(ctx, Credential{Secret: job.Secret(token.AccessToken), Token: true})
	})
	d.people.outage.note(d.now(), err)
	if err != nil {
		return err
	}
	d.cookies.set(w, sessionCookie, d.sessions.begin(profile.Email, token), 0)
	return nil
}

func refusedProblem() *web.Problem {
	return &web.Problem{
		Type: "login", Title: "You are not logged in", Status: http.StatusForbidden, Detail: "The login service of Clowder did not confirm the login.", Do: "Log in again.",
	}
}
