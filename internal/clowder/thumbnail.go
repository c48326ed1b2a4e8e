package clowder

import (
	"context"
	"net/http"
)

// AddThumbnail stores a small picture and returns its id; it shows nowhere until it is set.
func (s *Session) AddThumbnail(ctx context.Context, body Body) (string, error) {
	if err := checkName("file", body.Name); err != nil {
		return "", err
	}
	var made struct {
		ID string `json:"id"`
	}
	op := operation{what: "store a thumbnail", right: mayAdd, once: true}
	return made.ID, s.send(ctx, op, s.url("thumbnails"), body, &made)
}

// SetDatasetThumbnail shows a thumbnail on the card of a dataset. It overwrites one that is there: look at
// Dataset.ThumbnailID before.
func (s *Session) SetDatasetThumbnail(ctx context.Context, datasetID, thumbnailID string) error {
	return s.setThumbnail(ctx, "dataset", datasetID, thumbnailID)
}

// SetFileThumbnail shows a thumbnail on the card of a file.
func (s *Session) SetFileThumbnail(ctx context.Context, fileID, thumbnailID string) error {
	return s.setThumbnail(ctx, "file", fileID, thumbnailID)
}

func (s *Session) setThumbnail(ctx context.Context, what, id, thumbnailID string) error {
	if err := checkIDs(what, id, "thumbnail", thumbnailID); err != nil {
		return err
	}
	c := get("set the thumbnail of a "+what, mayEdit, what+"s", id, "thumbnail", thumbnailID)
	c.method = http.MethodPatch
	return s.do(ctx, c)
}
