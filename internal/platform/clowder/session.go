package clowder

import (
	"context"

	"github.com/ncsa/clowder-ray/internal/clowder"
)

// What only some versions of Clowder do. A session that has the methods can do it.

// jobs shows the jobs of its user, and those of others about datasets that its user sees; see ability.Set.ShowsJobs.
type jobs interface {
	Job(ctx context.Context, id string) (clowder.Job, error)
	RecentJobs(ctx context.Context, extractor string) ([]clowder.Job, error)
}

// keeper keeps the versions of files; see ability.Set.SubmitsFiles.
type keeper interface {
	Versions(ctx context.Context, file string, most int) ([]clowder.Version, error)
}

// cards shows pictures and pages on a dataset.
type cards interface {
	Visualizations(ctx context.Context, dataset string) ([]clowder.Visualization, error)
	AddVisualization(ctx context.Context, dataset string, v clowder.Visualization, body clowder.Body) (clowder.Visualization, error)
	DeleteVisualization(ctx context.Context, v clowder.Visualization) error
}

// previews shows pictures on the pages of files.
type previews interface {
	Previews(ctx context.Context, file string) ([]clowder.Preview, error)
	AddPreview(ctx context.Context, file, extractor string, body clowder.Body) (string, error)
}

// licensor has licences that owners of datasets write.
type licensor interface {
	Licence(ctx context.Context, of clowder.Dataset) (clowder.Licence, error)
}

// barrier forbids downloads because of licences, and tells it when asked for a file.
type barrier interface {
	MayDownload(ctx context.Context, f clowder.File) error
}
