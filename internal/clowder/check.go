package clowder

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/ncsa/clowder-ray/internal/clowder/ability"
	"github.com/ncsa/clowder-ray/internal/text"
)

// Number is the version of Clowder whose routes are in this package.
const Number = 2

// Abilities are what Clowder v2 can do.
func Abilities() ability.Set {
	return ability.Set{ShowsJobs: true, ConfirmsStatuses: true, SubmitsFiles: true}
}

// About is the path below its address at which Clowder v2 says its version.
func About() []string { return []string{"api", "v2", "status"} }

// Check returns the versions of Clowder at the configured addresses, and an error about each address without a Clowder of the configured
// version. abouts has, by version, the path below its address at which a Clowder says its version. It is written for an operator.
func (c *Client) Check(ctx context.Context, abouts map[int][]string) (found []string, err error) {
	var faults []error
	look := func(base *url.URL, version int) {
		number, err := c.checkVersion(ctx, base, version, abouts)
		if err != nil {
			faults = append(faults, err)
			return
		}
		found = append(found, fmt.Sprintf("Clowder %s at %s", number, base))
	}
	for _, base := range c.allowed {
		look(base, c.cfg.Version)
	}
	for _, version := range slices.Sorted(maps.Keys(c.apart)) {
		look(c.apart[version], version)
	}
	return found, errors.Join(faults...)
}

// checkVersion returns the version of the Clowder at base, or an error if it is not the wanted one. Version 0 is any of them, and the error
// is about the newest one.
func (c *Client) checkVersion(ctx context.Context, base *url.URL, version int, abouts map[int][]string) (string, error) {
	if version != 0 {
		return c.versionAt(ctx, base, version, abouts[version])
	}
	var first error
	for _, version := range slices.Backward(slices.Sorted(maps.Keys(abouts))) {
		number, err := c.versionAt(ctx, base, version, abouts[version])
		if err == nil {
			return number, nil
		}
		first = cmp.Or(first, err)
	}
	return "", first
}

// versionAt asks the Clowder at base for its version, which it says at the path about.
func (c *Client) versionAt(ctx context.Context, base *url.URL, want int, about []string) (string, error) {
	var status struct {
		Version json.RawMessage `json:"version"` // v2: a text, v1: an object
	}
	one := call{operation: operation{what: "report its version"}, method: http.MethodGet, path: about, into: &status}
	s := &Session{c: c, base: base, dialect: Dialect{Root: []string{}}}
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
