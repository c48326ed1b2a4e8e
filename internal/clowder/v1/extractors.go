package v1

import (
	"context"
	"net/http"

	"github.com/ncsa/clowder-ray/internal/clowder"
)

// Registered returns the public extractors with these names by their name. v1 shows an extractor to those who may use it, whether it sends
// heartbeats or not.
func (s *Session) Registered(ctx context.Context, names []string) (map[string]clowder.Listener, error) {
	listed := map[string]clowder.Listener{}
	for _, name := range names {
		var one clowder.Listener
		err := s.do(ctx, get("read what it knows of the extractor", "use Clowder", &one, "extractors", name))
		switch {
		case clowder.StatusOf(err) == http.StatusNotFound:
			continue
		case err != nil:
			return nil, err
		}
		one.Active, one.Alive = true, true
		listed[name] = one
	}
	return listed, nil
}
