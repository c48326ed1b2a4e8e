package clowder

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/ncsa/clowder-ray/internal/clowder/jsonscan"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/text"
)

// Metadata is one entry of the Machine Metadata tab.
type Metadata struct {
	ID string
	// Content must not contain NaN or infinite numbers: v2 stores them and then cannot show any metadata of the resource.
	Content map[string]any
	// Contexts define the keys of Content: objects from key to URL. Clowder refuses an entry without contexts.
	Contexts []any
	// Listener and Version are the registered extractor. Clowder shows only entries with a listener.
	Listener, Version string
	Created           time.Time
	// FileVersion is the version of the file that the entry describes; 0 is the newest one. A Clowder whose files have one version ignores it.
	FileVersion int
}

type metadataRow struct {
	ID       string         `json:"id"`
	Content  map[string]any `json:"content"`
	Context  []any          `json:"@context"`
	Created  string         `json:"created"`
	Agent    metadataAgent  `json:"agent"`
	Resource struct {
		Version int `json:"version"`
	} `json:"resource"`
}

// metadataAgent is the author of an entry: an extractor, or a user.
type metadataAgent struct {
	Creator  User `json:"creator"`
	Listener *struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	} `json:"listener"`
}

func (r metadataRow) metadata() Metadata {
	m := Metadata{ID: r.ID, Content: r.Content, Contexts: r.Context, Created: parseTime(r.Created), FileVersion: r.Resource.Version}
	if r.Agent.Listener != nil {
		m.Listener, m.Version = r.Agent.Listener.Name, r.Agent.Listener.Version
	}
	return m
}

// AddMetadata adds an entry to a dataset and returns its id. Each successful call adds an entry. After an error of kind unknown check
// with Metadata.
func (s *Session) AddMetadata(ctx context.Context, datasetID string, m Metadata) (string, error) {
	return s.addMetadata(ctx, "dataset", datasetID, m)
}

// Metadata lists the entries that extractors added to a dataset. Very large entries of other extractors are left out. v2's filters do
// not work, so callers filter by Listener and Content.
func (s *Session) Metadata(ctx context.Context, datasetID string) ([]Metadata, error) {
	if err := checkIDs("dataset", datasetID); err != nil {
		return nil, err
	}
	var list jsonscan.Rows
	c := get("read the metadata of the dataset", mayView, "datasets", datasetID, "metadata")
	c.into = &list
	if err := s.do(ctx, c); err != nil {
		return nil, err
	}
	return metadataOf(list), nil
}

// AddFileMetadata is AddMetadata for a file. Here Clowder requires an extractor that it knows by Listener and Version: if it has not
// processed the heartbeat yet, the error is retryable. If the file or its version does not exist, StatusOf returns 404.
func (s *Session) AddFileMetadata(ctx context.Context, fileID string, m Metadata) (string, error) {
	id, err := s.addMetadata(ctx, "file", fileID, m)
	if StatusOf(err) != http.StatusNotFound {
		return id, err
	}
	switch {
	case strings.Contains(err.Error(), "Extractor not found"):
		return "", job.Retryable(errors.New("Clowder does not know this version of the extractor before its next heartbeat")) //nolint:staticcheck // a name
	case m.FileVersion > 0 && strings.Contains(err.Error(), "File version"):
		// Files that v2 does not store itself have a version, but no list of versions in which v2 would find it.
		state, stateErr := s.FileState(ctx, fileID)
		if stateErr == nil && state.Version == m.FileVersion {
			m.FileVersion = 0
			return s.AddFileMetadata(ctx, fileID, m)
		}
	}
	return id, err
}

// FindMetadata returns the first entry of an extractor on a dataset that matches, however many there are.
func (s *Session) FindMetadata(ctx context.Context, datasetID string, match func(Metadata) bool) (Metadata, bool, error) {
	return s.find(ctx, "dataset", datasetID, nil, match)
}

// FindFileMetadata is FindMetadata for the entries of all versions of a file.
func (s *Session) FindFileMetadata(ctx context.Context, fileID string, match func(Metadata) bool) (Metadata, bool, error) {
	return s.find(ctx, "file", fileID, url.Values{"all_versions": {"true"}}, match) // without it v2 hides the entries of earlier versions
}

func (s *Session) find(ctx context.Context, kind, id string, query url.Values, match func(Metadata) bool) (Metadata, bool, error) {
	if err := checkIDs(kind, id); err != nil {
		return Metadata{}, false, err
	}
	return (&Wire{s}).FindEntry(ctx, listOfMetadata(kind, id, query), func(raw json.RawMessage) (Metadata, bool) {
		var row metadataRow
		if !ofExtractor(raw) || json.Unmarshal(raw, &row) != nil {
			return Metadata{}, false
		}
		return row.metadata(), true
	}, match)
}

func listOfMetadata(kind, id string, query url.Values) Call {
	return Call{What: "read the metadata of the " + kind, Right: mayView, Method: http.MethodGet, Path: []string{kind + "s", id, "metadata"}, Query: query}
}

