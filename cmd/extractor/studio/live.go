package studio

import (
	"context"
	"crypto/rand"
	"fmt"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/studio/live"
	"github.com/ncsa/clowder-ray/internal/studio/web"
)

// cardsPurpose names what the keys of the addresses of cards are derived for.
const cardsPurpose = "studio cards"

// cardKeys are the keys of the addresses of cards. Without a state key they are valid until the service ends.
func cardKeys(keys *job.Keyring) ([][]byte, error) {
	derived, err := keys.Derive(cardsPurpose)
	if err != nil {
		return nil, fmt.Errorf("STATE_KEY: %w", err)
	}
	if len(derived) == 0 {
		derived = [][]byte{[]byte(rand.Text())}
	}
	return derived, nil
}

// Links lead the users of Clowder to the studio: addresses in statuses, and cards on datasets.
type Links struct {
	site  *web.Site
	cards live.Cards
	embed bool
	shown Shown
}

// Shown shows a page on the dataset of a job.
type Shown interface {
	ShowLive(ctx context.Context, rec job.Record, page string) error
	HideLive(ctx context.Context, rec job.Record) error
}

// NewLinks returns the links to the studio, or nil where the studio is off.
func NewLinks(set Settings, clowderURL string, keys *job.Keyring, shown Shown, log *zap.Logger) (*Links, error) {
	if !set.On() {
		return nil, nil //nolint:nilnil // no studio is no error
	}
	site, err := set.site(clowderURL, log)
	if err != nil {
		return nil, err
	}
	derived, err := cardKeys(keys)
	if err != nil {
		return nil, err
	}
	return &Links{site: site, cards: live.NewCards(site, derived), embed: set.Embed, shown: shown}, nil
}

// Link is the address of the page of a run.
func (l *Links) Link(run string) string { return l.site.Absolute("runs", run) }

// Page is what Show shows on the dataset of a run, a fragment of HTML.
func (l *Links) Page(run string) (string, error) { return l.cards.Visualization(run, l.embed) }

// Show shows on the dataset of a job how far the job is, once.
func (l *Links) Show(ctx context.Context, rec job.Record) error {
	page, err := l.Page(rec.Run)
	if err != nil {
		return err
	}
	return l.shown.ShowLive(ctx, rec, page)
}

// Hide removes what Show has shown.
func (l *Links) Hide(ctx context.Context, rec job.Record) error { return l.shown.HideLive(ctx, rec) }

// live returns the section about runs that go on. The caller stops the hub.
func (p *Parts) live(site *web.Site, access live.Access) (*live.Section, *live.Hub) {
	from := followed{p}
	hub := live.NewHub(from, site.Log)
	return live.New(site, hub, from, access, p.Links.cards), hub
}

// followed are the runs of the service as the section follows them.
type followed struct{ parts *Parts }

func (f followed) Get(ctx context.Context, run string) (job.Record, error) {
	return f.parts.Store.Get(ctx, run)
}

func (f followed) Folder(run string) disk.Folder { return f.parts.Volume.Run(run) }

func (f followed) LastStatus(run string) string { return f.parts.Jobs.LastStatus(run) }
