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

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/text"
)

// Check returns an error if there is no Clowder of the configured version at one of the configured addresses. The error is written for an
// operator.
func (c *Client) Check(ctx context.Context) error {
	var faults []error
	for _, base := range c.allowed {
		faults = append(faults, c.checkVersion(ctx, base, c.cfg.Version))
	}
	if c.v1 != nil {
		faults = append(faults, c.checkVersion(ctx, c.v1, 1))
	}
	return errors.Join(faults...)
}

// checkVersion returns an error if there is no Clowder of a version at base. Version 0 is either one.
func (c *Client) checkVersion(ctx context.Context, base *url.URL, version int) error {
	if version == 1 {
		return c.versionAt(ctx, base, 1)
	}
	err := c.versionAt(ctx, base, 2)
	if err != nil && version == 0 && c.versionAt(ctx, base, 1) == nil {
		return nil
	}
	return err
}

// versionAt asks the Clowder at base for its version. The two versions say it in different places.
func (c *Client) versionAt(ctx context.Context, base *url.URL, want int) error {
	var status struct {
		Version json.RawMessage `json:"version"` // v2: a text, v1: an object
	}
	one := call{operation: operation{what: "report its version"}, method: http.MethodGet, path: []string{"status"}, into: &status}
	s := &Session{c: c, base: base}
	if want == 1 {
		one.path, s.dialect.Root = []string{"version"}, []string{"api"}
	}
	if err := s.attempt(ctx, one); err != nil {
		return fmt.Errorf("no Clowder v%d at %s: %w", want, base, err)
	}
	var found struct{ Number string }
	if json.Unmarshal(status.Version, &found.Number) != nil && json.Unmarshal(status.Version, &found) != nil || !strings.HasPrefix(found.Number, strconv.Itoa(want)+".") {
		return fmt.Errorf("no Clowder v%d at %s: its version is %q", want, base, text.Excerpt(found.Number, 40))
	}
	return nil
}

// CheckKey returns the e-mail address of the user to whom the key of the session belongs. It fails if Clowder refuses the key.
func (s *Session) CheckKey(ctx context.Context) (string, error) {
	var me User
	c := get("identify the owner of the API key", "use Clowder", "users", "profile")
	c.into = &me
	if err := s.do(ctx, c); err != nil {
		return "", err
	}
	if me.Email == "" {
		return "", job.Permanent(errors.New("Clowder returned no e-mail address for this API key")) //nolint:staticcheck // a name
	}
	return me.Email, nil
}
