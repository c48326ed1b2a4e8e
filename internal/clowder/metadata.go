package clowder

import (
	"context"
	"encoding/json"
	"time"
)

// Metadata is one entry of the Machine Metadata tab.
type Metadata struct {
	ID string
	// Content must not hold NaN or infinite numbers: v2 stores them and can then never show any metadata of the resource.
	Content map[string]any
	// Contexts says what the keys of Content mean: objects from key to URL. Clowder refuses an entry without any.
	Contexts []any
	// Listener and Version are the extractor as registered; only entries with a listener are shown.
	Listener, Version string
	Created           time.Time
}

type metadataRow struct {
	ID      string         `json:"id"`
	Content map[string]any `json:"content"`
	Context []any          `json:"@context"`
	Created string         `json:"created"`
	Agent   struct {
		Listener *struct {
			Name    string `json:"name"`
			Version string `json:"version"`
		} `json:"listener"`
	} `json:"agent"`
}

func (r metadataRow) metadata() Metadata {
	m := Metadata{ID: r.ID, Content: r.Content, Contexts: r.Context, Created: parseTime(r.Created)}
	if r.Agent.Listener != nil {
		m.Listener, m.Version = r.Agent.Listener.Name, r.Agent.Listener.Version
	}
	return m
}

// AddMetadata adds an entry to a dataset and returns its id. Each call that works adds one; after an error of kind unknown
// look with Metadata.
func (s *Session) AddMetadata(ctx context.Context, datasetID string, m Metadata) (string, error) {
	if err := checkIDs("dataset", datasetID); err != nil {
		return "", err
	}
	body := map[string]any{
		"content": m.Content, "@context": m.Contexts,
		"listener": map[string]string{"name": m.Listener, "version": m.Version, "description": ""},
	}
	var row metadataRow
	err := s.do(ctx, post("add metadata to the dataset", mayAdd, body, &row, "datasets", datasetID, "metadata"))
	return row.ID, err
}

// Metadata lists the entries of a dataset. v2's own filters cannot be used, so callers pick by Listener and Content.
func (s *Session) Metadata(ctx context.Context, datasetID string) ([]Metadata, error) {
	if err := checkIDs("dataset", datasetID); err != nil {
		return nil, err
	}
	var rows []json.RawMessage
	c := get("read the metadata of the dataset", mayView, "datasets", datasetID, "metadata")
	c.into = &rows
	if err := s.do(ctx, c); err != nil {
		return nil, err
	}
	out := make([]Metadata, 0, len(rows))
	for _, raw := range rows {
		var row metadataRow
		if json.Unmarshal(raw, &row) == nil { // entries of others may have any shape
			out = append(out, row.metadata())
		}
	}
	return out, nil
}
