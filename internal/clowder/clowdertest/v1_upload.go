package clowdertest

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"strconv"
)

// v1Receive reads the parts that are files. Any field name counts where field is empty.
func (s *Server) v1Receive(r *http.Request, field string) ([]*received, *v1Answer) {
	form, err := r.MultipartReader()
	if err != nil {
		return nil, v1Bad("Missing boundary header")
	}
	var all []*received
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			s.v1Discard(all)
			return nil, v1Bad("Unexpected end of input")
		}
		if part.FileName() == "" || field != "" && part.FormName() != field {
			continue
		}
		got, err := s.spool(part)
		if err != nil {
			return nil, v1Crash("java.io.IOException")
		}
		all = append(all, got)
	}
}

func (s *Server) v1Discard(all []*received) {
	for _, got := range all {
		s.discard(got)
	}
}

// v1Upload answers before the bytes are stored. A folder that does not exist is ignored, and one of another dataset takes the file there.
func (s *Server) v1Upload(_ http.ResponseWriter, r *http.Request, c v1Caller) *v1Answer {
	all, no := s.v1Receive(r, "")
	query := r.URL.Query()
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	d, denied := s.v1Allowed(r.PathValue("id"), c, v1Edit)
	if _, err := strconv.ParseBool(query.Get("extract")); err != nil && query.Get("extract") != "" {
		no = v1Bad(map[string]string{"status": "bad request", "message": "Cannot parse parameter extract as Boolean: should be true, false, 0 or 1"})
	}
	switch {
	case denied != nil:
		no = denied
	case no == nil && len(all) == 0:
		no = &v1Answer{status: http.StatusBadRequest, text: "No files uploaded"}
	}
	if no != nil {
		s.v1Discard(all)
		return no
	}
	folderID := query.Get("folder_id")
	if f := s.state.folders[folderID]; f == nil {
		folderID = ""
	} else if s.state.datasets[f.DatasetID] != nil {
		d = s.state.datasets[f.DatasetID]
	}
	extract := query.Get("extract") != "false" && query.Get("extract") != "0"
	if extract {
		s.state.v1.events = append(s.state.v1.events, Event{ResourceID: d.ID, Text: "dataset.file.added"})
	}
	rows := make([]map[string]string, len(all))
	for i, got := range all {
		f := s.state.addFile(d, folderID, got.name, c.user)
		kind := got.kind
		if kind == "" || kind == "application/octet-stream" {
			kind = guessed(f.Name)
		}
		f.Bytes, f.ContentType = got.size, typed(kind)
		s.state.v1.storing[f.ID] = true
		rows[i] = map[string]string{"id": f.ID, "name": f.Name, "status": "CREATED", "resource_type": "file"}
		s.later(func() {
			s.v1Store(f.ID, got)
			if extract {
				s.v1Added(f.ID, c)
			}
		})
	}
	if len(rows) == 1 {
		return v1OK(map[string]string{"id": rows[0]["id"]})
	}
	return v1OK(map[string]any{"ids": rows})
}

// v1Store stores the bytes of an upload after its answer.
func (s *Server) v1Store(id string, got *received) {
	s.sleep(s.opts.StoreDelay)
	err := os.Rename(got.path, s.body(id))
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	f := s.state.files[id]
	switch {
	case f == nil:
	case err != nil:
		s.state.dropFile(f) // as v1 does with bytes that cannot be stored
	default:
		f.VersionNum = 1
	}
	delete(s.state.v1.storing, id)
}

func (s *Server) v1AddPreview(_ http.ResponseWriter, r *http.Request, c v1Caller) *v1Answer {
	id, name, kind, no := s.v1Picture(r, c, "File not attached.")
	if no != nil {
		return no
	}
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	s.state.v1.previews[id] = &v1Preview{ID: id, Name: name, Kind: kind}
	return v1OK(map[string]string{"id": id})
}

func (s *Server) v1AddThumbnail(_ http.ResponseWriter, r *http.Request, c v1Caller) *v1Answer {
	id, _, _, no := s.v1Picture(r, c, "File not attached.")
	if no != nil {
		return no
	}
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	s.state.thumbnails[id] = true
	return v1OK(map[string]string{"id": id})
}

// v1Picture stores the one file of a form in the field that v1 wants.
func (s *Server) v1Picture(r *http.Request, c v1Caller, missing string) (id, name, kind string, no *v1Answer) {
	all, no := s.v1Receive(r, "File")
	switch {
	case no != nil:
		return "", "", "", no
	case !c.known:
		s.v1Discard(all)
		return "", "", "", v1Denied()
	case len(all) == 0:
		return "", "", "", v1Bad(missing)
	}
	id = newID()
	if err := os.Rename(all[0].path, s.body(id)); err != nil {
		return "", "", "", v1Crash("java.io.IOException")
	}
	return id, all[0].name, all[0].kind, nil
}

// v1AttachPreview wants an object of texts.
func (s *Server) v1AttachPreview(_ http.ResponseWriter, r *http.Request, c v1Caller) *v1Answer {
	var in any
	if json.NewDecoder(r.Body).Decode(&in) != nil {
		return &v1Answer{status: http.StatusBadRequest, text: "Invalid Json"}
	}
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	f, no := s.v1AllowedFile(r.PathValue("id"), c, v1Edit)
	if no != nil {
		return no
	}
	fields, ok := in.(map[string]any)
	if !ok {
		return &v1Answer{status: http.StatusOK, text: "received something else: []\n"}
	}
	for _, v := range fields {
		if !isText(v) {
			return v1Crash("play.api.libs.json.JsResultException")
		}
	}
	p := s.state.v1.previews[r.PathValue("p")]
	if p == nil {
		return &v1Answer{status: http.StatusNotFound, body: "Preview not found"}
	}
	p.file = f.ID
	return v1OK(map[string]string{"status": "success"})
}

// v1AttachThumbnail sets the thumbnail of the dataset, too, if it has none and the file lies in its root.
func (s *Server) v1AttachThumbnail(_ http.ResponseWriter, r *http.Request, c v1Caller) *v1Answer {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	f, no := s.v1AllowedFile(r.PathValue("id"), c, v1Edit)
	if no != nil {
		return no
	}
	id := r.PathValue("t")
	if !s.state.thumbnails[id] {
		return &v1Answer{status: http.StatusNotFound, body: "Thumbnail not found"}
	}
	f.ThumbnailID = &id
	if d := s.state.datasets[f.DatasetID]; f.FolderID == nil && d.ThumbnailID == nil {
		d.ThumbnailID = &id
	}
	return v1OK(map[string]string{"status": "success"})
}
