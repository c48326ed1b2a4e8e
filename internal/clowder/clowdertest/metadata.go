package clowdertest

import (
	"net/http"
)

func (s *Server) addMetadata(_ http.ResponseWriter, r *http.Request, u user) (any, *refusal) {
	var in struct {
		Content    map[string]any    `json:"content"`
		Context    []any             `json:"@context"`
		ByName     []any             `json:"context"`
		ContextURL *string           `json:"context_url"`
		Definition *string           `json:"definition"`
		Listener   *metadataListener `json:"listener"`
	}
	invalidBody := decodeBody(r, &in)
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	d, no := s.state.allowed(r.PathValue("id"), u, "uploader")
	switch {
	case no != nil:
		return nil, no
	case invalidBody != nil:
		return nil, invalidBody
	case in.Content == nil:
		return nil, missing("body", "content")
	case in.Listener != nil && in.Listener.Name == "":
		return nil, missing("body", "name")
	}
	if in.Context == nil {
		in.Context = in.ByName
	}
	if in.Definition != nil {
		for _, m := range s.state.metadata {
			if m.Resource.ResourceID == d.ID && value(m.Definition) == *in.Definition {
				return nil, refuse(http.StatusConflict, "Metadata for %s already exists on this dataset", *in.Definition)
			}
		}
	}
	if in.Context == nil && in.ContextURL == nil && in.Definition == nil {
		return nil, refuse(http.StatusBadRequest, "Context is required")
	}
	m := &metadata{
		Context: in.Context, ContextURL: in.ContextURL, Definition: in.Definition, Content: in.Content,
		Resource: reference{Collection: "datasets", ResourceID: d.ID}, Created: now(), ID: newID(),
	}
	m.Agent.Creator, m.Agent.Listener = u, in.Listener
	s.state.metadata = append(s.state.metadata, m)
	return *m, nil
}

func (s *Server) listMetadata(_ http.ResponseWriter, r *http.Request, u user) (any, *refusal) {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	d, no := s.state.allowed(r.PathValue("id"), u, "viewer")
	if no != nil {
		return nil, no
	}
	rows := []metadata{}
	for _, m := range s.state.metadata {
		if m.Resource.ResourceID == d.ID {
			rows = append(rows, *m)
		}
	}
	return rows, nil
}
