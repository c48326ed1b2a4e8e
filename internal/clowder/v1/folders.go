package v1

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/text"
)

// maxPath is the length in bytes of the longest path of a folder that is kept.
const maxPath = 2000

// folder is one folder of a dataset. A second folder of the same name in one place has a number in its display name, and this is the only
// name that v1 lists.
type folder struct {
	id string
	// path has the display names from the root, without a slash at its beginning.
	path string
}

// listFolders lists all folders of a dataset, in the order of their ids, which begin with the time of their creation. v1 lists them to users who
// may add to the dataset.
//
// A folder whose parent is not a folder of the dataset makes v1 search without end, so the call is made once, and not repeated when it
// takes too long.
func (s *Session) listFolders(ctx context.Context, dataset string) ([]folder, error) {
	if err := clowder.CheckIDs("dataset", dataset); err != nil {
		return nil, err
	}
	limit := s.wire.Config().CallTimeout
	listCtx, cancel := context.WithTimeoutCause(ctx, limit, errNoFolders)
	defer cancel()
	var list []folder
	c := get("list the folders of the dataset", mayAdd, nil, "datasets", dataset, "folders")
	err := s.explained(listCtx, c, func() error {
		return s.wire.Rows(listCtx, c, func() { list = list[:0] }, func(raw json.RawMessage) error {
			var row struct {
				ID   string `json:"id"`
				Name string `json:"name"`
			}
			if json.Unmarshal(raw, &row) != nil {
				return job.Permanent(errors.New("Clowder lists a folder in a form that is not known")) //nolint:staticcheck // a name
			}
			if err := clowder.CheckIDs("folder", row.ID); err != nil {
				return err
			}
			list = append(list, folder{row.ID, text.Shorten(strings.TrimPrefix(row.Name, "/"), maxPath)})
			return nil
		})
	})
	if errors.Is(context.Cause(listCtx), errNoFolders) && ctx.Err() == nil {
		return nil, job.Permanent(fmt.Errorf("Clowder did not list the folders of the dataset within %s: a folder of the dataset may be damaged, so ask the administrator of Clowder", text.Duration(limit))) //nolint:staticcheck // a name
	}
	slices.SortFunc(list, func(a, b folder) int { return cmp.Compare(a.id, b.id) })
	return list, err
}

var errNoFolders = errors.New("the list of folders took too long")

// pathOf returns the path of a folder with one part for each folder. v1 allows slashes in names, and lists only the joined names: a part
// that is no folder of its own belongs to the name after it. Such slashes become underscores.
func pathOf(id string, list []folder) string {
	paths := make(map[string]bool, len(list))
	whole := ""
	for _, f := range list {
		paths[f.path] = true
		if f.id == id {
			whole = f.path
		}
	}
	var out strings.Builder
	for i, part := range strings.Split(whole, "/") {
		switch {
		case i == 0:
		case paths[strings.Join(strings.Split(whole, "/")[:i], "/")]:
			out.WriteByte('/')
		default:
			out.WriteByte('_')
		}
		out.WriteString(part)
	}
	return out.String()
}

// parentsOf returns the ids of a folder and of those that it is in, root first: one for each part of pathOf.
func parentsOf(id string, list []folder) []string {
	at := slices.IndexFunc(list, func(f folder) bool { return f.id == id })
	if at < 0 {
		return nil
	}
	oldest := make(map[string]string, len(list))
	for _, f := range list {
		if _, known := oldest[f.path]; !known {
			oldest[f.path] = f.id
		}
	}
	var ids []string
	whole := list[at].path
	for i, c := range whole {
		if parent := oldest[whole[:i]]; c == '/' && parent != "" {
			ids = append(ids, parent)
		}
	}
	return append(ids, id)
}

// find returns the oldest folder with a display name directly in parent, or "". Two folders can have the same display name if they were
// made at the same moment.
func find(list []folder, parent, name string) string {
	inside := ""
	if parent != "" {
		at := slices.IndexFunc(list, func(f folder) bool { return f.id == parent })
		if at < 0 {
			return ""
		}
		inside = list[at].path + "/"
	}
	for _, f := range list {
		if f.path == inside+name {
			return f.id
		}
	}
	return ""
}

