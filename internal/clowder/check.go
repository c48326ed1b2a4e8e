package clowder

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/ncsa/clowder-ray/internal/job"
)

// Check says whether a Clowder v2 answers at every configured address. Its error is for an operator and says what to mend.
func (c *Client) Check(ctx context.Context) error {
	var faults []error
	for _, base := range c.allowed {
		var status struct {
			Version string `json:"version"`
		}
		s := &Session{c: c, base: base}
		one := call{operation: operation{what: "say that it is up"}, method: http.MethodGet, path: []string{"status"}, into: &status}
		err := s.attempt(ctx, one)
		if err == nil && !strings.HasPrefix(status.Version, "2.") {
			err = fmt.Errorf("it says that it is version %q", status.Version)
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("no Clowder v2 at %s: %w", base, err))
		}
	}
	return errors.Join(faults...)
}

// CheckKey says whether Clowder accepts the key of the session and returns the e-mail address that it belongs to.
func (s *Session) CheckKey(ctx context.Context) (string, error) {
	var me User
	c := get("say whose key this is", "use Clowder", "users", "profile")
	c.into = &me
	if err := s.do(ctx, c); err != nil {
		return "", err
	}
	if me.Email == "" {
		return "", job.Permanent(errors.New("Clowder does not say whose key this is")) //nolint:staticcheck // a name
	}
	return me.Email, nil
}
