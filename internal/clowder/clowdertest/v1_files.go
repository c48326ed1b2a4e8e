package clowdertest

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
)

// v1Stored is the status of a file. Both UPLOADED and PROCESSED say that its bytes are there; some files stay UPLOADED.
func (st *state) v1Stored(f *file) string {
	switch {
	case st.v1.storing[f.ID], f.VersionNum == 0:
		return "CREATED"
	case strings.HasSuffix(f.ID, "0"):
		return "UPLOADED"
	default:
		return "PROCESSED"
	}
}

func (s *Server) v1FileState(_ http.ResponseWriter, r *http.Request, c v1Caller) *v1Answer {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	f, no := s.v1AllowedFile(r.PathValue("id"), c, v1View)
	if no != nil {
		return no
	}
	path := "/"
	var names []string
	for _, in := range s.state.pathOf(value(f.FolderID)) {
		names = append(names, in.Name)
	}
	if len(names) > 0 {
		path = "/" + strings.Join(names, "/")
	}
	return v1OK(map[string]any{
		"id": f.ID, "filename": f.Name, "content-type": f.ContentType.Full, "size": strconv.FormatInt(f.Bytes, 10), "status": s.state.v1Stored(f),
		"path": path, "date-created": v1Time(f.Created), "authorId": f.Creator.ID, "thumbnail": f.ThumbnailID, "downloads": f.Downloads,
	})
}

// v1Download streams a body without its length. A file that is not stored is 500.
func (s *Server) v1Download(w http.ResponseWriter, r *http.Request, c v1Caller) *v1Answer {
	s.state.mu.Lock()
	f, no := s.v1AllowedFile(r.PathValue("id"), c, v1Edit)
	switch {
	case no != nil:
	case s.state.v1.barred[f.ID]:
		no = &v1Answer{status: http.StatusBadRequest, text: "The license for this file does not allow it to be downloaded."}
	case s.state.v1Stored(f) == "CREATED":
		no = v1Crash("java.io.FileNotFoundException")
	}
	if no != nil {
		s.state.mu.Unlock()
		return no
	}
	s.state.tracked[f.ID]++
	if r.URL.Query().Get("tracking") != "false" {
		f.Downloads++
	}
	id, name, kind, size := f.ID, f.Name, f.ContentType.Full, f.Bytes
	s.state.mu.Unlock()
	if asked := r.Header.Get("Range"); asked != "" {
		return s.v1Range(w, r, id, kind, asked, size)
	}
	w.Header().Set("Content-Disposition", "attachment; filename*=UTF-8''"+url.PathEscape(name))
	if no := s.stream(w, id, kind); no != nil {
		return v1Crash("java.io.IOException")
	}
	return nil
}

// v1Range answers only open ranges right. Any end is ignored, so that more bytes follow than the length says; a start behind the end hangs.
func (s *Server) v1Range(w http.ResponseWriter, r *http.Request, id, kind, asked string, size int64) *v1Answer {
	from, to, _ := strings.Cut(strings.TrimPrefix(asked, "bytes="), "-")
	start, err := strconv.ParseInt(from, 10, 64)
	switch {
	case err != nil:
		return v1Crash("java.lang.NumberFormatException")
	case start >= size:
		select {
		case <-r.Context().Done():
		case <-s.done:
		}
		panic(http.ErrAbortHandler)
	}
	end := size - 1
	if last, err := strconv.ParseInt(to, 10, 64); err == nil {
		end = last
	}
	in, err := os.Open(s.body(id))
	if err != nil {
		return v1Crash("java.io.IOException")
	}
	defer func() { _ = in.Close() }()
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", strconv.FormatInt(end-start+1, 10))
	w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", start, end, size))
	w.WriteHeader(http.StatusPartialContent)
	_, _ = io.Copy(w, io.NewSectionReader(in, start, size-start)) // net/http cuts what is too much
	return nil
}

// v1DeleteFile lets a person delete their own file whatever their role, and owners and admins any.
func (s *Server) v1DeleteFile(_ http.ResponseWriter, r *http.Request, c v1Caller) *v1Answer {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	id := r.PathValue("id")
	f := s.state.files[id]
	if f == nil {
		if c.global {
			return v1OK(map[string]string{"status": "success"})
		}
		return v1Denied()
	}
	d := s.state.datasets[f.DatasetID]
	mine := c.known && f.Creator.Email == c.user.Email
	if !mine && !c.global && (d == nil || d.Creator.Email != c.user.Email && d.roles[c.user.Email] != "admin") {
		return v1Denied()
	}
	s.state.dropFile(f)
	if err := os.Remove(s.body(id)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return v1Crash("java.io.IOException")
	}
	return v1OK(map[string]string{"status": "success"})
}

// v1Preview is a picture that the page of a file shows.
type v1Preview struct {
	ID   string `json:"id"`
	Name string `json:"filename"`
	Kind string `json:"contentType"`

	file string
}

func (s *Server) v1Previews(_ http.ResponseWriter, r *http.Request, c v1Caller) *v1Answer {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	f, no := s.v1AllowedFile(r.PathValue("id"), c, v1View)
	if no != nil {
		return no
	}
	rows := []v1Preview{}
	for _, p := range s.state.v1.previews {
		if p.file == f.ID {
			rows = append(rows, *p)
		}
	}
	return v1OK(rows)
}
