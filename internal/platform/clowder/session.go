package clowder

import (
	"context"

	"github.com/ncsa/clowder-ray/internal/clowder"
	v1 "github.com/ncsa/clowder-ray/internal/clowder/v1"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
)

// session acts for one user at one Clowder. The versions of Clowder differ behind it.
type session interface {
	// Address is the normalised address of the Clowder.
	Address() string
	// CheckKey returns the e-mail address of the user.
	CheckKey(ctx context.Context) (string, error)
	// Role returns what the user may do with a dataset.
	Role(ctx context.Context, dataset string) (clowder.Role, error)
	Dataset(ctx context.Context, id string) (clowder.Dataset, error)
	files
	metadata
}

// files reads and changes the files and folders of a dataset. The empty id of a folder is the root of the dataset.
type files interface {
	Files(ctx context.Context, dataset string) ([]clowder.File, error)
	FolderFiles(ctx context.Context, dataset, folder string) ([]clowder.File, error)
	Stage(ctx context.Context, files []clowder.File, dir disk.Folder, progress func(clowder.Progress)) ([]job.Input, error)
	FindFolder(ctx context.Context, dataset, parent, name string) (string, error)
	AddFolder(ctx context.Context, dataset, parent, name string) (string, error)
	Upload(ctx context.Context, dataset, folder string, body clowder.Body) (clowder.File, error)
	DeleteFile(ctx context.Context, id string) error
	AddThumbnail(ctx context.Context, body clowder.Body) (string, error)
	SetFileThumbnail(ctx context.Context, file, thumbnail string) error
}

// metadata reads and adds the entries of extractors.
type metadata interface {
	Metadata(ctx context.Context, dataset string) ([]clowder.Metadata, error)
	AddMetadata(ctx context.Context, dataset string, m clowder.Metadata) (string, error)
	FileMetadata(ctx context.Context, file string) ([]clowder.Metadata, error)
	FileNotes(ctx context.Context, file string) ([]clowder.Note, error)
	AddFileMetadata(ctx context.Context, file string, m clowder.Metadata) (string, error)
}

// cards shows pictures and pages on a dataset, in Clowder v2.
type cards interface {
	Visualizations(ctx context.Context, dataset string) ([]clowder.Visualization, error)
	AddVisualization(ctx context.Context, dataset string, v clowder.Visualization, body clowder.Body) (clowder.Visualization, error)
	DeleteVisualization(ctx context.Context, v clowder.Visualization) error
}

// previews shows pictures on the pages of files, in Clowder v1.
type previews interface {
	Previews(ctx context.Context, file string) ([]v1.Preview, error)
	AddPreview(ctx context.Context, file, extractor string, body clowder.Body) (string, error)
}

var (
	_ session  = (*clowder.Session)(nil)
	_ cards    = (*clowder.Session)(nil)
	_ session  = (*v1.Session)(nil)
	_ previews = (*v1.Session)(nil)
)
