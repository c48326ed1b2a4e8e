package v1

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/text"
)

// userPath stands before the id of a person in the address that identifies them.
const userPath = "/api/users/"

// AddFileNote adds an entry of the user of the session to a file, as a person does in Clowder. Each successful call adds one. After an error of
// kind unknown check with FileNotes. The key of the installation is refused, since its entries would have no author.
func (s *Session) AddFileNote(ctx context.Context, file string, content map[string]any) error {
	if err := clowder.CheckIDs("file", file); err != nil {
		return err
	}
	me, err := s.me(ctx)
	if err != nil {
		return err
	}
	if me.Email == "" || clowder.CheckIDs("user", me.ID) != nil {
		return job.Permanent(clowder.ErrNobody)
	}
	body := map[string]any{
		"content": storable(content),
		"agent":   map[string]string{"@type": "cat:user", "name": text.Shorten(me.Name, maxLabel), "user_id": s.Address() + userPath + me.ID},
	}
	return s.do(ctx, post("add metadata to the file", mayAdd, body, nil, "files", file, "metadata.jsonld"))
}

// DeleteNote deletes an entry by its id. What is deleted already is refused like what the user may not delete.
func (s *Session) DeleteNote(ctx context.Context, id string) error {
	if err := clowder.CheckIDs("metadata", id); err != nil {
		return err
	}
	c := get("delete an entry of metadata", mayAdd, nil, "metadata.jsonld", id)
	c.Method = http.MethodDelete
	return s.do(ctx, c)
}

// Author is how the entries of the user of the session name their author; see [clowder.Note].
func (s *Session) Author(ctx context.Context) (string, error) {
	me, err := s.me(ctx)
	return me.ID, err
}

// author is the id of the person who wrote an entry, empty for an extractor.
func (a agent) author() string {
	_, id, _ := strings.Cut(a.UserID, userPath)
	return id
}

// ReadFile reads a file into memory; see [clowder.Session.ReadFile]. Files of v1 have one version.
func (s *Session) ReadFile(ctx context.Context, f clowder.File, _ int, most int64) ([]byte, error) {
	if err := clowder.CheckIDs("file", f.ID); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.wire.Config().CallTimeout)
	defer cancel()
	answer, err := s.open(ctx, f)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := clowder.ReadAtMost(answer.Body, f, most)
	if err != nil && !errors.Is(err, clowder.ErrFileTooLarge) {
		return nil, job.Retryable(errors.New("Clowder broke off a download: try again")) //nolint:staticcheck // a name
	}
	return body, err
}
