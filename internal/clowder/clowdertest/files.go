package clowdertest

import (
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

func (s *Server) body(id string) string { return filepath.Join(s.opts.Dir, id) }

// listFiles lists the files of all folders, newest first, ten per page by default.
func (s *Server) listFiles(_ http.ResponseWriter, r *http.Request, u user) (any, *refusal) {
	inFolder := r.URL.Query().Get("folder_id")
	if inFolder != "" && !isID(inFolder) {
		return nil, crash()
	}
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	d, no := s.state.allowed(r.PathValue("id"), u, "viewer")
	if no != nil {
		return nil, no
	}
	rows := []file{}
	for _, f := range s.state.filesOf[d.ID] {
		if (inFolder == "" || value(f.FolderID) == inFolder) && s.visible(d, f.Creator, u) {
			row := *f
			id := f.ID
			row.OriginID = &id
			row.Frozen = f.published
			rows = append(rows, row)
		}
	}
	// Rows of the same millisecond come in any order, which may differ on the next page.
	slices.SortFunc(rows, func(a, b file) int { return newestFirst(a.Created, b.Created) })
	return paged(r, rows, 10)
}

// allowedFile returns the file if the user has a role on its dataset. Otherwise the real Clowder answers 404 and not 403.
func (st *state) allowedFile(id string, u user) (*file, *refusal) {
	if !isID(id) {
		return nil, crash()
	}
	f := st.files[id]
	if f != nil {
		if d := st.datasets[f.DatasetID]; d != nil && d.mayAccess(u) {
			return f, nil
		}
	}
	return nil, refuse(http.StatusNotFound, "File %s not found", id)
}

func (s *Server) fileSummary(_ http.ResponseWriter, r *http.Request, u user) (any, *refusal) {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	f, no := s.state.allowedFile(r.PathValue("id"), u)
	if no != nil {
		return nil, no
	}
	row := *f
	row.Frozen = f.published
	return row, nil
}

func (s *Server) deleteFile(_ http.ResponseWriter, r *http.Request, u user) (any, *refusal) {
	s.state.mu.Lock()
	f, no := s.state.allowedFile(r.PathValue("id"), u)
	if no == nil {
		s.state.dropFile(f)
	}
	s.state.mu.Unlock()
	if no != nil {
		return nil, no
	}
	if err := os.Remove(s.body(f.ID)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, crash()
	}
	return map[string]string{"deleted": f.ID}, nil
}

// download streams a body without its length and without ranges. It writes the name into a header, which fails for names outside
// Latin-1.
func (s *Server) download(w http.ResponseWriter, r *http.Request, u user) (any, *refusal) {
	s.state.mu.Lock()
	f, no := s.state.allowedFile(r.PathValue("id"), u)
	var name, kind, stored string
	if no == nil {
		stored, no = s.bodyOf(r, f)
	}
	if no == nil {
		s.state.tracked[f.ID]++
		if r.URL.Query().Get("increment") != "false" {
			f.Downloads++
		}
		name, kind = f.Name, f.ContentType.Full
		if f.VersionNum == 0 {
			no = crash() // nothing is stored yet
		}
	}
	s.state.mu.Unlock()
	if no != nil {
		return nil, no
	}
	header, ok := latin1(name)
	if !ok {
		return nil, crash()
	}
	w.Header().Set("Content-Disposition", "attachment; filename="+header)
	return nil, s.stream(w, stored, kind)
}

// latin1 encodes a name for a header.
func latin1(name string) (string, bool) {
	out := make([]byte, 0, len(name))
	for _, r := range name {
		if r > 0xff {
			return "", false
		}
		out = append(out, byte(r)) //nolint:gosec // checked above
	}
	return string(out), true
}

//nolint:gochecknoglobals // a pool of buffers is shared by nature and holds no state
var buffers = sync.Pool{New: func() any { b := make([]byte, 256<<10); return &b }}

func (s *Server) stream(w http.ResponseWriter, id, kind string) *refusal {
	in, err := os.Open(s.body(id))
	if err != nil {
		return crash()
	}
	defer func() { _ = in.Close() }()
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Transfer-Encoding", "chunked") // otherwise net/http adds a length to short bodies
	buffer, _ := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	// The wrapper hides ReadFrom and WriteTo, so that the buffer is used. A client that disconnects is not an error.
	_, _ = io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{in}, *buffer)
	return nil
}

// downloadURL returns an address that needs no key. The real Clowder signs it; here the id is enough.
func (s *Server) downloadURL(_ http.ResponseWriter, r *http.Request, u user) (any, *refusal) {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	f, no := s.state.allowedFile(r.PathValue("id"), u)
	if no != nil {
		return nil, no
	}
	stored, no := s.bodyOf(r, f)
	if no != nil {
		return nil, no
	}
	return map[string]string{"presigned_url": s.URL + "/stored/" + f.ID + "?body=" + stored + "&X-Amz-Signature=secret"}, nil
}

func (s *Server) presigned(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	s.state.mu.Lock()
	f, stored := s.state.files[id], r.URL.Query().Get("body")
	if f != nil {
		s.state.tracked[id]++
	}
	s.state.mu.Unlock()
	if f == nil || !isID(stored) || r.Header.Get("X-API-KEY") != "" {
		http.Error(w, "AccessDenied", http.StatusForbidden)
		return
	}
	http.ServeFile(w, r, s.body(stored))
}
