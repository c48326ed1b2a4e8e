package studio

import (
	"context"
	"fmt"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/studio/live"
	"github.com/ncsa/clowder-ray/internal/studio/web"
)

// cardsPurpose names what the keys of the addresses of cards are derived for.
const cardsPurpose = "studio cards"

// live returns the room about runs that go on. The caller stops the hub.
func (p *Parts) live(site *web.Site, access live.Access) (*live.Room, *live.Hub, error) {
	keys, err := p.Keys.Derive(cardsPurpose)
	if err != nil {
		return nil, nil, fmt.Errorf("STATE_KEY: %w", err)
	}
	from := followed{p}
	hub := live.NewHub(from, site.Log)
	return live.New(site, hub, from, access, live.NewCards(site, keys)), hub, nil
}

// followed are the runs of the service as the room follows them.
type followed struct{ parts *Parts }

func (f followed) Get(ctx context.Context, run string) (job.Record, error) {
	return f.parts.Store.Get(ctx, run)
}

func (f followed) Folder(run string) disk.Folder { return f.parts.Volume.Run(run) }

func (f followed) Said(run string) string { return f.parts.Desk.Said(run) }