// recentFolders keeps a list of folders for a moment, because the next call often looks into the folder that was found. It is safe for
// concurrent use.
type recentFolders struct {
	mu      sync.Mutex
	dataset string
	list    []folder
	read    time.Time // before the list was requested
}

// recentFor is how long a list is used again.
const recentFor = time.Second

func (r *recentFolders) of(dataset string) []folder {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.dataset != dataset || time.Since(r.read) > recentFor {
		return nil
	}
	return r.list
}

func (r *recentFolders) set(dataset string, list []folder, read time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dataset, r.list, r.read = dataset, list, read
}

// FindFolder returns the id of the folder with this name directly in parent ("" is the root of the dataset), or "" if there is none. Each call
// finds the same folder. What this session has not made itself may be seen a second late.
func (s *Session) FindFolder(ctx context.Context, dataset, parent, name string) (string, error) {
	list := s.recent.of(dataset)
	if list == nil {
		began := time.Now()
		var err error
		if list, err = s.listFolders(ctx, dataset); err != nil {
			return "", err
		}
		if find(list, parent, name) != "" {
			s.recent.set(dataset, list, began)
		}
	}
	id := find(list, parent, name)
	if id != "" {
		s.folders.add(dataset + "/" + id)
	}
	return id, nil
}

// AddFolder makes a folder in parent ("" is the root) and returns its id, or the id of an older folder of that name, which another job made
// at the same moment. Call FindFolder first, and again after an error of kind unknown.
func (s *Session) AddFolder(ctx context.Context, dataset, parent, name string) (string, error) {
	if err := clowder.CheckName("folder", name); err != nil {
		return "", err
	}
	body := map[string]string{"name": name, "parentId": dataset, "parentType": "dataset"}
	if parent != "" {
		// A wrong parent makes a folder that v1 shows nowhere, or a dataset whose folders it can never list again.
		if err := s.checkFolder(ctx, dataset, parent); err != nil {
			return "", err
		}
		body["parentId"], body["parentType"] = parent, "folder"
	}
	if err := clowder.CheckIDs("dataset", dataset); err != nil {
		return "", err
	}
	s.recent.set("", nil, time.Time{}) // the new folder is not in it, and the call may have an effect that nobody hears of
	var made struct {
		ID string `json:"id"`
	}
	if err := s.do(ctx, post("create a folder in the dataset", mayAdd, body, &made, "datasets", dataset, "newFolder")); err != nil {
		return "", err
	}
	id := ""
	err := s.visible(ctx, "the folder", func() (err error) {
		if id, err = s.FindFolder(ctx, dataset, parent, name); err == nil && id == "" {
			err = clowder.NewAnswerError(http.StatusNotFound, "Clowder does not list the new folder")
		}
		return err
	})
	if err != nil {
		return "", job.Unknown(err)
	}
	return id, nil
}

// checkFolder returns a permanent error if a folder was never seen in the dataset and is not there. v1 puts a file into the root of the dataset if the folder does
// not exist, and into another dataset if the folder is there.
func (s *Session) checkFolder(ctx context.Context, dataset, id string) error {
	if err := clowder.CheckIDs("folder", id); err != nil {
		return err
	}
	if s.folders.has(dataset + "/" + id) {
		return nil
	}
	list, err := s.listFolders(ctx, dataset)
	if err == nil && !slices.ContainsFunc(list, func(f folder) bool { return f.id == id }) {
		return job.Permanent(clowder.NewAnswerError(http.StatusNotFound, "Clowder has no such folder in the dataset (404): it was deleted, so submit again"))
	}
	if err == nil {
		s.folders.add(dataset + "/" + id)
	}
	return err
}

// created is when Clowder made the thing with this id, by its own clock.
func created(id string) time.Time {
	var seconds int64
	if _, err := fmt.Sscanf(id[:min(len(id), 8)], "%x", &seconds); err != nil {
		return time.Time{}
	}
	return time.Unix(seconds, 0)
}
