package clowdertest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

func (s *Server) v1CreateDataset(_ http.ResponseWriter, r *http.Request, c v1Caller) *v1Answer {
	var in struct {
		Name        *string `json:"name"`
		Description string  `json:"description"`
	}
	switch {
	case !c.known:
		return v1Denied()
	case json.NewDecoder(r.Body).Decode(&in) != nil:
		return &v1Answer{status: http.StatusBadRequest, text: "Invalid Json"}
	case in.Name == nil:
		return v1Bad("Missing parameter [name]")
	}
	d := &dataset{Name: *in.Name, Description: &in.Description, Status: "PRIVATE", Creator: c.user, Created: now(), ID: newID(), roles: map[string]string{}}
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	s.state.datasets[d.ID] = d
	return v1OK(map[string]string{"id": d.ID})
}

func (s *Server) v1Dataset(_ http.ResponseWriter, r *http.Request, c v1Caller) *v1Answer {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	d, no := s.v1Allowed(r.PathValue("id"), c, v1View)
	if no != nil {
		return no
	}
	return v1OK(map[string]any{
		"id": d.ID, "name": d.Name, "description": value(d.Description), "created": v1Time(d.Created), "thumbnail": d.ThumbnailID,
		"authorId": d.Creator.ID, "spaces": []string{}, "resource_type": "dataset",
	})
}

// v1Path returns the display path of a folder, with a slash at its beginning.
func (st *state) v1Path(id string) string {
	var out strings.Builder
	for _, f := range st.pathOf(id) {
		name := f.Name
		if shown := st.v1.display[f.ID]; shown != "" {
			name = shown
		}
		out.WriteString("/" + name)
	}
	return out.String()
}

// v1Folders lists all folders to those who may add some. With a folder whose parent does not exist v1 never answers.
func (s *Server) v1Folders(_ http.ResponseWriter, r *http.Request, c v1Caller) *v1Answer {
	s.state.mu.Lock()
	d, no := s.v1Allowed(r.PathValue("id"), c, v1Edit)
	if no != nil {
		s.state.mu.Unlock()
		return no
	}
	rows := []map[string]string{}
	for _, f := range s.state.foldersOf[d.ID] {
		rows = append(rows, map[string]string{"id": f.ID, "name": s.state.v1Path(f.ID)})
	}
	endless := s.state.v1.orphans[d.ID]
	s.state.mu.Unlock()
	if endless {
		select {
		case <-r.Context().Done():
		case <-s.done:
		}
		panic(http.ErrAbortHandler)
	}
	return v1OK(rows)
}

func (s *Server) v1NewFolder(_ http.ResponseWriter, r *http.Request, c v1Caller) *v1Answer {
	var in map[string]string
	if json.NewDecoder(r.Body).Decode(&in) != nil {
		return &v1Answer{status: http.StatusBadRequest, text: "Invalid Json"}
	}
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	d, no := s.v1Allowed(r.PathValue("id"), c, v1Edit)
	if no != nil {
		return no
	}
	for _, key := range []string{"name", "parentId", "parentType"} {
		if _, there := in[key]; !there {
			return v1Bad("Missing parameter [" + key + "]")
		}
	}
	var parent *string
	switch id := in["parentId"]; {
	case in["parentType"] != "folder":
	case id == d.ID:
		s.state.v1.orphans[d.ID] = true
	case s.state.folders[id] == nil:
		return v1Crash("java.util.NoSuchElementException: None.get")
	default:
		parent = &id
	}
	name := strings.TrimSpace(in["name"])
	same := 0
	for _, f := range s.state.foldersOf[d.ID] {
		if f.Name == name && value(f.Parent) == value(parent) {
			same++
		}
	}
	f := s.state.addFolder(d.ID, name, parent, c.user)
	if same > 0 {
		s.state.v1.display[f.ID] = fmt.Sprintf("%s (%d)", name, same)
	}
	return v1OK(map[string]any{"id": f.ID, "name": f.Name, "parentId": in["parentId"], "parentType": in["parentType"], "parentDatasetID": d.ID, "files": "", "folders": ""})
}

// v1Files lists all files in one piece: those of the root first, then folder by folder.
func (s *Server) v1Files(_ http.ResponseWriter, r *http.Request, c v1Caller) *v1Answer {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	d, no := s.v1Allowed(r.PathValue("id"), c, v1View)
	if no != nil {
		return no
	}
	files := slices.SortedFunc(maps.Values(s.state.filesOf[d.ID]), func(a, b *file) int {
		if a, b := value(a.FolderID), value(b.FolderID); a != b {
			return strings.Compare(a, b)
		}
		return strings.Compare(a.ID, b.ID)
	})
	rows := make([]map[string]any, len(files))
	for i, f := range files {
		rows[i] = map[string]any{
			"id": f.ID, "filename": f.Name, "contentType": f.ContentType.Full, "date-created": v1Time(f.Created), "size": strconv.FormatInt(f.Bytes, 10),
		}
		if f.StoragePath != nil { // v1 tells it to administrators; here everybody is one
			rows[i]["filepath"] = *f.StoragePath
		}
		if in := s.state.folders[value(f.FolderID)]; in != nil {
			rows[i]["folders"] = map[string]string{"id": in.ID, "name": in.Name}
		}
	}
	return v1OK(rows)
}

// v1Held answers with the datasets of a collection, of which v1 leaves out what the caller may not see, or of a space, of which it leaves out none.
func (s *Server) v1Held(space bool) v1Route {
	return func(_ http.ResponseWriter, r *http.Request, c v1Caller) *v1Answer {
		s.state.mu.Lock()
		defer s.state.mu.Unlock()
		h := s.state.holders[r.PathValue("id")]
		if h == nil || !c.known {
			return v1Denied()
		}
		rows := []map[string]any{}
		for _, id := range h.datasets {
			if d := s.state.datasets[id]; d != nil && (space || s.v1May(d, c, v1View)) {
				rows = append(rows, map[string]any{"id": d.ID, "name": d.Name, "description": value(d.Description), "created": v1Time(d.Created), "authorId": d.Creator.ID, "spaces": []string{}})
			}
		}
		return v1OK(rows)
	}
}

func (s *Server) v1Children(_ http.ResponseWriter, r *http.Request, c v1Caller) *v1Answer {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	h := s.state.holders[r.PathValue("id")]
	if h == nil || !c.known {
		return v1Denied()
	}
	rows := []map[string]any{}
	for _, id := range h.children {
		if child := s.state.holders[id]; child != nil {
			rows = append(rows, map[string]any{"id": child.id, "name": child.name})
		}
	}
	return v1OK(rows)
}

func (s *Server) v1AddHolder(_ http.ResponseWriter, r *http.Request, c v1Caller) *v1Answer {
	var in struct {
		Name string `json:"name"`
	}
	if !c.known {
		return v1Denied()
	}
	if json.NewDecoder(r.Body).Decode(&in) != nil || in.Name == "" {
		return v1Bad("Missing parameter [name]")
	}
	return v1OK(map[string]string{"id": s.AddHolder(in.Name)})
}

func (s *Server) v1Attach(_ http.ResponseWriter, r *http.Request, c v1Caller) *v1Answer {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	h, d := s.state.holders[r.PathValue("id")], s.state.datasets[r.PathValue("ds")]
	if h == nil || d == nil || !s.v1May(d, c, v1Edit) {
		return v1Denied()
	}
	h.datasets = append(h.datasets, d.ID)
	return v1OK(map[string]any{"datasetsInCollection": len(h.datasets)})
}
