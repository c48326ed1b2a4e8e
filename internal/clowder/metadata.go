package clowder

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/ncsa/clowder-ray/internal/job"
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
	Agent   metadataAgent  `json:"agent"`
}

// metadataAgent is who made an entry: an extractor, or a person.
type metadataAgent struct {
	Listener *struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	} `json:"listener"`
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
	return s.addMetadata(ctx, "dataset", datasetID, m)
}

// Metadata lists the entries that extractors made of a dataset; one that is far larger than ours is left out. v2's own filters cannot be used, so callers pick by Listener and Content.
func (s *Session) Metadata(ctx context.Context, datasetID string) ([]Metadata, error) {
	return s.metadata(ctx, "dataset", datasetID)
}

// AddFileMetadata is AddMetadata for a file. Here Clowder asks for an extractor that it knows by Listener and Version: where it
// has not read our heartbeat yet, the error is retryable. StatusOf tells a file that is gone by 404.
func (s *Session) AddFileMetadata(ctx context.Context, fileID string, m Metadata) (string, error) {
	id, err := s.addMetadata(ctx, "file", fileID, m)
	if StatusOf(err) == http.StatusNotFound && strings.Contains(err.Error(), "Extractor not found") {
		return "", job.Retryable(errors.New("Clowder does not know the extractor in this version yet, it waits for its next heartbeat")) //nolint:staticcheck // a name
	}
	return id, err
}

// FileMetadata lists the entries of a file.
func (s *Session) FileMetadata(ctx context.Context, fileID string) ([]Metadata, error) {
	return s.metadata(ctx, "file", fileID)
}

func (s *Session) addMetadata(ctx context.Context, kind, id string, m Metadata) (string, error) {
	if err := checkIDs(kind, id); err != nil {
		return "", err
	}
	body := map[string]any{
		"content": m.Content, "@context": m.Contexts,
		"listener": map[string]string{"name": m.Listener, "version": m.Version, "description": ""},
	}
	var row metadataRow
	err := s.do(ctx, post("add metadata to the "+kind, mayAdd, body, &row, kind+"s", id, "metadata"))
	return row.ID, err
}

func (s *Session) metadata(ctx context.Context, kind, id string) ([]Metadata, error) {
	if err := checkIDs(kind, id); err != nil {
		return nil, err
	}
	var list rows
	c := get("read the metadata of the "+kind, mayView, kind+"s", id, "metadata")
	c.into = &list
	if err := s.do(ctx, c); err != nil {
		return nil, err
	}
	return metadataOf(list), nil
}

// metadataOf reads the entries of extractors; those that people wrote are none.
func metadataOf(list rows) []Metadata {
	out := make([]Metadata, 0, len(list))
	var decoder rowDecoder
	for _, raw := range list {
		var from struct{ Agent metadataAgent }
		var row metadataRow
		if json.Unmarshal(raw, &from) == nil && from.Agent.Listener != nil && decoder.decode(raw, &row) {
			out = append(out, row.metadata())
		}
	}
	return out
}
