package clowder

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/job"
)

// liveArtifact names the card of a run that goes on among the cards of the run.
const liveArtifact = "live"

// ShowLive shows a page on the dataset of a job while the job goes on, once, however often it is called. A Clowder without cards has no place for it.
func (c *Platform) ShowLive(ctx context.Context, rec job.Record, page string) error {
	on, v, err := c.live(rec)
	if on == nil || err != nil {
		return err
	}
	have, err := liveCards(ctx, on, rec, v)
	if err != nil {
		return err
	}
	whole := slices.IndexFunc(have, func(h clowder.Visualization) bool { return len(h.DataIDs) > 0 })
	for i, h := range have {
		if i == whole {
			continue
		}
		if err := on.DeleteVisualization(ctx, h); err != nil { // a kill came between its two halves
			return err
		}
	}
	if whole >= 0 {
		return nil
	}
	_, err = on.AddVisualization(ctx, rec.Request.DatasetID, v, clowder.Body{
		Name: "live.html", ContentType: v.MimeType, Size: int64(len(page)),
		Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader([]byte(page))), nil },
	})
	return err
}

// HideLive removes what ShowLive has shown.
func (c *Platform) HideLive(ctx context.Context, rec job.Record) error {
	on, v, err := c.live(rec)
	if on == nil || err != nil {
		return err
	}
	have, err := liveCards(ctx, on, rec, v)
	for _, h := range have {
		err = errors.Join(err, on.DeleteVisualization(ctx, h))
	}
	return err
}

// live returns the card of a job and where it is shown, nil for nowhere.
func (c *Platform) live(rec job.Record) (cards, clowder.Visualization, error) {
	s, err := c.session(rec)
	if err != nil {
		return nil, clowder.Visualization{}, err
	}
	on, ok := s.(cards)
	if !ok || rec.Request.DatasetID == "" {
		return nil, clowder.Visualization{}, nil
	}
	return on, clowder.Visualization{
		Client: c.extractors.Of(rec.Request).Name(), Component: clowder.ComponentHTML, MimeType: "text/html",
		Parameters: map[string]any{"run": rec.Run, "artifact": liveArtifact},
		Name:       "Run " + rec.Run + " live", Description: "How far the run is. The report takes this place at the end.",
	}, nil
}

// liveCards are the cards that ShowLive has made for a run.
func liveCards(ctx context.Context, on cards, rec job.Record, v clowder.Visualization) ([]clowder.Visualization, error) {
	all, err := on.Visualizations(ctx, rec.Request.DatasetID)
	if err != nil {
		return nil, err
	}
	var out []clowder.Visualization
	for _, h := range all {
		if h.Client == v.Client && h.Parameters["run"] == rec.Run && h.Parameters["artifact"] == liveArtifact {
			out = append(out, h)
		}
	}
	return out, nil
}
