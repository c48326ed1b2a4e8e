package clowder

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/ncsa/clowder-ray/internal/text"
)

// The rights that 403 texts name.
const (
	mayView = "view the dataset"
	mayAdd  = "add files to the dataset (uploader)"
	mayEdit = "edit the dataset (editor)"
)

// Dataset is what Clowder knows of a dataset itself.
type Dataset struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
	// Status is PRIVATE, PUBLIC or AUTHENTICATED. In a private one the owner does not see what a collaborator's key adds.
	Status      string `json:"status"`
	ThumbnailID string `json:"thumbnail_id"`
	Creator     User   `json:"creator"`
}

// User is a person as Clowder shows it.
type User struct {
	Email string `json:"email"`
}

// Dataset reads a dataset.
func (s *Session) Dataset(ctx context.Context, id string) (Dataset, error) {
	var out Dataset
	if err := checkIDs("dataset", id); err != nil {
		return out, err
	}
	c := get("read the dataset", mayView, "datasets", id)
	c.into = &out
	return out, s.do(ctx, c)
}

// CreateDataset makes a private dataset of the user. An error of kind unknown means that it may have been made.
func (s *Session) CreateDataset(ctx context.Context, name, description string) (Dataset, error) {
	var out Dataset
	c := post("create a dataset", "create datasets", map[string]string{"name": name, "description": description}, &out, "datasets")
	c.query = url.Values{"license_id": {"CC BY"}} // v2 answers 422 without one
	return out, s.do(ctx, c)
}

// File is one file of a dataset as Clowder lists it.
type File struct {
	ID string
	// Name is the name without folders, Path the same with the names of its folders before it, root first, with slashes.
	// Both are as people typed them; Stage makes safe local names of them.
	Name, Path string
	Size       int64
	// ContentType is what Clowder took it for, not what it is.
	ContentType string
	Version     int
	FolderID    string
	// Creator is the e-mail address of who added it.
	Creator string
	// ThumbnailID is empty where the file has no thumbnail.
	ThumbnailID string
	// InFlight marks a file that is listed while it is still being uploaded; its size is not known yet.
	InFlight bool
}

// fileRow is v2's spelling of a file.
type fileRow struct {
	ID          string  `json:"id"`
	Name        string  `json:"name"`
	Bytes       int64   `json:"bytes"`
	VersionNum  int     `json:"version_num"`
	FolderID    *string `json:"folder_id"`
	ThumbnailID *string `json:"thumbnail_id"`
	StorageType string  `json:"storage_type"`
	ContentType struct {
		ContentType string `json:"content_type"`
	} `json:"content_type"`
	Creator struct {
		Email string `json:"email"`
	} `json:"creator"`
}

const (
	// maxName and maxPath are how much of the name of a file and of the path of its folder is kept, in bytes. No file system takes
	// longer ones, and a dataset may have many.
	maxName = 1000
	maxPath = 2000
	// maxLabel is how much is kept of what is only shown or compared, in runes.
	maxLabel = 255
)

func (r fileRow) file() File {
	name := cutName(r.Name, maxName)
	f := File{
		ID: r.ID, Name: name, Path: name, Size: max(0, r.Bytes), ContentType: text.Shorten(r.ContentType.ContentType, maxLabel), Version: r.VersionNum,
		Creator:  text.Shorten(r.Creator.Email, maxLabel),
		InFlight: r.VersionNum == 0 && r.Bytes == 0 && (r.StorageType == "" || r.StorageType == "minio"),
	}
	if r.FolderID != nil {
		f.FolderID = *r.FolderID
	}
	if r.ThumbnailID != nil {
		f.ThumbnailID = *r.ThumbnailID
	}
	return f
}

// parseTime reads v2's times, which are UTC without saying so; an unreadable one is the zero time.
func parseTime(text string) time.Time {
	for _, layout := range []string{"2006-01-02T15:04:05.999999999", time.RFC3339Nano} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}

// DeleteFile removes a file. One that is gone already is no error.
func (s *Session) DeleteFile(ctx context.Context, id string) error {
	if err := checkIDs("file", id); err != nil {
		return err
	}
	c := get("delete a file", mayEdit, "files", id)
	c.method = http.MethodDelete
	if err := s.do(ctx, c); err != nil && StatusOf(err) != http.StatusNotFound {
		return err
	}
	return nil
}

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
