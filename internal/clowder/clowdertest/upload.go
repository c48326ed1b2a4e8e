package clowdertest

import (
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"os"
	"path"
	"path/filepath"
)

// received is a part of a form on disk.
type received struct {
	name string
	kind string
	size int64
	path string
}

// receive reads the whole form before the request is checked, as FastAPI does. It uses only the field file.
func (s *Server) receive(r *http.Request) (*received, *refusal) {
	form, err := r.MultipartReader()
	if err != nil {
		return nil, missing("body", "file")
	}
	var got *received
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			s.discard(got)
			return nil, refuse(http.StatusBadRequest, "There was an error parsing the body")
		}
		if part.FormName() != "file" || part.FileName() == "" || got != nil {
			continue
		}
		if got, err = s.spool(part); err != nil {
			return nil, crash()
		}
	}
	if got == nil {
		return nil, missing("body", "file")
	}
	return got, nil
}

func (s *Server) spool(part *multipart.Part) (*received, error) {
	out, err := os.CreateTemp(s.opts.Dir, "upload-*")
	if err != nil {
		return nil, err
	}
	size, err := io.Copy(out, part)
	if err = errors.Join(err, out.Close()); err != nil {
		return nil, errors.Join(err, os.Remove(out.Name()))
	}
	_, params, err := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
	if err != nil {
		return nil, errors.Join(err, os.Remove(out.Name()))
	}
	// The name stays as it was sent. multipart.Part.FileName would remove folders.
	return &received{name: params["filename"], kind: part.Header.Get("Content-Type"), size: size, path: out.Name()}, nil
}

func (s *Server) discard(got *received) {
	if got != nil {
		_ = os.Remove(got.path) //nolint:gosec // a name that os.CreateTemp made
	}
}

// upload first lists the file without bytes, then stores it, and then blocks for a while. Names need not be unique.
func (s *Server) upload(_ http.ResponseWriter, r *http.Request, u user) (any, *refusal) {
	got, no := s.receive(r)
	folderID := r.URL.Query().Get("folder_id")
	s.state.mu.Lock()
	d, denied := s.state.allowed(r.PathValue("id"), u, "uploader")
	switch {
	case denied != nil:
		no = denied
	case no != nil:
	case folderID != "" && !isID(folderID):
		no = crash()
	case folderID != "" && s.state.folders[folderID] == nil:
		no = refuse(http.StatusNotFound, "Folder %s not found", folderID)
	}
	var f *file
	if no == nil {
		f = s.state.addFile(d, folderID, got.name, u)
	}
	s.state.mu.Unlock()
	if no != nil {
		s.discard(got)
		return nil, no
	}
	s.sleep(s.opts.StoreDelay)
	answer, no := s.store(f, got)
	if no == nil {
		s.feed(f, u)
	}
	s.sleep(s.opts.UploadDelay)
	return answer, no
}

// addFile lists a file without its body. The caller holds the lock.
func (st *state) addFile(d *dataset, folderID, name string, u user) *file {
	f := &file{
		Name: name, Status: d.Status, Creator: u, Created: now(), VersionID: "N/A", DatasetID: d.ID,
		ContentType: contentType{"N/A", "N/A"}, StorageType: "minio", ObjectType: "file", ID: newID(), Frozen: true,
	}
	if folderID != "" {
		f.FolderID = &folderID
	}
	st.putFile(f)
	return f
}

// store moves the body and completes the row. If the dataset was deleted meanwhile, the answer is 404.
func (s *Server) store(f *file, got *received) (any, *refusal) {
	if err := os.Rename(got.path, s.body(f.ID)); err != nil { //nolint:gosec // names that os.CreateTemp and newID made
		return nil, crash()
	}
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	if s.state.datasets[f.DatasetID] == nil {
		return nil, refuse(http.StatusNotFound, "Dataset %s not found", f.DatasetID)
	}
	kind := got.kind
	if kind == "" {
		kind = guessed(f.Name)
	}
	if no := s.complete(f, got.size, kind); no != nil {
		return nil, no
	}
	return *f, nil
}

func guessed(name string) string {
	if kind := mime.TypeByExtension(path.Ext(name)); kind != "" {
		kind, _, _ = mime.ParseMediaType(kind)
		return kind
	}
	return "application/octet-stream"
}

// spoolTo writes the body of a seeded file.
func (s *Server) spoolTo(id string, body io.Reader) (int64, error) {
	out, err := os.Create(filepath.Clean(s.body(id)))
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(out, body)
	return n, errors.Join(err, out.Close())
}
