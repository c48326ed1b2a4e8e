package login

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/ncsa/clowder-ray/internal/job"
)

// providerTime limits one request to Keycloak.
const providerTime = 10 * time.Second

// Issuer is the realm of Keycloak to which Clowder belongs, and the client of the studio in it.
type Issuer struct {
	// URL is the issuer as its own documents name it. Empty: there is no login at Keycloak.
	URL, Client string
	// Secret is empty for a public client.
	Secret job.Secret
	// HTTP reaches the issuer. If it is nil, http.DefaultClient does.
	HTTP *http.Client
}

// provider is the issuer. Its document is read at the first login, so that the studio starts without it. It is safe for concurrent use.
type provider struct {
	of       Issuer
	callback string

	mu    sync.Mutex
	found *discovered
}

// discovered is what the document of the issuer says.
type discovered struct {
	provider *oidc.Provider
	end      string // where a login ends; empty: nowhere
}

func newProvider(of Issuer, callback string) *provider {
	if of.HTTP == nil {
		of.HTTP = http.DefaultClient
	}
	return &provider{of: of, callback: callback}
}

// with returns a context for a request to the issuer.
func (p *provider) with(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(oidc.ClientContext(ctx, p.of.HTTP), providerTime)
}

// discover reads the document of the issuer once it can.
func (p *provider) discover(ctx context.Context) (*discovered, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.found != nil {
		return p.found, nil
	}
	ctx, cancel := p.with(ctx)
	defer cancel()
	// The provider keeps the client of the context for its keys, and no deadline.
	found, err := oidc.NewProvider(ctx, p.of.URL)
	if err != nil {
		return nil, fmt.Errorf("%w: its document cannot be read: %w", errAway, bare(err))
	}
	var document struct {
		End string `json:"end_session_endpoint"`
	}
	if err := found.Claims(&document); err != nil {
		return nil, fmt.Errorf("%w: its document cannot be read: %w", errAway, err)
	}
	if !strings.HasPrefix(document.End, "https://") && !strings.HasPrefix(document.End, "http://") {
		document.End = ""
	}
	p.found = &discovered{found, document.End}
	return p.found, nil
}

// bare removes the address from an error of net/http.
func bare(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return bare(e.Err)
	}
	return err
}

func (p *provider) config(found *discovered) *oauth2.Config {
	return &oauth2.Config{
		ClientID: p.of.Client, ClientSecret: p.of.Secret.Reveal(), Endpoint: found.provider.Endpoint(), RedirectURL: p.callback,
		Scopes: []string{oidc.ScopeOpenID, "email"},
	}
}

// attempt is one try to log in at the issuer. It is sealed in a cookie until the issuer sends the visitor back.
type attempt struct {
	State    string    `json:"s"`
	Nonce    string    `json:"n"`
	Verifier string    `json:"v"`
	Back     string    `json:"b"`
	At       time.Time `json:"t"`
}

// start returns the address at the issuer where the attempt goes on.
func (p *provider) start(ctx context.Context, a attempt) (string, error) {
	found, err := p.discover(ctx)
	if err != nil {
		return "", err
	}
	return p.config(found).AuthCodeURL(a.State, oidc.Nonce(a.Nonce), oauth2.S256ChallengeOption(a.Verifier)), nil
}

var (
	errRefused = errors.New("the login service did not confirm the login")
	errAway    = errors.New("the login service does not answer")
)

// finish exchanges the code in the answer of the issuer for tokens, and checks that they belong to the attempt.
func (p *provider) finish(ctx context.Context, a attempt, answer url.Values) (*oauth2.Token, error) {
	found, err := p.discover(ctx)
	if err != nil {
		return nil, err
	}
	switch {
	case subtle.ConstantTimeCompare([]byte(a.State), []byte(answer.Get("state"))) != 1:
		return nil, fmt.Errorf("%w: the state differs", errRefused)
	case answer.Has("iss") && answer.Get("iss") != p.of.URL: // the answer of another issuer (RFC 9207)
		return nil, fmt.Errorf("%w: another issuer answered", errRefused)
	case answer.Has("error"):
		return nil, fmt.Errorf("%w: it said no", errRefused)
	}
	ctx, cancel := p.with(ctx)
	defer cancel()
	token, err := p.config(found).Exchange(ctx, answer.Get("code"), oauth2.VerifierOption(a.Verifier))
	if err != nil {
		return nil, exchangeError(err)
	}
	raw, _ := token.Extra("id_token").(string)
	id, err := found.provider.Verifier(&oidc.Config{ClientID: p.of.Client}).Verify(ctx, raw)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errRefused, err)
	}
	if subtle.ConstantTimeCompare([]byte(a.Nonce), []byte(id.Nonce)) != 1 {
		return nil, fmt.Errorf("%w: the nonce differs", errRefused)
	}
	if id.AccessTokenHash != "" {
		if err := id.VerifyAccessToken(token.AccessToken); err != nil {
			return nil, fmt.Errorf("%w: %w", errRefused, err)
		}
	}
	return token, nil
}

// exchangeError says whether the issuer refused or failed, without the body of its answer, which can repeat what was sent.
func exchangeError(err error) error {
	if e, ok := errors.AsType[*oauth2.RetrieveError](err); ok && e.Response != nil {
		if e.Response.StatusCode < http.StatusInternalServerError {
			return fmt.Errorf("%w: status %d", errRefused, e.Response.StatusCode)
		}
		return fmt.Errorf("%w: status %d", errAway, e.Response.StatusCode)
	}
	return fmt.Errorf("%w: %w", errAway, bare(err))
}

// renew returns new tokens for the refresh token of old. The error is errRefused if the login has ended at the issuer.
func (p *provider) renew(ctx context.Context, old *oauth2.Token) (*oauth2.Token, error) {
	if old.RefreshToken == "" {
		return nil, errRefused
	}
	found, err := p.discover(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := p.with(ctx)
	defer cancel()
	token, err := p.config(found).TokenSource(ctx, &oauth2.Token{RefreshToken: old.RefreshToken}).Token()
	if err != nil {
		return nil, exchangeError(err)
	}
	return token, nil
}

// end ends the login of the browser at the issuer with its refresh token, as Keycloak offers it, and reports whether it did. So no token stands
// in an address.
func (p *provider) end(ctx context.Context, token *oauth2.Token) bool {
	found, err := p.discover(ctx)
	if err != nil || found.end == "" || token.RefreshToken == "" {
		return false
	}
	ctx, cancel := p.with(ctx)
	defer cancel()
	form := url.Values{"client_id": {p.of.Client}, "refresh_token": {token.RefreshToken}}
	if p.of.Secret != "" {
		form.Set("client_secret", p.of.Secret.Reveal())
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, found.end, strings.NewReader(form.Encode()))
	if err != nil {
		return false
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := p.of.HTTP.Do(req)
	if err != nil {
		return false
	}
	defer func() { _ = answer.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 64<<10)) // the connection is used again
	return answer.StatusCode == http.StatusOK || answer.StatusCode == http.StatusNoContent
}

// endPage is where a visitor ends their login at the issuer themselves; empty if it has no such page.
func (p *provider) endPage(ctx context.Context) string {
	found, err := p.discover(ctx)
	if err != nil || found.end == "" {
		return ""
	}
	return found.end + "?" + url.Values{"client_id": {p.of.Client}}.Encode()
}
