package clowder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/ncsa/clowder-ray/internal/text"
)

// Check returns the versions of Clowder at the configured addresses, and an error about each address without a Clowder of the configured
// version. It is written for an operator.
func (c *Client) Check(ctx context.Context) (found []string, err error) {
	var faults []error
	look := func(base *url.URL, version int) {
		number, err := c.checkVersion(ctx, base, version)
		if err != nil {
			faults = append(faults, err)
			return
		}
		found = append(found, fmt.Sprintf("Clowder %s at %s", number, base))
	}
	for _, base := range c.allowed {
		look(base, c.cfg.Version)
	}
	if c.v1 != nil {
		look(c.v1, 1)
	}
	return found, errors.Join(faults...)
}

// checkVersion returns the version of the Clowder at base, or an error if it is not the wanted one. Version 0 is either one.
func (c *Client) checkVersion(ctx context.Context, base *url.URL, version int) (string, error) {
	if version == 1 {
		return c.versionAt(ctx, base, 1)
	}
	number, err := c.versionAt(ctx, base, 2)
	if err == nil || version == 2 {
		return number, err
	}
	if number, err1 := c.versionAt(ctx, base, 1); err1 == nil {
		return number, nil
	}
	return "", err
}

// versionAt asks the Clowder at base for its version. The two versions say it in different places.
func (c *Client) versionAt(ctx context.Context, base *url.URL, want int) (string, error) {
	var status struct {
		Version json.RawMessage `json:"version"` // v2: a text, v1: an object
	}
	one := call{operation: operation{what: "report its version"}, method: http.MethodGet, path: []string{"status"}, into: &status}
	s := &Session{c: c, base: base}
	if want == 1 {
		one.path, s.dialect.Root = []string{"version"}, []string{"api"}
	}
	if err := s.attempt(ctx, one); err != nil {
		return "", fmt.Errorf("no Clowder v%d at %s: %w", want, base, err)
	}
	var found struct{ Number string }
	if json.Unmarshal(status.Version, &found.Number) != nil && json.Unmarshal(status.Version, &found) != nil || !strings.HasPrefix(found.Number, strconv.Itoa(want)+".") {
		return "", fmt.Errorf("no Clowder v%d at %s: its version is %q", want, base, text.Excerpt(found.Number, 40))
	}
	return text.Excerpt(found.Number, 40), nil
}

// CheckKey returns the e-mail address of the user to whom the key of the session belongs. It fails if Clowder refuses the key.
func (s *Session) CheckKey(ctx context.Context) (string, error) {
	me, err := s.Profile(ctx)
	return me.Email, err
}
