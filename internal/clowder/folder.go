package clowder

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/ncsa/clowder-ray/internal/clowder/localname"
	"github.com/ncsa/clowder-ray/internal/job"
)

// folderRow is a folder as v2 sends it.
type folderRow struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// folderPath returns the names of a folder and its parents, root first, joined with slashes, and their ids. Slashes inside a name become
// underscores, so that the path has one part per folder. For a folder that holds itself v2 searches without end and does not answer.
func (s *Session) folderPath(ctx context.Context, id string) (string, []string, error) {
	if err := checkIDs("folder", id); err != nil {
		return "", nil, err
	}
	var parts []folderPart
	c := get("read the path of a folder", mayView, "folders", id, "path")
	c.into = &parts
	if err := s.do(ctx, c); err != nil {
		if StatusOf(err) == 0 && ctx.Err() == nil {
			err = fmt.Errorf("%w (the folder %s may hold itself: look at it in Clowder)", err, id)
		}
		return "", nil, err
	}
	ids := make([]string, len(parts))
	for i, part := range parts {
		if ids[i] = part.ID; part.ID != "" && slices.Contains(ids[:i], part.ID) {
			return "", nil, job.Permanent(fmt.Errorf("the folder %s holds itself: delete it in Clowder and upload its files again", id))
		}
	}
	return joinFolders(parts), ids, nil
}

// folderPart is one folder of a path as v2 sends it.
type folderPart struct {
	Name string `json:"folder_name"`
	ID   string `json:"folder_id"`
}

func joinFolders(parts []folderPart) string {
	names := make([]string, len(parts))
	for i, part := range parts {
		names[i] = strings.ReplaceAll(part.Name, "/", "_")
	}
	return localname.Cut(strings.Join(names, "/"), maxPath)
}

// FindFolder returns the id of the folder with this name directly in parent ("" is the root of the dataset), or "" if there is none.
// Clowder allows several folders with the same name. The oldest one is returned, so that each call finds the same folder.
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
	// An ObjectId begins with its creation time.
	return slices.MinFunc(rows, func(a, b folderRow) int { return cmp.Compare(a.ID, b.ID) }).ID, nil
}

// AddFolder makes a folder in parent ("" is the root) and returns its id. If a folder with this name exists, Clowder makes another one.
// So call FindFolder first, and again after an error of kind unknown.
func (s *Session) AddFolder(ctx context.Context, datasetID, parentID, name string) (string, error) {
	if err := checkIDs("dataset", datasetID); err != nil {
		return "", err
	}
	if err := checkName("folder", name); err != nil {
		return "", err
	}
	body := map[string]string{"name": name}
	if parentID != "" {
		if err := checkIDs("folder", parentID); err != nil {
			return "", err
		}
		body["parent_folder"] = parentID
	}
	var made folderRow
	err := s.do(ctx, post("create a folder in the dataset", mayAdd, body, &made, "datasets", datasetID, "folders"))
	return made.ID, err
}
