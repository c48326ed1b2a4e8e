package clowder

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/ncsa/clowder-ray/internal/job"
)

// folderRow is v2's spelling of a folder.
type folderRow struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// folderPath returns the names of a folder and its parents, root first, joined with slashes; slashes inside a name become
// underscores, so that the path has as many parts as there are folders.
func (s *Session) folderPath(ctx context.Context, id string) (string, error) {
	if err := checkIDs("folder", id); err != nil {
		return "", err
	}
	var parts []struct {
		Name string `json:"folder_name"`
	}
	c := get("read the path of a folder", mayView, "folders", id, "path")
	c.into = &parts
	if err := s.do(ctx, c); err != nil {
		return "", err
	}
	names := make([]string, len(parts))
	for i, part := range parts {
		names[i] = strings.ReplaceAll(part.Name, "/", "_")
	}
	return strings.Join(names, "/"), nil
}

// FindFolder returns the id of the folder with that name directly in parent ("" is the root of the dataset), or "" where
// there is none. Clowder allows several of one name; the oldest counts, so that every look finds the same one.
func (s *Session) FindFolder(ctx context.Context, datasetID, parentID, name string) (string, error) {
	if err := checkIDs("dataset", datasetID); err != nil {
		return "", err
	}
	c := get("list the folders of the dataset", mayView, "datasets", datasetID, "folders")
	if parentID != "" {
		if err := checkIDs("folder", parentID); err != nil {
			return "", err
		}
		c.query = url.Values{"parent_folder": {parentID}}
	}
	rows, err := listAll(ctx, s, c, s.c.cfg.MaxFiles, func(r folderRow) string { return r.ID })
	if err != nil {
		return "", err
	}
	rows = slices.DeleteFunc(rows, func(r folderRow) bool { return r.Name != name })
	if len(rows) == 0 {
		return "", nil
	}
	// ObjectIds begin with the time at which they were made.
	return slices.MinFunc(rows, func(a, b folderRow) int { return cmp.Compare(a.ID, b.ID) }).ID, nil
}

// EnsureFolder returns the id of the folder with that name in parent ("" is the root) and makes it where there is none.
// After an answer that got lost it looks again before it makes another.
func (s *Session) EnsureFolder(ctx context.Context, datasetID, parentID, name string) (string, error) {
	if err := checkName("folder", name); err != nil {
		return "", err
	}
	var id string
	err := s.c.retry(ctx, func() error {
		found, err := s.FindFolder(ctx, datasetID, parentID, name)
		if id = found; err != nil || id != "" {
			return err
		}
		body := map[string]string{"name": name}
		if parentID != "" {
			body["parent_folder"] = parentID
		}
		var made folderRow
		err = s.do(ctx, post("create a folder in the dataset", mayAdd, body, &made, "datasets", datasetID, "folders"))
		if kind, _ := job.Classify(err); err != nil && kind == job.KindUnknown {
			return job.Retryable(err) // the next round looks first
		}
		id = made.ID
		return err
	})
	return id, err
}
