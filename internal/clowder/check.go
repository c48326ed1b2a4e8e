package clowder

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/ncsa/clowder-ray/internal/job"
)

// Check returns an error if there is no Clowder v2 at one of the configured addresses. The error is written for an operator.
func (c *Client) Check(ctx context.Context) error {
	var faults []error
	for _, base := range c.allowed {
		var status struct {
			Version string `json:"version"`
		}
		s := &Session{c: c, base: base}
		one := call{operation: operation{what: "report its version"}, method: http.MethodGet, path: []string{"status"}, into: &status}
		err := s.attempt(ctx, one)
		if err == nil && !strings.HasPrefix(status.Version, "2.") {
			err = fmt.Errorf("its version is %q", status.Version)
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("no Clowder v2 at %s: %w", base, err))
		}
	}
	return errors.Join(faults...)
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
