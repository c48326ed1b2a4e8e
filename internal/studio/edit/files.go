package edit

import (
	"context"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/studio/web"
)

// versioned is a Clowder that keeps versions of files. The editor reads and saves no other files.
type versioned interface {
	FilesNow(ctx context.Context, dataset string) ([]clowder.File, error)
	FileState(ctx context.Context, id string) (clowder.FileState, error)
	ReadFile(ctx context.Context, f clowder.File, version int, most int64) ([]byte, error)
	Versions(ctx context.Context, id string, most int) ([]clowder.Version, error)
	Update(ctx context.Context, f clowder.FileState, content []byte) (clowder.FileState, error)
}

// filesOf acts on files with the credential of the visitor. In a Clowder that keeps no versions, no file is there.
func filesOf(ctx context.Context) versioned {
	if files, ok := web.VisitorOf(ctx).Clowder.(versioned); ok {
		return files
	}
	return unversioned{}
}

// unversioned is a Clowder that keeps no versions of files.
type unversioned struct{}

func (unversioned) FilesNow(context.Context, string) ([]clowder.File, error) {
	return nil, web.NotFound
}

func (unversioned) FileState(context.Context, string) (clowder.FileState, error) {
	return clowder.FileState{}, web.NotFound
}

func (unversioned) ReadFile(context.Context, clowder.File, int, int64) ([]byte, error) {
	return nil, web.NotFound
}

func (unversioned) Versions(context.Context, string, int) ([]clowder.Version, error) {
	return nil, web.NotFound
}

func (unversioned) Update(context.Context, clowder.FileState, []byte) (clowder.FileState, error) {
	return clowder.FileState{}, web.NotFound
}
