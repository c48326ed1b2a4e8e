package clowder

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/text"
)

// FileState is a file with what identifies its newest version.
type FileState struct {
	File
	DatasetID string
	// VersionID names the newest version in the object store. Two versions can have the same number, but not the same id.
	VersionID string
	// SavedAt is when the newest version was saved. Its author is File.Creator.
	SavedAt time.Time
	// Frozen marks a file of a published version of its dataset. It takes no new version.
	Frozen bool
	// Stored is where the bytes are. Clowder keeps versions only of files in its own object store.
	Stored string
}

// KeepsVersions reports whether Clowder can store a new version of the file.
func (f FileState) KeepsVersions() bool {
	return !f.Frozen && !f.InFlight && (f.Stored == "" || f.Stored == "minio")
}

// Version is one version of a file.
type Version struct {
	// Number counts from 1. Two people who save at the same moment can get the same number; see [Session.Update].
	Number  int
	ID      string
	Size    int64
	Creator string
	SavedAt time.Time
}

// stateRow is a file as v2 describes it alone.
type stateRow struct {
	fileRow
	DatasetID string `json:"dataset_id"`
	VersionID string `json:"version_id"`
	Created   string `json:"created"`
	Frozen    bool   `json:"frozen"`
}

func (r stateRow) state() FileState {
	return FileState{
		File: r.file(), DatasetID: r.DatasetID, VersionID: text.Shorten(r.VersionID, maxLabel), SavedAt: parseTime(r.Created), Frozen: r.Frozen,
		Stored: text.Shorten(r.StorageType, maxLabel),
	}
}

// FileState reads what Clowder says of a file.
func (s *Session) FileState(ctx context.Context, id string) (FileState, error) {
	if err := checkIDs("file", id); err != nil {
		return FileState{}, err
	}
	var row stateRow
	c := get("read what it knows of the file", mayView, "files", id, "summary")
	c.into = &row
	if err := s.do(ctx, c); err != nil {
		return FileState{}, err
	}
	if err := checkIDs("file", row.ID, "dataset", row.DatasetID); err != nil {
		return FileState{}, err
	}
	return row.state(), nil
}

// Versions returns the newest versions of a file, newest first, at most this many. A file outside of Clowder's object store has none.
func (s *Session) Versions(ctx context.Context, id string, most int) ([]Version, error) {
	if err := checkIDs("file", id); err != nil {
		return nil, err
	}
	var found []struct {
		Number    int    `json:"version_num"`
		VersionID string `json:"version_id"`
		Bytes     int64  `json:"bytes"`
		Created   string `json:"created"`
		Creator   User   `json:"creator"`
	}
	c := get("list the versions of the file", mayView, "files", id, "versions")
	c.query, c.into = url.Values{"limit": {strconv.Itoa(most)}}, &found
	if err := s.do(ctx, c); err != nil {
		return nil, err
	}
	versions := make([]Version, 0, len(found))
	for _, v := range found {
		versions = append(versions, Version{
			Number: v.Number, ID: text.Shorten(v.VersionID, maxLabel), Size: max(0, v.Bytes), Creator: text.Shorten(v.Creator.Email, maxLabel),
			SavedAt: parseTime(v.Created),
		})
	}
	return versions, nil
}

// ErrFileTooLarge is the error of ReadFile for a file above its limit.
var ErrFileTooLarge = errors.New("the file is too large")

// ReadFile reads a version of a file into memory, the newest one with version 0. It does not count as a download in Clowder. More than
// most bytes are ErrFileTooLarge. Where two versions have the same number, Clowder returns the one whose row it finds first.
func (s *Session) ReadFile(ctx context.Context, f File, version int, most int64) ([]byte, error) {
	if err := checkIDs("file", f.ID); err != nil {
		return nil, err
	}
	op := operation{what: fmt.Sprintf("read %q", text.Excerpt(f.Name, 80)), right: mayView}
	query := url.Values{"increment": {"false"}}
	if version > 0 {
		query.Set("version", strconv.Itoa(version))
	}
	var body []byte
	err := s.c.retry(ctx, func() error {
		var err error
		body, err = s.readOnce(ctx, op, f, query, most)
		return err
	})
	return body, err
}

func (s *Session) readOnce(ctx context.Context, op operation, f File, query url.Values, most int64) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, s.c.cfg.CallTimeout)
	defer cancel()
	answer, err := s.openVersion(ctx, op, f, query)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := ReadAtMost(answer.Body, f, most)
	if err != nil && !errors.Is(err, ErrFileTooLarge) {
		return nil, transportError(ctx, op, true, err)
	}
	return body, err
}

// ReadAtMost reads the body of a file. More than most bytes are ErrFileTooLarge; other errors are those of body.
func ReadAtMost(body io.Reader, f File, most int64) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(body, most+1))
	switch {
	case err != nil:
		return nil, err
	case int64(len(content)) > most:
		return nil, job.Permanent(fmt.Errorf("%w: %q has more than %s", ErrFileTooLarge, text.Excerpt(f.Name, 80), text.Bytes(most)))
	}
	return content, nil
}

// Update saves content as a new version of a file and returns the file as Clowder describes it then. Clowder takes new versions only from
// a session with a token of its Keycloak; one with an API key is refused with 403.
//
// Clowder does not compare versions: it adds one to the number that it reads when the request begins. So two updates at once can end with
// the same number; the caller compares the answer and Versions with what it expects. After an error of kind unknown the version may exist.
func (s *Session) Update(ctx context.Context, f FileState, content []byte) (FileState, error) {
	op := operation{what: fmt.Sprintf("save a new version of %q", text.Shorten(f.Name, 80)), right: mayEdit, once: true}
	if err := checkIDs("file", f.ID); err != nil {
		return FileState{}, err
	}
	if err := checkName("file", f.Name); err != nil {
		return FileState{}, err
	}
	if !f.KeepsVersions() {
		return FileState{}, job.Permanent(fmt.Errorf("Clowder keeps no new version of %q, because it is published, not complete or kept elsewhere", f.Name)) //nolint:staticcheck // a name
	}
	// Clowder refuses a name or a content type that differs from the stored one.
	body := Body{Name: f.Name, ContentType: f.ContentType, Size: int64(len(content)), Open: func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(content)), nil
	}}
	var row stateRow
	if err := s.send(ctx, op, http.MethodPut, s.url("files", f.ID), "file", body, &row); err != nil {
		return FileState{}, err
	}
	if row.ID != f.ID {
		return FileState{}, job.Unknown(fmt.Errorf("Clowder answered with another file when asked to %s", op.what)) //nolint:staticcheck // a name
	}
	state := row.state()
	state.Frozen = false // the answer says true for every file
	return state, nil
}