func (s *Session) addMetadata(ctx context.Context, kind, id string, m Metadata) (string, error) {
	if err := checkIDs(kind, id); err != nil {
		return "", err
	}
	body := map[string]any{
		"content": m.Content, "@context": m.Contexts,
		"listener": map[string]string{"name": m.Listener, "version": m.Version, "description": ""},
	}
	if m.FileVersion > 0 {
		body["file_version"] = m.FileVersion
	}
	var row metadataRow
	err := s.do(ctx, post("add metadata to the "+kind, mayAdd, body, &row, kind+"s", id, "metadata"))
	return row.ID, err
}

// metadataOf decodes the entries of extractors and skips the entries of users.
func metadataOf(list jsonscan.Rows) []Metadata {
	out := make([]Metadata, 0, len(list))
	var decoder jsonscan.RowDecoder
	for _, raw := range list {
		var row metadataRow
		if ofExtractor(raw) && decoder.Decode(raw, &row) {
			out = append(out, row.metadata())
		}
	}
	return out
}

// ofExtractor reports whether an extractor made an entry, and not a person.
func ofExtractor(raw json.RawMessage) bool {
	var from struct{ Agent metadataAgent }
	return json.Unmarshal(raw, &from) == nil && from.Agent.Listener != nil
}

// Note is the content of an entry of metadata, of a person or an extractor.
type Note struct {
	// ID identifies it for a deletion.
	ID      string
	Content map[string]any
	// ByPerson says that a person wrote it in Clowder. Otherwise Extractor is the name of the extractor.
	ByPerson  bool
	Extractor string
	// Author identifies the person who wrote it, as Author of their session does, and Name is what to call them.
	Author, Name string
	Created      time.Time
	// Version is the version of the file that the entry describes; 0 in a Clowder whose files have one version, and for a dataset.
	Version int
}

// FileNotes lists the entries of all versions of a file: those of the newest version first, of a version those of persons first, and the
// newest of each first. A file with too many has ErrManyNotes.
func (s *Session) FileNotes(ctx context.Context, fileID string) ([]Note, error) {
	return s.notes(ctx, "file", fileID, url.Values{"all_versions": {"true"}}) // without it v2 hides the entries of earlier versions
}

// DatasetNotes lists the entries of a dataset: those of persons first, and the newest of each first. A dataset with too many has ErrManyNotes.
func (s *Session) DatasetNotes(ctx context.Context, datasetID string) ([]Note, error) {
	return s.notes(ctx, "dataset", datasetID, nil)
}

func (s *Session) notes(ctx context.Context, kind, id string, query url.Values) ([]Note, error) {
	if err := checkIDs(kind, id); err != nil {
		return nil, err
	}
	out, err := (&Wire{s}).Notes(ctx, listOfMetadata(kind, id, query), func(raw json.RawMessage) (Note, bool) {
		var row metadataRow
		if json.Unmarshal(raw, &row) != nil { // entries of other programs may have any form
			return Note{}, false
		}
		creator := row.Agent.Creator
		note := Note{
			ID: row.ID, Content: row.Content, Author: text.Shorten(creator.Email, maxLabel), Name: text.Excerpt(creator.Email, maxLabel),
			ByPerson: row.Agent.Listener == nil, Created: parseTime(row.Created), Version: row.Resource.Version,
		}
		if row.Agent.Listener != nil {
			note.Extractor = row.Agent.Listener.Name
		}
		return note, true
	})
	slices.Reverse(out) // v2 lists the oldest first
	SortNotes(out)
	return out, err
}

// SortNotes puts the entries of the newest version first, of a version those of persons, and the newest of each first. Of two of the same
// second the one that Clowder lists first stays first.
func SortNotes(notes []Note) {
	slices.SortStableFunc(notes, func(a, b Note) int {
		if a.Version != b.Version {
			return b.Version - a.Version
		}
		if a.ByPerson != b.ByPerson {
			if a.ByPerson {
				return -1
			}
			return 1
		}
		return b.Created.Compare(a.Created)
	})
}

// noteContext is the beginning of the addresses that define the keys of notes.
const noteContext = "http://clowder.ncsa.illinois.edu/metadata/clowder-ray#"

// AddFileNote adds an entry of the user of the session to a file, as a person does in Clowder: of no extractor, for its newest version. Each
// successful call adds one. After an error of kind unknown check with FileNotes.
func (s *Session) AddFileNote(ctx context.Context, fileID string, content map[string]any) error {
	if err := checkIDs("file", fileID); err != nil {
		return err
	}
	defined := make(map[string]string, len(content))
	for key := range content {
		defined[key] = noteContext + url.PathEscape(key)
	}
	body := map[string]any{"content": content, "@context": []any{defined}}
	return s.do(ctx, post("add metadata to the file", mayAdd, body, nil, "files", fileID, "metadata"))
}

// DeleteNote deletes an entry by its id. It returns nil if there is none. Clowder lets editors of the dataset delete entries.
func (s *Session) DeleteNote(ctx context.Context, id string) error {
	if err := checkIDs("metadata", id); err != nil {
		return err
	}
	c := get("delete an entry of metadata", mayEdit, "metadata", id)
	c.method = http.MethodDelete
	if err := s.do(ctx, c); err != nil && StatusOf(err) != http.StatusNotFound {
		return err
	}
	return nil
}

// Author is how the entries of the user of the session name their author; see [Note].
func (s *Session) Author(ctx context.Context) (string, error) { return s.CheckKey(ctx) }
