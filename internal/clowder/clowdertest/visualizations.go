package clowdertest

import (
	"net/http"
	"os"
	"slices"
)

func (s *Server) addVisualization(_ http.ResponseWriter, r *http.Request, _ user) (any, *refusal) {
	var in struct {
		Resource   reference      `json:"resource"`
		Client     *string        `json:"client"`
		Parameters map[string]any `json:"parameters"`
		Component  *string        `json:"visualization_component_id"`
		MimeType   *string        `json:"visualization_mimetype"`
	}
	if no := decodeBody(r, &in); no != nil {
		return nil, no
	}
	switch {
	case in.Component == nil:
		return nil, missing("body", "visualization_component_id")
	case in.MimeType == nil:
		return nil, missing("body", "visualization_mimetype")
	case !isID(in.Resource.ResourceID):
		return nil, invalid("body", "resource", "Id must be of type PydanticObjectId", "type_error")
	}
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	switch {
	case in.Resource.Collection == "datasets" && s.state.datasets[in.Resource.ResourceID] == nil:
		return nil, refuse(http.StatusNotFound, "Dataset %s not found", in.Resource.ResourceID)
	case in.Resource.Collection == "files" && s.state.files[in.Resource.ResourceID] == nil:
		return nil, refuse(http.StatusNotFound, "File %s not found", in.Resource.ResourceID)
	case in.Resource.Collection != "datasets" && in.Resource.Collection != "files":
		return nil, crash()
	}
	v := &visualization{
		Resource: in.Resource, Client: in.Client, Parameters: in.Parameters, Component: *in.Component, MimeType: *in.MimeType,
		ID: newID(), Frozen: true, Data: []visualizationData{},
	}
	s.state.visualizations = append(s.state.visualizations, v)
	return *v, nil
}

func (s *Server) addVisualizationData(_ http.ResponseWriter, r *http.Request, u user) (any, *refusal) {
	got, no := s.receive(r)
	query := r.URL.Query()
	for _, field := range []string{"name", "description", "config"} {
		if !query.Has(field) {
			no = missing("query", field)
		}
	}
	if no != nil {
		s.discard(got)
		return nil, no
	}
	data := visualizationData{
		Name: query.Get("name"), Description: query.Get("description"), Creator: u, Created: now(), Modified: now(), Bytes: got.size,
		ContentType: typed(got.kind), ConfigID: query.Get("config"), ID: newID(),
	}
	if err := os.Rename(got.path, s.body(data.ID)); err != nil {
		return nil, crash()
	}
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	for _, v := range s.state.visualizations {
		if v.ID == data.ConfigID {
			v.Data = append(v.Data, data)
		}
	}
	return data, nil
}

func (s *Server) listVisualizations(_ http.ResponseWriter, r *http.Request, _ user) (any, *refusal) {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	rows := []visualization{}
	for _, v := range s.state.visualizations {
		if v.Resource.ResourceID == r.PathValue("id") {
			row := *v
			row.Data = slices.Clone(v.Data)
			rows = append(rows, row)
		}
	}
	return rows, nil
}

func (s *Server) deleteVisualization(_ http.ResponseWriter, r *http.Request, _ user) (any, *refusal) {
	id := r.PathValue("id")
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	at := slices.IndexFunc(s.state.visualizations, func(v *visualization) bool { return v.ID == id })
	if at < 0 {
		return nil, refuse(http.StatusNotFound, "VisConfig %s not found", id)
	}
	v := *s.state.visualizations[at]
	s.state.visualizations = slices.Delete(s.state.visualizations, at, at+1)
	v.Data = []visualizationData{}
	return v, nil
}

// visualizationBytes sends the data of a card as the page of Clowder requests it. It asks for no role.
func (s *Server) visualizationBytes(w http.ResponseWriter, r *http.Request, _ user) (any, *refusal) {
	id := r.PathValue("id")
	s.state.mu.Lock()
	name, found := "", false
	for _, v := range s.state.visualizations {
		for _, d := range v.Data {
			if d.ID == id {
				name, found = d.Name, true
			}
		}
	}
	s.state.mu.Unlock()
	if !found {
		return nil, refuse(http.StatusNotFound, "Visualization %s not found", id)
	}
	header, ok := latin1(name)
	if !ok {
		return nil, crash()
	}
	w.Header().Set("Content-Disposition", "attachment; filename="+header)
	http.ServeFile(w, r, s.body(id))
	return nil, nil
}

func (s *Server) addThumbnail(_ http.ResponseWriter, r *http.Request, u user) (any, *refusal) {
	got, no := s.receive(r)
	if no != nil {
		return nil, no
	}
	id := newID()
	if err := os.Rename(got.path, s.body(id)); err != nil {
		return nil, crash()
	}
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	s.state.thumbnails[id] = true
	return map[string]any{"creator": u, "created": now(), "bytes": got.size, "content_type": typed(got.kind), "downloads": 0, "id": id}, nil
}

func (s *Server) setFileThumbnail(_ http.ResponseWriter, r *http.Request, u user) (any, *refusal) {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	f, no := s.state.allowedFile(r.PathValue("id"), u)
	if no != nil {
		return nil, no
	}
	id := r.PathValue("thumbnail")
	if !s.state.thumbnails[id] {
		return nil, refuse(http.StatusNotFound, "Thumbnail %s not found", id)
	}
	f.ThumbnailID = &id
	return *f, nil
}
