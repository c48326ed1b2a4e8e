package v1

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/text"
)

// Selected lists the datasets of a collection, with those of the collections in it, or of a space. Clowder may list datasets of a space that the
// user may not see. The datasets of other holders are a permanent error.
func (s *Session) Selected(ctx context.Context, one clowder.Selection) ([]clowder.Ref, error) {
	found := &members{s: s, seen: map[string]bool{}}
	switch one.Holder {
	case clowder.Space:
		c := get("list the datasets of the space", "view the space", nil, "spaces", one.Value, "datasets")
		if err := clowder.CheckIDs("space", one.Value); err != nil {
			return nil, err
		}
		err := found.addDatasets(ctx, c)
		return found.refs, err
	case clowder.Collection:
		err := found.addCollections(ctx, one.Value)
		return found.refs, err
	default:
		return nil, clowder.NoSuchHolder(one, "ids of datasets, collection:ID or space:ID")
	}
}

// members collects the datasets of collections.
type members struct {
	s    *Session
	seen map[string]bool // ids of datasets
	refs []clowder.Ref
}

// addCollections adds the datasets of a collection and of all collections below it. One that is in itself is read once.
func (m *members) addCollections(ctx context.Context, id string) error {
	known, waiting := map[string]bool{id: true}, []string{id}
	for len(waiting) > 0 {
		id, waiting = waiting[0], waiting[1:]
		if err := clowder.CheckIDs("collection", id); err != nil {
			return err
		}
		if err := m.addDatasets(ctx, get("list the datasets of the collection", "view the collection", nil, "collections", id, "datasets")); err != nil {
			return err
		}
		inside := get("list the collections in the collection", "view the collection", nil, "collections", id, "getChildCollections")
		rows, err := m.s.named(ctx, inside)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if !known[row.ID] {
				known[row.ID] = true
				waiting = append(waiting, row.ID)
			}
		}
	}
	return nil
}

func (m *members) addDatasets(ctx context.Context, c clowder.Call) error {
	rows, err := m.s.named(ctx, c)
	for _, row := range rows {
		if err == nil {
			m.refs, err = m.s.wire.Config().AddRef(m.refs, m.seen, row)
		}
	}
	return err
}

// named reads a list of things that have an id and a name. v1 has no pages for such lists.
func (s *Session) named(ctx context.Context, c clowder.Call) ([]clowder.Ref, error) {
	most := s.wire.Config().MaxFiles
	var refs []clowder.Ref
	err := s.explained(ctx, c, func() error {
		return s.wire.Rows(ctx, c, func() { refs = nil }, func(raw json.RawMessage) error {
			var row clowder.Ref
			if json.Unmarshal(raw, &row) != nil {
				return job.Permanent(errors.New("Clowder lists a dataset or a collection in a form that is not known")) //nolint:staticcheck // a name
			}
			row.Name = text.Shorten(row.Name, maxLabel)
			if len(refs) <= most { // the caller refuses the one too many
				refs = append(refs, row)
			}
			return clowder.CheckIDs("dataset", row.ID)
		})
	})
	return refs, err
}
