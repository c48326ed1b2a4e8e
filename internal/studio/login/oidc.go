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
func (a *Authenticator) startOIDC(w http.ResponseWriter, r *http.Request) {
	begun := attempt{
		State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), Back: safeBack(r.URL.Query().Get("back")), At: a.now(),
	}
	to, err := a.provider.start(r.Context(), begun)
	if err == nil {
		var text string
		if text, err = a.sealer.seal(attemptCookie, begun); err == nil {
			if old := a.attempts(r); len(old) >= maxAttempts {
				for _, name := range old {
					a.cookies.remove(w, name)
				}
			}
			a.cookies.set(w, attemptCookie+begun.State[:stateMark], text, attemptLife)
			http.Redirect(w, r, to, http.StatusSeeOther)
			return
		}
	}
	a.log.Warn("the login service cannot be asked", zap.Error(err))
	a.show(w, r, http.StatusBadGateway, loginView{Back: begun.Back, Problem: failure(err, refusedProblem())})
}

// finishOIDC takes the visitor back from Keycloak.
func (a *Authenticator) finishOIDC(w http.ResponseWriter, r *http.Request) {
	answer := r.URL.Query()
	begun, found := a.attemptOf(w, r, answer.Get("state"))
	if !found {
		a.show(w, r, http.StatusBadRequest, loginView{Problem: &web.Problem{
			Type: "login", Title: "This login cannot go on", Detail: "It took longer than ten minutes, or it was begun in another browser.", Do: "Log in again.",
		}})
		return
	}
	token, err := a.provider.finish(r.Context(), begun, answer)
	if err == nil {
		err = a.beginOIDC(r.Context(), w, token)
	}
	if err != nil {
		p := failure(err, refusedProblem())
		a.log.Info("a login at the login service failed", zap.Error(err))
		a.show(w, r, p.Status, loginView{Back: begun.Back, Problem: p, End: a.provider.endPage(r.Context())})
		return
	}
	a.log.Info("a visitor logged in", zap.String("with", string(ByOIDC)))
	a.lead(w, r, begun.Back)
}

// attemptOf returns the attempt that the cookie for a state holds, and removes the cookie: an attempt counts once.
func (a *Authenticator) attemptOf(w http.ResponseWriter, r *http.Request, state string) (attempt, bool) {
	var begun attempt
	if len(state) < stateMark || !plain(state) {
		return begun, false
	}
	name := attemptCookie + state[:stateMark]
	text := a.cookies.get(r, name)
	if text == "" {
		return begun, false
	}
	a.cookies.remove(w, name)
	return begun, a.sealer.open(attemptCookie, text, &begun) && a.now().Sub(begun.At) < attemptLife
}

// beginOIDC logs somebody in whom Clowder knows.
func (a *Authenticator) beginOIDC(ctx context.Context, w http.ResponseWriter, token *oauth2.Token) error {
	profile, err := ask(ctx, func(ctx context.Context) (clowder.Profile, error) {
		return a.users.clowder.Profile(ctx, Credential{Secret: job.Secret(token.AccessToken), Token: true})
	})
	a.users.outage.note(a.now(), err)
	if err != nil {
		return err
	}
	a.cookies.set(w, sessionCookie, a.sessions.begin(profile.Email, token), 0)
	return nil
}

func refusedProblem() *web.Problem {
	return &web.Problem{
		Type: "login", Title: "You are not logged in", Status: http.StatusForbidden, Detail: "The login service of Clowder did not confirm the login.", Do: "Log in again.",
	}
}
