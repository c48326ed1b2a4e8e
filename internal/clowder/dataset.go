package clowder

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/ncsa/clowder-ray/internal/clowder/localname"
	"github.com/ncsa/clowder-ray/internal/text"
)

// The permissions that error messages about a 403 name.
const (
	mayView = "view the dataset"
	mayAdd  = "add files to the dataset (uploader)"
	mayEdit = "edit the dataset (editor)"
)

// Dataset is a dataset without its content.
type Dataset struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
	// Status is PRIVATE, PUBLIC or AUTHENTICATED. In a private dataset the owner does not see what a collaborator's key adds.
	Status  string `json:"status"`
	Creator User   `json:"creator"`
	// Release is the number of a released version of a dataset, which takes no files; not positive for a dataset that people work on.
	Release int `json:"frozen_version_num"`
	// OriginID is the dataset that a released version was made from.
	OriginID string `json:"origin_id"`
	// CommonLicence says that LicenceID is the name of a common licence, and not the id of one that the owner has written.
	CommonLicence bool   `json:"standard_license"`
	LicenceID     string `json:"license_id"`
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

// CreateDataset makes a private dataset of the user. After an error of kind unknown it may exist.
func (s *Session) CreateDataset(ctx context.Context, name, description string) (Dataset, error) {
	var out Dataset
	c := post("create a dataset", "create datasets", map[string]string{"name": name, "description": description}, &out, "datasets")
	c.query = url.Values{"license_id": {"CC BY"}} // v2 answers 422 without one
	return out, s.do(ctx, c)
}

// File is one file of a dataset as Clowder lists it.
type File struct {
	ID string
	// Name is the name without folders. Path starts with the names of its folders, root first, with slashes. Both are as users typed
	// them; Stage makes safe local names from them.
	Name, Path string
	Size       int64
	// ContentType is Clowder's guess.
	ContentType string
	Version     int
	FolderID    string
	// Folders are the ids of its folders, root first, as many as its Path has.
	Folders []string
	// Creator is the e-mail address of the user who added the file.
	Creator string
	// ThumbnailID is empty if the file has no thumbnail.
	ThumbnailID string
	// Stored is the path of the file on Clowder's machine, if Clowder tells it: v1 to administrators, v2 for files that were registered and not uploaded.
	Stored string
	// Registered says that Clowder did not take the bytes in, so somebody can overwrite them in their place.
	Registered bool
	// InFlight is true while the file is being uploaded. Its size is not known yet.
	InFlight bool
	// Deleted says that Clowder listed the file and then did not know it, or its folder.
	Deleted bool

	changed int64 // when the bytes in a mounted folder were last changed, in ns since 1970; set while the file is staged
}

// fileRow is a file as v2 sends it.
type fileRow struct {
	ID          string  `json:"id"`
	Name        string  `json:"name"`
	Bytes       int64   `json:"bytes"`
	VersionNum  int     `json:"version_num"`
	FolderID    *string `json:"folder_id"`
	ThumbnailID *string `json:"thumbnail_id"`
	StorageType string  `json:"storage_type"`
	StoragePath *string `json:"storage_path"`
	ContentType struct {
		ContentType string `json:"content_type"`
	} `json:"content_type"`
	Creator struct {
		Email string `json:"email"`
	} `json:"creator"`
}

const (
	// maxName and maxPath limit the name of a file and the path of its folder, in bytes. No file system allows longer names, and a
	// dataset may have many files.
	maxName = 1000
	maxPath = 2000
	// maxLabel limits texts that are only shown or compared, in characters.
	maxLabel = 255
)

func (r fileRow) file() File {
	name := localname.Cut(r.Name, maxName)
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
	f.Registered = r.StorageType == "local"
	if r.StoragePath != nil && r.StorageType == "local" && len(*r.StoragePath) <= maxPath {
		f.Stored = *r.StoragePath
	}
	return f
}

// parseTime reads a time of v2, which is UTC without a zone. An invalid one becomes the zero time.
func parseTime(text string) time.Time {
	for _, layout := range []string{"2006-01-02T15:04:05.999999999", time.RFC3339Nano} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}

// DeleteFile deletes a file. It returns nil if the file does not exist.
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

// AddThumbnail stores a small picture and returns its id. Clowder shows it after SetFileThumbnail.
func (s *Session) AddThumbnail(ctx context.Context, body Body) (string, error) {
	if err := checkName("file", body.Name); err != nil {
		return "", err
	}
	var made struct {
		ID string `json:"id"`
	}
	op := operation{what: "store a thumbnail", right: mayAdd, once: true}
	err := s.send(ctx, op, http.MethodPost, s.url("thumbnails"), "file", body, &made)
	return made.ID, err
}

// SetFileThumbnail shows a thumbnail on the card of a file.
func (s *Session) SetFileThumbnail(ctx context.Context, fileID, thumbnailID string) error {
	if err := checkIDs("file", fileID, "thumbnail", thumbnailID); err != nil {
		return err
	}
	c := get("set the thumbnail of a file", mayEdit, "files", fileID, "thumbnail", thumbnailID)
	c.method = http.MethodPatch
	return s.do(ctx, c)
}
