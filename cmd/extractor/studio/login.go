package studio

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/studio/login"
	"github.com/ncsa/clowder-ray/internal/studio/web"
)

// methods are the methods to log in.
func (s *Settings) methods() []login.Method {
	switch {
	case len(s.Login) > 0:
		ways := make([]login.Method, len(s.Login))
		for i, name := range s.Login {
			ways[i] = login.Method(strings.TrimSpace(name))
		}
		return ways
	case s.Issuer != "":
		return []login.Method{login.ByOIDC, login.ByKey}
	default:
		return []login.Method{login.ByKey}
	}
}

func (s *Settings) validateLogin(report func(format string, args ...any)) {
	for _, way := range s.methods() {
		if !slices.Contains([]login.Method{login.ByOIDC, login.ByKey, login.ByCookie}, way) {
			report("STUDIO_LOGIN: %q must be oidc, key or cookie", way)
		}
	}
	if slices.Contains(s.methods(), login.ByOIDC) && s.Issuer == "" {
		report("STUDIO_LOGIN: oidc needs OIDC_ISSUER, the realm of Clowder's Keycloak")
	}
}

// keysPurpose names what the keys of cookies are derived for.
const keysPurpose = "studio cookies"

// authenticator returns the login of the site.
func authenticator(site *web.Site, set Settings, parts Parts) (*login.Authenticator, error) {
	keys, err := parts.Keys.Derive(keysPurpose)
	if err != nil {
		return nil, fmt.Errorf("STATE_KEY: %w", err)
	}
	issuer, err := set.issuer(parts.ClowderCA)
	if err != nil {
		return nil, err
	}
	return login.New(site, login.At(parts.Clowder, parts.ClowderVersion), login.Config{Methods: set.methods(), Issuer: issuer, Keys: keys})
}

// issuer returns how the studio reaches Keycloak. ca is the setting CLOWDER_CA: Keycloak mostly has the certificate of Clowder.
func (s *Settings) issuer(ca string) (login.Issuer, error) {
	out := login.Issuer{URL: s.Issuer, Client: s.Client}
	if s.Issuer == "" {
		return out, nil
	}
	if s.SecretFile != "" {
		secret, err := os.ReadFile(s.SecretFile)
		if err != nil {
			return out, job.Permanent(fmt.Errorf("OIDC_CLIENT_SECRET_FILE: %w", err))
		}
		if out.Secret = job.Secret(strings.TrimSpace(string(secret))); out.Secret == "" {
			return out, job.Permanent(errors.New("OIDC_CLIENT_SECRET_FILE: the file is empty; write the secret of the client into it, or leave the setting out for a public client"))
		}
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	if ca != "" {
		pem, err := os.ReadFile(ca)
		if err != nil {
			return out, job.Permanent(fmt.Errorf("CLOWDER_CA: %w", err))
		}
		roots.AppendCertsFromPEM(pem)
	}
	// Tokens must not pass through a proxy that the environment names.
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots}, TLSHandshakeTimeout: 10 * time.Second,
		ForceAttemptHTTP2: true, IdleConnTimeout: 30 * time.Second, MaxResponseHeaderBytes: 64 << 10,
	}
	out.HTTP = &http.Client{Transport: transport, Timeout: 15 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return out, nil
}

// Doctor reports whether people can log in to the studio, and what to change. ca is the setting CLOWDER_CA.
func (s *Settings) Doctor(ctx context.Context, ca string) (string, error) {
	if !s.On() {
		return "off: STUDIO_URL is not set", nil
	}
	address, err := s.address()
	if err != nil {
		return "", fmt.Errorf("STUDIO_URL: %w", err)
	}
	names := make([]string, len(s.methods()))
	for i, way := range s.methods() {
		names[i] = string(way)
	}
	found := fmt.Sprintf("%s/, login with %s", address, strings.Join(names, ", "))
	issuer, err := s.issuer(ca)
	if err != nil {
		return "", err
	}
	if slices.Contains(s.methods(), login.ByOIDC) {
		if err := login.Check(ctx, issuer, address.JoinPath("login", "callback").String(), time.Now()); err != nil {
			return "", err
		}
		found += " at " + s.Issuer
	}
	return found + "; " + reach(ctx, address.JoinPath("login").String()), nil
}

// reach says whether the address of the studio leads to a studio. It may not be started yet, so this is no error.
func reach(ctx context.Context, address string) string {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return "its address cannot be requested"
	}
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		return "nothing answers there yet, as seen from here"
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK || !strings.Contains(answer.Header.Get("Content-Security-Policy"), "require-trusted-types-for") {
		return fmt.Sprintf("something else answers there (%d): check STUDIO_URL and the proxy before it", answer.StatusCode)
	}
	return "it answers"
}
