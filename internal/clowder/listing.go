package clowder

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"github.com/ncsa/clowder-ray/internal/clowder/message"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/text"
)

// settlePoll is the pause between two listings while a file is being uploaded.
const settlePoll = time.Second

type noWait struct{}

// WithoutWait returns a context with which List waits for no upload to end: for a job that has waited in vain often enough.
func WithoutWait(ctx context.Context) context.Context { return context.WithValue(ctx, noWait{}, true) }

// UploadWait is how long a listing with this context waits for uploads to end.
func (c Config) UploadWait(ctx context.Context) time.Duration {
	if ctx.Value(noWait{}) != nil {
		return 0
	}
	return c.InFlightWait
}

// Listing is the files of a dataset, sorted by path and id. Arriving are those whose upload did not end in time; an upload that failed inside
// Clowder leaves such a row permanently. Gone are those that were deleted while they were listed.
type Listing struct{ Files, Arriving, Gone []File }

// NewListing sorts files and puts those apart that are in flight or deleted.
func NewListing(files []File) Listing {
	slices.SortFunc(files, func(a, b File) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.ID, b.ID))
	})
	var l Listing
	for _, f := range files {
		switch {
		case f.Deleted:
			l.Gone = append(l.Gone, f)
		case f.InFlight:
			l.Arriving = append(l.Arriving, f)
		default:
			l.Files = append(l.Files, f)
		}
	}
	return l
}

// Files is List without the files that are still being uploaded.
func (s *Session) Files(ctx context.Context, datasetID string) ([]File, error) {
	l, err := s.List(ctx, datasetID)
	return l.Files, err
}

// List lists the files of all folders of a dataset. It waits for files that are being uploaded, and logs those whose upload does not end in
// time. More files than Config.MaxFiles are a permanent error. Stage checks the bytes, since callers may not want all files.
func (s *Session) List(ctx context.Context, datasetID string) (Listing, error) {
	files, err := s.settled(ctx, func() ([]File, error) { return s.listFiles(ctx, datasetID, "") })
	if err != nil {
		return Listing{}, err
	}
	if err := s.addPaths(ctx, files); err != nil {
		return Listing{}, err
	}
	l := NewListing(files)
	return l, s.c.checkCount(l.Files)
}

// FilesNow lists the files of all folders of a dataset with their paths, newest first, including files in flight. It waits for nothing.
func (s *Session) FilesNow(ctx context.Context, datasetID string) ([]File, error) {
	files, err := s.listFiles(ctx, datasetID, "")
	if err != nil {
		return nil, err
	}
	err = s.addPaths(ctx, files)
	return slices.DeleteFunc(files, func(f File) bool { return f.Deleted }), err
}

// FolderFiles lists the files directly in a folder, including files in flight. Their Path is their Name.
func (s *Session) FolderFiles(ctx context.Context, datasetID, folderID string) ([]File, error) {
	if err := checkIDs("folder", folderID); err != nil {
		return nil, err
	}
	return s.listFiles(ctx, datasetID, folderID)
}

func (s *Session) listFiles(ctx context.Context, datasetID, folderID string) ([]File, error) {
	if err := checkIDs("dataset", datasetID); err != nil {
		return nil, err
	}
	c := get("list the files of the dataset", mayView, "datasets", datasetID, "files")
	if folderID != "" {
		c.query = url.Values{"folder_id": {folderID}}
	}
	rows, err := listAll(ctx, s, c, s.c.cfg.MaxFiles, func(r fileRow) string { return r.ID })
	if err != nil {
		return nil, err
	}
	files := make([]File, 0, len(rows))
	for _, row := range rows {
		if !message.ValidID(row.ID) {
			return nil, job.Permanent(fmt.Errorf("Clowder lists a file with the invalid id %s", quoted(row.ID))) //nolint:staticcheck // a name
		}
		files = append(files, row.file())
	}
	return files, nil
}

// settled lists until no file is in flight or the wait is over.
func (s *Session) settled(ctx context.Context, list func() ([]File, error)) ([]File, error) {
	for end := time.Now().Add(s.c.cfg.UploadWait(ctx)); ; {
		files, err := list()
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(files, func(f File) bool { return f.InFlight }) {
			return files, nil
		}
		if !time.Now().Before(end) {
			for _, f := range files {
				if f.InFlight {
					s.c.log.Warn("left out a file whose upload to Clowder did not end", zap.String("file_id", f.ID))
				}
			}
			return files, nil
		}
		if !sleep(ctx, settlePoll) {
			return nil, fmt.Errorf("wait for uploads to end: %w", context.Cause(ctx))
		}
	}
}

// addPaths adds the names of the folders to the paths of the files. v2 lists the files of all folders together with the id of their
// folder. The path of a folder takes one call, and a few calls are made in parallel. Files of a folder that was deleted meanwhile are
// marked as deleted, too.
func (s *Session) addPaths(ctx context.Context, files []File) error {
	type place struct {
		path    string
		folders []string
	}
	places := make(map[string]place)
	for _, f := range files {
		if f.FolderID != "" {
			places[f.FolderID] = place{}
		}
	}
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(s.c.cfg.Streams)
	for _, id := range slices.Sorted(maps.Keys(places)) {
		group.Go(func() error {
			path, folders, err := s.folderPath(ctx, id)
			mu.Lock()
			defer mu.Unlock()
			if isGone(err) {
				delete(places, id)
				return nil
			}
			places[id] = place{path, folders}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for i, f := range files {
		in, known := places[f.FolderID]
		switch {
		case f.FolderID == "":
		case known:
			files[i].Path, files[i].Folders = in.path+"/"+f.Name, in.folders
		default:
			files[i].Deleted = true
		}
	}
	return nil
}

// checkCount and checkBytes keep one job from filling the shared volume.
func (c *Client) checkCount(files []File) error {
	if len(files) > c.cfg.MaxFiles {
		return job.Permanent(fmt.Errorf("the dataset has more than %s, which is the limit of this service: combine them into fewer, larger files", text.Count(c.cfg.MaxFiles, "file")))
	}
	return nil
}

func (c *Client) checkBytes(files []File) error {
	var total int64
	for _, f := range files {
		// Wrong sizes must not make the sum overflow.
		if f.Size >= 0 && f.Size <= c.cfg.MaxBytes-total {
			total += f.Size
			continue
		}
		return job.Permanent(fmt.Errorf("the dataset has more than %s, which is the limit of this service: use a smaller dataset or ask the administrator to raise the limit",
			text.Bytes(c.cfg.MaxBytes)))
	}
	return nil
}
