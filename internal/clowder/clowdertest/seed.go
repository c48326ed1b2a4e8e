package clowdertest

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path"
	"slices"
	"strings"
	"time"
)

// AddDataset makes a private dataset of a user without a request and returns its id.
func (s *Server) AddDataset(email, name string) string {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	description := ""
	d := &dataset{
		Name: name, Description: &description, Status: "PRIVATE", Creator: s.state.users[email], Created: now(), Modified: now(),
		ID: newID(), FrozenVersion: -999, roles: map[string]string{},
	}
	s.state.datasets[d.ID] = d
	return d.ID
}

// Release makes a dataset the first released version of another one, which takes no changes.
func (s *Server) Release(datasetID, originID string) {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	d := s.state.datasets[datasetID]
	d.Frozen, d.FrozenVersion, d.OriginID = true, 1, &originID
}

// LetOnlyRead takes from a user the right to change anything.
func (s *Server) LetOnlyRead(email string) {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	u := s.state.users[email]
	u.ReadOnly = true
	s.state.users[email] = u
}

// AddFile adds a file to a dataset without a request and returns its id. It makes the missing folders of filePath.
func (s *Server) AddFile(datasetID, filePath string, body io.Reader) (string, error) {
	s.state.mu.Lock()
	d := s.state.datasets[datasetID]
	if d == nil {
		s.state.mu.Unlock()
		return "", fmt.Errorf("dataset %s is not there", datasetID)
	}
	parent := ""
	if dir := path.Dir(filePath); dir != "." {
		for name := range strings.SplitSeq(dir, "/") {
			parent = s.state.ensureFolder(d, parent, name)
		}
	}
	s.state.mu.Unlock()
	return s.AddFileTo(datasetID, parent, path.Base(filePath), body)
}

// AddFileTo adds a file to a folder of a dataset without a request and returns its id.
func (s *Server) AddFileTo(datasetID, folderID, filePath string, body io.Reader) (string, error) {
	s.state.mu.Lock()
	d := s.state.datasets[datasetID]
	f := s.state.addFile(d, folderID, filePath, d.Creator)
	s.state.mu.Unlock()
	size, err := s.spoolTo(f.ID, body)
	if err != nil {
		return "", fmt.Errorf("store %s: %w", filePath, err)
	}
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	if no := s.complete(f, size, guessed(f.Name)); no != nil {
		return "", fmt.Errorf("store %s: %v", filePath, no.detail)
	}
	return f.ID, nil
}

func (st *state) ensureFolder(d *dataset, parent, name string) string {
	for _, f := range st.foldersOf[d.ID] {
		if f.Name == name && value(f.Parent) == parent {
			return f.ID
		}
	}
	var up *string
	if parent != "" {
		up = &parent
	}
	return st.addFolder(d.ID, name, up, d.Creator).ID
}

// FolderOf returns the id of the folder of a file, empty for one in the root of its dataset.
func (s *Server) FolderOf(fileID string) string {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	return value(s.state.files[fileID].FolderID)
}

// PutInto moves a folder into another one, which may be itself: Clowder checks nothing.
func (s *Server) PutInto(folderID, parentID string) {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	s.state.folders[folderID].Parent = &parentID
}

// AddFolder makes a folder in the root of a dataset, even if there is one of the same name, and returns its id.
func (s *Server) AddFolder(datasetID, name string) string {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	return s.state.addFolder(datasetID, name, nil, s.state.datasets[datasetID].Creator).ID
}

// AddUnfinishedFile lists a file whose upload never ends, as after a failure of the object store.
func (s *Server) AddUnfinishedFile(datasetID, name string) string {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	d := s.state.datasets[datasetID]
	return s.state.addFile(d, "", name, d.Creator).ID
}

// FinishFile stores the body of a file that AddUnfinishedFile listed.
func (s *Server) FinishFile(id string, body []byte) error {
	size, err := s.spoolTo(id, bytes.NewReader(body))
	if err != nil {
		return err
	}
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	f := s.state.files[id]
	if no := s.complete(f, size, guessed(f.Name)); no != nil {
		return fmt.Errorf("store %s: %v", f.Name, no.detail)
	}
	return nil
}

// Publish makes a file one of a published version of its dataset: it can be read and takes no new version.
func (s *Server) Publish(fileID string) {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	s.state.files[fileID].published = true
}

// ReadFile returns the body of a file, of visualization data or of a thumbnail.
func (s *Server) ReadFile(id string) ([]byte, error) { return os.ReadFile(s.body(id)) }

// Share gives a user a role on a dataset.
func (s *Server) Share(datasetID, email, role string) {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	s.state.datasets[datasetID].roles[email] = role
}

// Downloads returns how often a body was requested, and how often that was counted as a download.
func (s *Server) Downloads(fileID string) (asked, counted int) {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	if f := s.state.files[fileID]; f != nil {
		counted = f.Downloads
	}
	return s.state.tracked[fileID], counted
}

