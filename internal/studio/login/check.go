package login

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"github.com/ncsa/clowder-ray/internal/text"
)

// maxSkew is how much the clocks of the studio and of Keycloak may differ.
const maxSkew = time.Minute

// Check reports what an operator has to change before people can log in at the issuer. callback is the address of the studio to which the issuer
// sends them back. It changes nothing.
func Check(ctx context.Context, of Issuer, callback string, now time.Time) error {
	p := newProvider(of, callback)
	found, err := p.discover(ctx)
	if err != nil {
		return fmt.Errorf("%w: check OIDC_ISSUER, which must be written as the document of the issuer has it", err)
	}
	var faults []error
	to := p.config(found).AuthCodeURL("doctor", oauth2.SetAuthURLParam("nonce", "doctor"), oauth2.S256ChallengeOption(oauth2.GenerateVerifier()))
	answer, body, err := p.look(ctx, to) //nolint:bodyclose // look closes it
	if err != nil {
		return fmt.Errorf("%w: the page to log in: %w", errAway, bare(err))
	}
	if at, err := http.ParseTime(answer.Header.Get("Date")); err == nil {
		if skew := now.Sub(at).Abs(); skew > maxSkew {
			faults = append(faults, fmt.Errorf("the clocks of this machine and of the issuer differ by %s: set both by NTP", text.Duration(skew)))
		}
	}
	location, _ := url.Parse(answer.Header.Get("Location"))
	switch {
	case location != nil && location.Query().Get("error") != "":
		faults = append(faults, fmt.Errorf("the client %s is refused (%s): let it use the standard flow with PKCE S256", of.Client, text.Excerpt(location.Query().Get("error"), 60)))
	case answer.StatusCode >= http.StatusBadRequest && strings.Contains(body, "redirect_uri"):
		faults = append(faults, fmt.Errorf("the client %s does not know this studio: add %s to its redirect URIs", of.Client, callback))
	case answer.StatusCode >= http.StatusBadRequest:
		faults = append(faults, fmt.Errorf("the issuer does not know the client %s (%d): add the client of docs/studio.md to the realm, or set OIDC_CLIENT_ID", of.Client, answer.StatusCode))
	}
	if len(faults) == 0 {
		faults = append(faults, p.checkSecret(ctx, found))
	}
	return errors.Join(faults...)
}

// checkSecret exchanges a code that was never given: the issuer looks at the client before it looks at the code.
func (p *provider) checkSecret(ctx context.Context, found *discovered) error {
	ctx, cancel := p.with(ctx)
	defer cancel()
	_, err := p.config(found).Exchange(ctx, "doctor", oauth2.VerifierOption(oauth2.GenerateVerifier()))
	refused, ok := errors.AsType[*oauth2.RetrieveError](err)
	switch {
	case !ok:
		if err != nil {
			return fmt.Errorf("%w: the exchange of a code: %w", errAway, bare(err))
		}
		return nil
	case refused.ErrorCode != "invalid_client" && refused.ErrorCode != "unauthorized_client":
		return nil // it is the code that is refused
	case p.of.Secret == "":
		return fmt.Errorf("the client %s has a secret (Client authentication is on): set OIDC_CLIENT_SECRET_FILE to a file with it, or switch that off", p.of.Client)
	default:
		return fmt.Errorf("the issuer does not accept the secret of the client %s: copy it from the tab Credentials of the client into the file of OIDC_CLIENT_SECRET_FILE", p.of.Client)
	}
}

// look requests a page of the issuer, without following it.
func (p *provider) look(ctx context.Context, address string) (*http.Response, string, error) {
	ctx, cancel := p.with(ctx)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, "", err
	}
	client := *p.of.HTTP
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	answer, err := client.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = answer.Body.Close() }()
	body, _ := io.ReadAll(io.LimitReader(answer.Body, 256<<10)) // the status says enough without it
	return answer, string(body), nil
}
