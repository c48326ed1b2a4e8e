package clowdertest

import (
	"net/http"
	"slices"
	"strconv"
)

// newMetadata is the body of a request that adds an entry.
type newMetadata struct {
	Content    map[string]any    `json:"content"`
	Context    []any             `json:"@context"`
	ByName     []any             `json:"context"`
	ContextURL *string           `json:"context_url"`
	Definition *string           `json:"definition"`
	Listener   *metadataListener `json:"listener"`
	Version    *int              `json:"file_version"`
}

func (s *Server) addMetadata(_ http.ResponseWriter, r *http.Request, u user) (any, *refusal) {
	var in newMetadata
	invalidBody := decodeBody(r, &in)
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	d, no := s.state.allowed(r.PathValue("id"), u, "uploader")
	if no == nil {
		no = invalidBody
	}
	if no != nil {
		return nil, no
	}
	return s.state.add(in, reference{Collection: "datasets", ResourceID: d.ID}, u)
}

// addFileMetadata asks for a listener that is registered under that name and version, as v2 does for files only.
func (s *Server) addFileMetadata(_ http.ResponseWriter, r *http.Request, u user) (any, *refusal) {
	var in newMetadata
	invalidBody := decodeBody(r, &in)
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	if isID(r.PathValue("id")) && s.state.files[r.PathValue("id")] == nil {
		return nil, crash() // v2 passes a missing file through its permission check, and then fails
	}
	f, no := s.state.allowedFile(r.PathValue("id"), u)
	switch {
	case no != nil:
		return nil, no
	case invalidBody != nil:
		return nil, invalidBody
	case in.Listener != nil && !s.state.registered(*in.Listener):
		return nil, refuse(http.StatusNotFound, "Extractor not found")
	}
	version := f.VersionNum
	if in.Version != nil {
		version = *in.Version
		if !slices.ContainsFunc(s.state.versions[f.ID], func(v fileVersion) bool { return v.VersionNum == version }) {
			return nil, refuse(http.StatusNotFound, "File version %d does not exist", version)
		}
	}
	return s.state.add(in, reference{Collection: "files", ResourceID: f.ID, Version: &version}, u)
}

// add checks and stores an entry. The caller holds the lock.
func (st *state) add(in newMetadata, to reference, u user) (any, *refusal) {
	switch {
	case in.Content == nil:
		return nil, missing("body", "content")
	case in.Listener != nil && in.Listener.Name == "":
		return nil, missing("body", "name")
	}
	if in.Context == nil {
		in.Context = in.ByName
	}
	if in.Definition != nil {
		for _, m := range st.metadata {
			if m.Resource.ResourceID == to.ResourceID && value(m.Definition) == *in.Definition {
				return nil, refuse(http.StatusConflict, "Metadata for %s already exists on this dataset", *in.Definition)
			}
		}
	}
	if in.Context == nil && in.ContextURL == nil && in.Definition == nil {
		return nil, refuse(http.StatusBadRequest, "Context is required")
	}
	m := &metadata{
		Context: in.Context, ContextURL: in.ContextURL, Definition: in.Definition, Content: in.Content,
		Resource: to, Created: now(), ID: newID(),
	}
	m.Agent.Creator, m.Agent.Listener = u, in.Listener
	st.metadata = append(st.metadata, m)
	return *m, nil
}

// registered reports whether there was a heartbeat of this listener.
func (st *state) registered(wanted metadataListener) bool {
	for _, l := range st.listeners {
		if l.Name == wanted.Name && l.Version == wanted.Version {
			return true
		}
	}
	return false
}

func (s *Server) listMetadata(_ http.ResponseWriter, r *http.Request, u user) (any, *refusal) {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	d, no := s.state.allowed(r.PathValue("id"), u, "viewer")
	if no != nil {
		return nil, no
	}
	return s.state.metadataOf(d.ID), nil
}

func (s *Server) listFileMetadata(_ http.ResponseWriter, r *http.Request, u user) (any, *refusal) {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	f, no := s.state.allowedFile(r.PathValue("id"), u)
	if no != nil {
		return nil, no
	}
	rows := s.state.metadataOf(f.ID)
	if all, _ := strconv.ParseBool(r.URL.Query().Get("all_versions")); !all {
		rows = slices.DeleteFunc(rows, func(m metadata) bool { return m.Resource.Version == nil || *m.Resource.Version != f.VersionNum })
	}
	return rows, nil
}

func (st *state) metadataOf(id string) []metadata {
	rows := []metadata{}
	for _, m := range st.metadata {
		if m.Resource.ResourceID == id {
			rows = append(rows, *m)
		}
	}
	return rows
}

// deleteMetadata deletes an entry for everybody with a role on its dataset. v2 is meant to ask for an editor, but does not.
func (s *Server) deleteMetadata(_ http.ResponseWriter, r *http.Request, u user) (any, *refusal) {
	id := r.PathValue("id")
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	at := slices.IndexFunc(s.state.metadata, func(m *metadata) bool { return m.ID == id })
	if at < 0 {
		return nil, refuse(http.StatusNotFound, "Metadata %s not found", id)
	}
	dataset := s.state.metadata[at].Resource.ResourceID
	if f := s.state.files[dataset]; f != nil {
		dataset = f.DatasetID
	}
	if d := s.state.datasets[dataset]; d == nil || !d.mayAccess(u) {
		return nil, refuse(http.StatusNotFound, "Metadata %s not found", id)
	}
	s.state.metadata = slices.Delete(s.state.metadata, at, at+1)
	return map[string]string{"deleted": id}, nil
}
