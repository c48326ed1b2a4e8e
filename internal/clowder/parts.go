package clowder

import (
	"context"
	"time"

	"github.com/ncsa/clowder-ray/internal/cache"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
)

// partsEvery is how often what StagePart has staged becomes durable: what a kill can cost. A sync of a file system takes a second where other
// programs have written much to it.
const partsEvery = 15 * time.Second

// Parts is a folder that is filled in many small calls of StagePart, one after the other, which become durable together. It belongs to one job.
type Parts struct {
	c       *Client
	target  *cache.Target
	entries []cache.Entry // of files that were staged since the last sync
	synced  time.Time
}

// Parts opens dir for StagePart and makes it if it is missing. The caller closes it.
func (c *Client) Parts(dir disk.Folder) (*Parts, error) {
	target, err := c.target(dir)
	if err != nil {
		return nil, err
	}
	return &Parts{c: c, target: target, synced: time.Now()}, nil
}

// Finish makes all that was staged durable. After a nil error each file is on disk under its path.
func (p *Parts) Finish() error { return p.commit(p.target) }

func (p *Parts) commit(target *cache.Target) error {
	entries := p.entries
	p.entries, p.synced = nil, time.Now()
	return diskError("store the dataset", p.c.commit(p.c.cache, entries, target))
}

// Close closes the folder. What no sync has reached is downloaded again by the next run that needs it.
func (p *Parts) Close() error {
	p.target.Close()
	return nil
}

// StagePart puts files into the folder of p as Stage does, but for what becomes durable when. No two calls may stage files into the same folders.
func (s *Session) StagePart(ctx context.Context, files []File, p *Parts) ([]job.Input, error) {
	st, err := s.staging(files, p.target)
	if err != nil {
		return nil, err
	}
	err = st.all(ctx)
	p.entries = append(p.entries, st.entries...)
	if err != nil {
		return nil, err
	}
	if time.Since(p.synced) >= partsEvery {
		if err := p.commit(nil); err != nil {
			return nil, err
		}
	}
	return st.present()
}