// Heartbeat passes a message to the listener as if it came from the broker. The error is the reason why Clowder would drop it.
func (s *Server) Heartbeat(body []byte) error {
	if s.opts.Version == 1 {
		return s.v1Heartbeat(body)
	}
	return s.handleHeartbeat(body)
}

// Status passes a message to the listener as if it came from the broker. The error is the reason why Clowder would drop it.
func (s *Server) Status(body []byte) error {
	if s.opts.Version == 1 {
		return s.v1ReceiveStatus(body, false)
	}
	return s.handleStatus(body)
}

// Registered is the number of extractors of which there was a heartbeat.
func (s *Server) Registered() int {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	return len(s.state.listeners) + len(s.state.v1.extractors)
}

// DeleteListener deletes an extractor as an administrator does on the page of extractors, in a Clowder of either version.
func (s *Server) DeleteListener(name string) {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	maps.DeleteFunc(s.state.listeners, func(_ string, l *listener) bool { return l.Name == name })
	delete(s.state.v1.extractors, name)
}

// EnableListeners enables all extractors, as an administrator does.
func (s *Server) EnableListeners() {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	for _, l := range s.state.listeners {
		l.Active = true
	}
}

// ForgetHeartbeats makes all extractors look as if they had sent no heartbeat for a while.
func (s *Server) ForgetHeartbeats(age time.Duration) {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	for _, l := range s.state.listeners {
		l.LastAlive = stamp(time.Now().Add(-age))
	}
}

// ReplyQueue is the queue from which this Clowder reads the statuses of jobs.
func (s *Server) ReplyQueue() string { return "clowder." + s.state.instance }

// AddJob makes a job without a message and returns its id.
func (s *Server) AddJob(email, datasetID, extractor string) string {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	return s.state.addJob(extractor, reference{Collection: "datasets", ResourceID: datasetID}, nil, s.state.users[email]).ID
}

// AddFileJob makes a job about the newest version of a file without a message and returns its id.
func (s *Server) AddFileJob(email, fileID, extractor string, parameters map[string]any) string {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	return s.fileJob(s.state.files[fileID], extractor, parameters, s.state.users[email]).JobID
}

// Jobs returns the ids of all jobs, including jobs without a message.
func (s *Server) Jobs() []string {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	return slices.Sorted(maps.Keys(s.state.jobs))
}

// ServeHTTP implements http.Handler, for tests without a connection.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.http.Handler.ServeHTTP(w, r) }

// Register says where the bytes of a file lie on Clowder's machine, as for a file that was registered by its path.
func (s *Server) Register(fileID, stored string) {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	f := s.state.files[fileID]
	f.StorageType, f.StoragePath = "local", &stored
}

// Describe adds metadata to a file or a dataset as a person does in the page.
func (s *Server) Describe(id, email string, content map[string]any) {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	u := s.state.users[email]
	kind, resource := "dataset", reference{Collection: "datasets", ResourceID: id}
	if f := s.state.files[id]; f != nil {
		kind, resource.Collection, resource.Version = "file", "files", new(f.VersionNum)
	}
	m := &metadata{Content: content, Resource: resource, Created: now(), ID: newID()}
	m.Agent.Creator = u
	s.state.metadata = append(s.state.metadata, m)
	s.state.v1.entries = append(s.state.v1.entries, &v1Entry{
		ID: m.ID, To: map[string]any{"resource_type": "cat:" + kind, "url": s.URL + "/" + kind + "s/" + id}, Created: v1Time(m.Created),
		Agent: map[string]any{"@type": "cat:user", "name": u.FirstName, "user_id": s.URL + "/api/users/" + u.ID}, Content: content, resource: id,
	})
}

// Tag adds tags to a file of a Clowder v1, as a person does in the page.
func (s *Server) Tag(fileID string, tags ...string) {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	s.state.v1.tags[fileID] = append(s.state.v1.tags[fileID], tags...)
}

// Section marks a part of a file of a Clowder v1 and gives it tags, as a person does in the page.
func (s *Server) Section(fileID string, tags ...string) {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	id := newID()
	s.state.v1.sections[fileID] = append(s.state.v1.sections[fileID], id)
	s.state.v1.tags[id] = tags
}

// License gives a dataset of a Clowder v2 a licence that its owner has written, which ends at that time, and returns its id.
func (s *Server) License(datasetID, name string, ends time.Time) string {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	id := newID()
	s.state.licenses[id] = map[string]any{"id": id, "name": name, "expiration_date": stamp(ends)}
	d := s.state.datasets[datasetID]
	d.License, d.LicenseID = false, &id
	return id
}

// Bar gives a file of a Clowder v1 a licence that forbids its download.
func (s *Server) Bar(fileID string) {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	s.state.v1.barred[fileID] = true
}
