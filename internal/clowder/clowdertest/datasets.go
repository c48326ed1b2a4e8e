package clowdertest

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// allowed returns the dataset if the user has any role on it. The state must be locked.
func (st *state) allowed(id string, u user, role string) (*dataset, *refusal) {
	if !isID(id) {
		return nil, crash()
	}
	d := st.datasets[id]
	if d == nil {
		return nil, refuse(http.StatusNotFound, "The dataset %s is not found", id)
	}
	if !d.mayAccess(u) {
		return nil, refuse(http.StatusForbidden, "User `%s does not have `%s` permission on dataset %s", u.Email, role, id)
	}
	return d, nil
}

func (s *Server) createDataset(_ http.ResponseWriter, r *http.Request, u user) (any, *refusal) {
	license := r.URL.Query().Get("license_id")
	if license == "" {
		return nil, missing("query", "license_id")
	}
	var in struct {
		Name        string  `json:"name"`
		Description *string `json:"description"`
		Status      string  `json:"status"`
	}
	if no := decodeBody(r, &in); no != nil {
		return nil, no
	}
	d := &dataset{
		Name: in.Name, Description: in.Description, Status: "PRIVATE", Creator: u, Created: now(), Modified: now(),
		License: true, LicenseID: &license, ID: newID(), FrozenVersion: -999, roles: map[string]string{},
	}
	if in.Status != "" {
		d.Status = in.Status
	}
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	s.state.datasets[d.ID] = d
	return *d, nil
}

func (s *Server) getDataset(_ http.ResponseWriter, r *http.Request, u user) (any, *refusal) {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	d, no := s.state.allowed(r.PathValue("id"), u, "viewer")
	if no != nil {
		return nil, no
	}
	return *d, nil
}

func (s *Server) deleteDataset(_ http.ResponseWriter, r *http.Request, u user) (any, *refusal) {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	d, no := s.state.allowed(r.PathValue("id"), u, "editor")
	if no != nil {
		return nil, no
	}
	delete(s.state.datasets, d.ID)
	for _, f := range s.state.filesOf[d.ID] {
		s.state.dropFile(f)
	}
	return map[string]string{"deleted": d.ID}, nil
}

func (s *Server) shareDataset(_ http.ResponseWriter, r *http.Request, u user) (any, *refusal) {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	d, no := s.state.allowed(r.PathValue("id"), u, "editor")
	if no != nil {
		return nil, no
	}
	email := r.PathValue("u")
	if _, known := s.state.users[email]; !known {
		return nil, refuse(http.StatusNotFound, "User %s not found", email)
	}
	d.roles[email] = r.PathValue("r")
	return map[string]any{"dataset_id": d.ID, "role": r.PathValue("r"), "user_ids": []string{email}}, nil
}

// roleOnDataset answers 404 to a user who has no role on a private dataset.
func (s *Server) roleOnDataset(_ http.ResponseWriter, r *http.Request, u user) (any, *refusal) {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	d := s.state.datasets[r.PathValue("id")]
	if d == nil {
		return nil, crash() // v2 has no valid answer
	}
	role := d.roles[u.Email]
	switch {
	case d.Creator.Email == u.Email:
		role = "owner"
	case role == "" && d.Status == "PRIVATE":
		return nil, refuse(http.StatusNotFound, "No authorization found for dataset: %s", d.ID)
	case role == "":
		role = "viewer"
	}
	return map[string]any{"dataset_id": d.ID, "role": role, "creator": d.Creator.Email, "user_ids": []string{}, "group_ids": []string{}}, nil
}

func (s *Server) createFolder(_ http.ResponseWriter, r *http.Request, u user) (any, *refusal) {
	var in struct {
		Name   string  `json:"name"`
		Parent *string `json:"parent_folder"`
	}
	if no := decodeBody(r, &in); no != nil {
		return nil, no
	}
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	d, no := s.state.allowed(r.PathValue("id"), u, "uploader")
	if no != nil {
		return nil, no
	}
	if in.Parent != nil && s.state.folders[*in.Parent] == nil {
		return nil, refuse(http.StatusBadRequest, "Parent folder %s not found", *in.Parent)
	}
	return *s.state.addFolder(d.ID, in.Name, in.Parent, u), nil
}

func (st *state) addFolder(datasetID, name string, parent *string, u user) *folder {
	f := &folder{Name: name, DatasetID: datasetID, Parent: parent, Creator: u, Created: now(), Modified: now(), ObjectType: "folder", ID: newID(), Frozen: true}
	st.putFolder(f)
	return f
}

// listFolders lists one level. v2 casts the rows to datasets, so they have no parent.
func (s *Server) listFolders(_ http.ResponseWriter, r *http.Request, u user) (any, *refusal) {
	parent := r.URL.Query().Get("parent_folder")
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	d, no := s.state.allowed(r.PathValue("id"), u, "viewer")
	if no != nil {
		return nil, no
	}
	var rows []dataset
	for _, f := range s.state.foldersOf[d.ID] {
		if value(f.Parent) == parent && s.visible(d, f.Creator, u) {
			id := f.ID
			rows = append(rows, dataset{
				Name: f.Name, Status: "PRIVATE", Creator: f.Creator, Created: f.Created, Modified: f.Modified,
				OriginID: &id, License: true, ID: f.ID, FrozenVersion: -999,
			})
		}
	}
	slices.SortFunc(rows, func(a, b dataset) int { return newestFirst(a.Created, b.Created) })
	return paged(r, rows, 10)
}

// visible is v2's filter on the rows of a private dataset: the user made the row, or the user is in the list of a role. The owner of a
// dataset is not in such a list.
func (s *Server) visible(d *dataset, creator, u user) bool {
	return !s.opts.HideFromOwner || d.Status != "PRIVATE" || creator.Email == u.Email || d.roles[u.Email] != ""
}

func (s *Server) folderPath(_ http.ResponseWriter, r *http.Request, _ user) (any, *refusal) {
	id := r.PathValue("id")
	if !isID(id) {
		return nil, crash()
	}
	s.state.mu.Lock()
	path := s.state.pathOf(id)
	s.state.mu.Unlock()
	if path != nil && path[0].Parent != nil { // v2 goes from parent to parent without end
		select {
		case <-r.Context().Done():
		case <-s.done:
		}
		panic(http.ErrAbortHandler)
	}
	if path == nil {
		return nil, refuse(http.StatusNotFound, "Folder %s not found", id)
	}
	out := make([]map[string]string, len(path))
	for i, f := range path {
		out[i] = map[string]string{"folder_name": f.Name, "folder_id": f.ID}
	}
	return out, nil
}

func newestFirst(a, b stamp) int { return time.Time(b).Compare(time.Time(a)) }

func value(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// guess is the content type of a part without one.
func typed(declared string) contentType {
	main, _, _ := strings.Cut(declared, "/")
	return contentType{Full: declared, Main: main}
}

func (s *Server) getLicense(_ http.ResponseWriter, r *http.Request, _ user) (any, *refusal) {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	if license := s.state.licenses[r.PathValue("id")]; license != nil {
		return license, nil
	}
	return nil, refuse(http.StatusNotFound, "License not found for id %s", r.PathValue("id"))
}
