// Package logintest is a test double of the login service of Clowder, a realm of Keycloak: authorization code with PKCE, refresh, and the end of
// a login by its refresh token. It has one public client, and lets everybody in under the e-mail address that they type.
package logintest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"html"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/coreos/go-oidc/v3/oidc/oidctest"
)

// Client is the id of the only client.
const Client = "clowder-ray"

// Options configures a double.
type Options struct {
	// Redirects are the addresses to which the double sends somebody back.
	Redirects []string
	// Secret is that of the client; empty: it is a public client.
	Secret string
	// TokenLife is how long an access token lasts (5 min).
	TokenLife time.Duration
	// OnToken learns of each access token, before its client does.
	OnToken func(token, email string)
	// Claims may change what an ID token says.
	Claims func(claims map[string]any)
}

// Keycloak is a running double. It is safe for concurrent use.
type Keycloak struct {
	// URL is the issuer.
	URL string

	opts   Options
	server *httptest.Server
	signer *ecdsa.PrivateKey
	keys   oidctest.Server

	mu     sync.Mutex
	logins map[string]string // cookie of a browser → e-mail address
	codes  map[string]code
	grants map[string]grant // refresh token → the login
	tokens []string
	forms  int
}

// code is an authorization code that was not exchanged yet.
type code struct{ email, login, challenge, nonce, redirect string }

type grant struct{ email, login string }

const keyID = "1"

// Start starts a double on a free port. Close ends it.
func Start(opts Options) (*Keycloak, error) {
	signer, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	if opts.TokenLife == 0 {
		opts.TokenLife = 5 * time.Minute
	}
	k := &Keycloak{opts: opts, signer: signer, logins: map[string]string{}, codes: map[string]code{}, grants: map[string]grant{}}
	k.keys.PublicKeys = []oidctest.PublicKey{{PublicKey: signer.Public(), KeyID: keyID, Algorithm: oidc.ES256}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /realms/clowder/.well-known/openid-configuration", k.document)
	mux.HandleFunc("GET /realms/clowder/auth", k.authorize)
	mux.HandleFunc("POST /realms/clowder/auth", k.authorize)
	mux.HandleFunc("POST /realms/clowder/token", k.token)
	mux.HandleFunc("POST /realms/clowder/logout", k.logout)
	mux.Handle("GET /realms/clowder/keys", http.StripPrefix("/realms/clowder", &k.keys))
	k.server = httptest.NewUnstartedServer(mux)
	k.URL = "http://" + k.server.Listener.Addr().String() + "/realms/clowder"
	k.keys.SetIssuer(k.URL)
	k.server.Start()
	return k, nil
}

// Close stops the double.
func (k *Keycloak) Close() { k.server.Close() }

// Forms is how often somebody was shown the form.
func (k *Keycloak) Forms() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.forms
}

// End ends all logins, as an administrator can.
func (k *Keycloak) End() {
	k.mu.Lock()
	defer k.mu.Unlock()
	clear(k.logins)
	clear(k.grants)
}

// Logins is the number of browsers that are logged in.
func (k *Keycloak) Logins() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.logins)
}

// Tokens are all access tokens and refresh tokens that the double has given.
func (k *Keycloak) Tokens() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.tokens)
}

func (k *Keycloak) document(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, map[string]any{
		"issuer": k.URL, "authorization_endpoint": k.URL + "/auth", "token_endpoint": k.URL + "/token", "jwks_uri": k.URL + "/keys",
		"end_session_endpoint": k.URL + "/logout", "id_token_signing_alg_values_supported": []string{oidc.ES256},
		"response_types_supported": []string{"code"}, "subject_types_supported": []string{"public"}, "code_challenge_methods_supported": []string{"S256"},
	})
}

const browserCookie = "KEYCLOAK_SESSION"

// authorize shows the form to a browser that is not logged in, and sends others back with a code.
func (k *Keycloak) authorize(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	redirect := query.Get("redirect_uri")
	switch {
	case query.Get("client_id") != Client:
		http.Error(w, "Client not found.", http.StatusBadRequest)
		return
	case !slices.Contains(k.opts.Redirects, redirect):
		http.Error(w, "Invalid parameter: redirect_uri", http.StatusBadRequest)
		return
	}
	if query.Get("response_type") != "code" || query.Get("code_challenge_method") != "S256" || query.Get("code_challenge") == "" ||
		!slices.Contains(strings.Fields(query.Get("scope")), oidc.ScopeOpenID) {
		back(w, r, redirect, url.Values{"error": {"invalid_request"}, "state": {query.Get("state")}})
		return
	}
	login, email := k.browser(w, r)
	if login == "" {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(`<!doctype html><html lang="en"><title>Log in to Clowder</title><form method="post" action="` + html.EscapeString(r.URL.RequestURI()) +
			`"><label>E-mail <input id="username" name="username"></label> <button id="kc-login">Sign In</button></form></html>`))
		return
	}
	id := rand.Text()
	k.mu.Lock()
	k.codes[id] = code{email, login, query.Get("code_challenge"), query.Get("nonce"), redirect}
	k.mu.Unlock()
	back(w, r, redirect, url.Values{"code": {id}, "state": {query.Get("state")}, "iss": {k.URL}})
}

