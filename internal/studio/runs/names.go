package runs

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/studio/web"
)

const (
	// nameAge is how long the name of a dataset is believed.
	nameAge  = time.Minute
	maxNames = 10_000
)

// names remembers what datasets are called. Only those who may see a dataset get there.
type names struct {
	mu    *sync.Mutex
	known map[string]knownName
}

type knownName struct {
	name, creator string
	at            time.Time
}

func newNames() names { return names{mu: &sync.Mutex{}, known: map[string]knownName{}} }

// dataset returns the name of a dataset that the visitor may see, and who created it. Where Clowder does not tell, the name is that of
// before, or the given one, or the id.
func (s *Section) dataset(ctx context.Context, id, name string) (Dataset, string) {
	s.names.mu.Lock()
	known, ok := s.names.known[id]
	s.names.mu.Unlock()
	if !ok || s.now().Sub(known.at) > nameAge {
		if asked, creator, err := s.clowder.Dataset(ctx, web.VisitorOf(ctx), id); err == nil {
			known = knownName{asked, creator, s.now()}
			s.names.keep(id, known)
		}
	}
	return Dataset{ID: id, Name: results.Plain(cmp.Or(known.name, name), id)}, known.creator
}

func (n names) keep(id string, name knownName) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for other := range n.known {
		if len(n.known) < maxNames {
			break
		}
		delete(n.known, other)
	}
	n.known[id] = name
}

// championAge is how long a champion is believed, and maxChampions how many are remembered.
const (
	championAge  = 10 * time.Second
	maxChampions = 1000
)

// championCache remembers the champions of models, since the rows of a list mostly have the same one.
type championCache struct {
	ask   func(dataset, name string) (version int, run string)
	mu    sync.Mutex
	known map[modelKey]cachedChampion
}

type modelKey struct{ dataset, name string }

type cachedChampion struct {
	version int
	run     string
	at      time.Time
}

// champion is the number of the champion of a model now and the run that made it, 0 where none is known.
func (c *championCache) champion(now time.Time, dataset, name string) (version int, run string) {
	if c.ask == nil {
		return 0, ""
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	of := modelKey{dataset, name}
	known, ok := c.known[of]
	if !ok || now.Sub(known.at) > championAge {
		if len(c.known) >= maxChampions {
			clear(c.known)
		}
		known = cachedChampion{at: now}
		known.version, known.run = c.ask(dataset, name)
		c.known[of] = known
	}
	return known.version, known.run
}
