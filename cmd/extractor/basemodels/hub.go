package basemodels

import (
	"context"
	"io"

	"github.com/ncsa/clowder-ray/internal/basemodel"
	"github.com/ncsa/clowder-ray/internal/hub"
)

// hubModel is a source of package basemodel: one revision of a model on the Hub.
type hubModel struct {
	client       *hub.Client
	id, revision string
	commit       string
}

var _ basemodel.Source = (*hubModel)(nil)

// Look implements basemodel.Source.
func (m *hubModel) Look(ctx context.Context) (basemodel.Offer, error) {
	info, err := m.client.Info(ctx, m.id, m.revision)
	if err != nil {
		return basemodel.Offer{}, err
	}
	m.commit = info.Commit
	offer := basemodel.Offer{
		ID: m.id, Source: basemodel.SourceHub, Endpoint: m.client.Endpoint(), Commit: info.Commit, Revision: m.revision, License: info.License,
	}
	for _, f := range info.Files {
		offer.Files = append(offer.Files, basemodel.File(f))
	}
	return offer, nil
}

// Open implements basemodel.Source.
func (m *hubModel) Open(ctx context.Context, f basemodel.File, offset int64) (io.ReadCloser, error) {
	return m.client.Open(ctx, m.id, m.commit, hub.File(f), offset)
}