// browser returns the login of a browser, which the form begins.
func (k *Keycloak) browser(w http.ResponseWriter, r *http.Request) (login, email string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if cookie, err := r.Cookie(browserCookie); err == nil && k.logins[cookie.Value] != "" {
		return cookie.Value, k.logins[cookie.Value]
	}
	if r.Method != http.MethodPost || r.PostFormValue("username") == "" {
		k.forms++
		return "", ""
	}
	login, email = rand.Text(), r.PostFormValue("username")
	k.logins[login] = email
	http.SetCookie(w, &http.Cookie{Name: browserCookie, Value: login, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode}) //nolint:gosec // a test serves plain HTTP
	return login, email
}

func back(w http.ResponseWriter, r *http.Request, to string, answer url.Values) {
	http.Redirect(w, r, to+"?"+answer.Encode(), http.StatusSeeOther) //nolint:gosec // the address is one of Options.Redirects
}

// token exchanges a code or a refresh token.
func (k *Keycloak) token(w http.ResponseWriter, r *http.Request) {
	k.mu.Lock()
	defer k.mu.Unlock()
	client, secret, ok := r.BasicAuth()
	if !ok {
		client, secret = r.PostFormValue("client_id"), r.PostFormValue("client_secret")
	}
	if client != Client || k.opts.Secret != "" && secret != k.opts.Secret { // Keycloak says this of a wrong secret, too
		reply(w, http.StatusUnauthorized, map[string]any{"error": "unauthorized_client", "error_description": "Invalid client or Invalid client credentials"})
		return
	}
	var of grant
	nonce := ""
	switch r.PostFormValue("grant_type") {
	case "authorization_code":
		one, found := k.codes[r.PostFormValue("code")]
		delete(k.codes, r.PostFormValue("code"))
		sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
		if !found || one.challenge != base64.RawURLEncoding.EncodeToString(sum[:]) || one.redirect != r.PostFormValue("redirect_uri") {
			reply(w, http.StatusBadRequest, map[string]any{"error": "invalid_grant"})
			return
		}
		of, nonce = grant{one.email, one.login}, one.nonce
	case "refresh_token":
		var found bool
		if of, found = k.grants[r.PostFormValue("refresh_token")]; !found || k.logins[of.login] == "" {
			reply(w, http.StatusBadRequest, map[string]any{"error": "invalid_grant"})
			return
		}
		delete(k.grants, r.PostFormValue("refresh_token"))
	}
	reply(w, http.StatusOK, k.issue(of, nonce))
}

// issue makes the tokens of a login.
func (k *Keycloak) issue(of grant, nonce string) map[string]any {
	access, refresh := "access-"+rand.Text()+rand.Text(), "refresh-"+rand.Text()
	k.grants[refresh] = of
	k.tokens = append(k.tokens, access, refresh)
	if k.opts.OnToken != nil {
		k.opts.OnToken(access, of.email)
	}
	claims := map[string]any{
		"iss": k.URL, "aud": Client, "sub": of.login, "email": of.email, "nonce": nonce, "exp": time.Now().Add(k.opts.TokenLife).Unix(), "iat": time.Now().Unix(),
	}
	if k.opts.Claims != nil {
		changed := maps.Clone(claims)
		k.opts.Claims(changed)
		claims = changed
	}
	text, _ := json.Marshal(claims) // texts and numbers
	return map[string]any{
		"access_token": access, "refresh_token": refresh, "token_type": "Bearer", "expires_in": int(k.opts.TokenLife.Seconds()),
		"id_token": oidctest.SignIDToken(k.signer, keyID, oidc.ES256, string(text)),
	}
}

// logout ends the login to which a refresh token belongs.
func (k *Keycloak) logout(w http.ResponseWriter, r *http.Request) {
	k.mu.Lock()
	defer k.mu.Unlock()
	of, found := k.grants[r.PostFormValue("refresh_token")]
	if !found {
		reply(w, http.StatusBadRequest, map[string]any{"error": "invalid_grant"})
		return
	}
	delete(k.logins, of.login)
	maps.DeleteFunc(k.grants, func(_ string, g grant) bool { return g.login == of.login })
	w.WriteHeader(http.StatusNoContent)
}

func reply(w http.ResponseWriter, status int, answer map[string]any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(answer) // the client may have disconnected
}
