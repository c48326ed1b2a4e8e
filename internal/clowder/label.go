package clowder

import (
	"context"
	"net/http"
	"net/url"
)

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
