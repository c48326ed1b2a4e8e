package versions

import (
	"context"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
)

// Session acts for one user at one Clowder, with what every version does. What only some versions do is a small interface of the package that
// uses it, for example cards; a session that has its methods can do it. It is safe for concurrent use. Its errors carry an outcome of
// package job.
type Session interface {
	// Address is the normalised address of the Clowder.
	Address() string
	// CheckKey returns the e-mail address of the user.
	CheckKey(ctx context.Context) (string, error)
	// Profile returns the user. A credential that belongs to no person is refused.
	Profile(ctx context.Context) (clowder.Profile, error)
	// Role returns what the user may do with a dataset. clowder.NoRole is no error.
	Role(ctx context.Context, dataset string) (clowder.Role, error)
	Dataset(ctx context.Context, id string) (clowder.Dataset, error)
	// Selected lists the datasets that something else than a dataset holds. Clowder may list some that the user may not see.
	Selected(ctx context.Context, one clowder.Selection) ([]clowder.Ref, error)
	// Submit submits the dataset to an extractor and returns the id of the job.
	Submit(ctx context.Context, dataset, extractor string, parameters map[string]any) (string, error)
	Files
	Metadata
}

// Files reads and changes the files and folders of a dataset. The empty id of a folder is the root of the dataset.
type Files interface {
	Files(ctx context.Context, dataset string) ([]clowder.File, error)
	List(ctx context.Context, dataset string) (clowder.Listing, error)
	FolderFiles(ctx context.Context, dataset, folder string) ([]clowder.File, error)
	Stage(ctx context.Context, files []clowder.File, dir disk.Folder, progress func(clowder.Progress)) ([]job.Input, error)
	StagePart(ctx context.Context, files []clowder.File, parts *clowder.Parts) ([]job.Input, error)
	// ReadFile reads a version of a file into memory, the newest with version 0; more than most bytes are clowder.ErrFileTooLarge.
	ReadFile(ctx context.Context, f clowder.File, version int, most int64) ([]byte, error)
	FindFolder(ctx context.Context, dataset, parent, name string) (string, error)
	AddFolder(ctx context.Context, dataset, parent, name string) (string, error)
	Upload(ctx context.Context, dataset, folder string, body clowder.Body) (clowder.File, error)
	DeleteFile(ctx context.Context, id string) error
	AddThumbnail(ctx context.Context, body clowder.Body) (string, error)
	SetFileThumbnail(ctx context.Context, file, thumbnail string) error
}

// Metadata reads and adds the entries of extractors and of people.
type Metadata interface {
	Metadata(ctx context.Context, dataset string) ([]clowder.Metadata, error)
	AddMetadata(ctx context.Context, dataset string, m clowder.Metadata) (string, error)
	// FindMetadata and FindFileMetadata return the first entry that matches, in memory that does not depend on how many there are.
	FindMetadata(ctx context.Context, dataset string, match func(clowder.Metadata) bool) (clowder.Metadata, bool, error)
	FindFileMetadata(ctx context.Context, file string, match func(clowder.Metadata) bool) (clowder.Metadata, bool, error)
	FileNotes(ctx context.Context, file string) ([]clowder.Note, error)
	DatasetNotes(ctx context.Context, dataset string) ([]clowder.Note, error)
	AddFileMetadata(ctx context.Context, file string, m clowder.Metadata) (string, error)
	// AddFileNote adds an entry of the user, as a person does in Clowder, and DeleteNote deletes one by its id. Author is how entries name the user.
	AddFileNote(ctx context.Context, file string, content map[string]any) error
	DeleteNote(ctx context.Context, id string) error
	Author(ctx context.Context) (string, error)
}
