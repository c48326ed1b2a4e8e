package clowder

import (
	"context"
	"fmt"
	"strings"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/text"
)

// registers tells how the extractors with some names are listed.
type registers interface {
	Registered(ctx context.Context, names []string) (map[string]clowder.Listener, error)
}

// Registered says what is wrong with the way in which the Clowder of a job lists the extractors of this service, as sentences; none if all is
// well. It asks with the key of the user of the job. A private extractor is looked at only where that user sees it.
func (c *Platform) Registered(ctx context.Context, rec job.Record) ([]string, error) {
	s, err := c.session(rec)
	if err != nil {
		return nil, err
	}
	asked, can := s.(registers)
	if !can {
		return nil, nil
	}
	all, err := asked.Registered(ctx, c.extractors.Names())
	if err != nil {
		return nil, err
	}
	var wrong []string
	for _, e := range c.extractors {
		listed, found := all[e.Name()]
		if sentence := registration(e, listed, !found); sentence != "" {
			wrong = append(wrong, sentence)
		}
	}
	return wrong, nil
}

// privateQueue begins the names of private extractors.
const privateQueue = "private."

// registration says what is wrong with the entry of one extractor, empty for nothing.
func registration(e platform.Extractor, listed clowder.Listener, missing bool) string {
	name := e.Info.Name // the other name of a private extractor has its key
	switch {
	case missing && strings.HasPrefix(e.Queue, privateQueue):
		return ""
	case missing:
		return name + " is not listed: it was deleted, or Clowder reads no heartbeats. The next heartbeat registers it again; if it stays away, start the heartbeat listener of Clowder"
	case listed.Version != e.Info.Version:
		return fmt.Sprintf("%s is listed with version %s, and this service has %s: another service announces the same name. Stop it, or give one of them another queue name",
			name, text.Shorten(listed.Version, 40), e.Info.Version)
	case !listed.Alive:
		return name + " is shown as offline: Clowder has read no heartbeat for five minutes. Start this service, or the heartbeat listener of Clowder"
	case !listed.Active:
		return name + " is not enabled, so only administrators see it: an administrator enables it on the page of extractors, also after it was deleted there"
	default:
		return ""
	}
}
