package clowdertest

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// datasetMessage and fileMessage are the bodies of job messages, in the order in which v2 writes them.
type datasetMessage struct {
	Host        string         `json:"host"`
	SecretKey   string         `json:"secretKey"`
	RetryCount  int            `json:"retry_count"`
	Resource    string         `json:"resource_type"`
	Flags       string         `json:"flags"`
	DatasetName string         `json:"datasetName"`
	ID          string         `json:"id"`
	DatasetID   string         `json:"datasetId"`
	JobID       string         `json:"job_id"`
	Parameters  map[string]any `json:"parameters"`
}

type fileMessage struct {
	Host       string         `json:"host"`
	SecretKey  string         `json:"secretKey"`
	RetryCount int            `json:"retry_count"`
	Resource   string         `json:"resource_type"`
	Flags      string         `json:"flags"`
	Filename   string         `json:"filename"`
	FileSize   int64          `json:"fileSize"`
	ID         string         `json:"id"`
	DatasetID  string         `json:"datasetId"`
	JobID      string         `json:"job_id"`
	Parameters map[string]any `json:"parameters"`
}

// submission reads the input of both routes: the name of an extractor, which is not checked, and optional parameters.
func submission(r *http.Request) (extractor string, parameters map[string]any, no *refusal) {
	if !r.URL.Query().Has("extractorName") {
		return "", nil, missing("query", "extractorName")
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err != nil {
		return "", nil, crash()
	}
	if len(body) > 0 && json.Unmarshal(body, &parameters) != nil {
		return "", nil, invalid("body", "", "value is not a valid dict", "type_error.dict")
	}
	return r.URL.Query().Get("extractorName"), parameters, nil
}

func (s *Server) submitDataset(_ http.ResponseWriter, r *http.Request, u user) (any, *refusal) {
	extractor, parameters, invalidRequest := submission(r)
	s.state.mu.Lock()
	d, no := s.state.allowed(r.PathValue("id"), u, "uploader")
	if no == nil {
		no = invalidRequest
	}
	if no != nil {
		s.state.mu.Unlock()
		return nil, no
	}
	j := s.state.addJob(extractor, reference{Collection: "datasets", ResourceID: d.ID}, parameters, u)
	message := datasetMessage{
		Host: s.opts.Host, SecretKey: s.state.jobKey(u.Email), Resource: "dataset", DatasetName: d.Name, ID: d.ID, DatasetID: d.ID,
		JobID: j.ID, Parameters: parameters,
	}
	s.state.mu.Unlock()
	return s.dispatch(extractor, j.ID, message)
}

func (s *Server) submitFile(_ http.ResponseWriter, r *http.Request, u user) (any, *refusal) {
	extractor, parameters, invalidRequest := submission(r)
	if parameters == nil {
		parameters = map[string]any{}
	}
	s.state.mu.Lock()
	f, no := s.state.allowedFile(r.PathValue("id"), u)
	if no == nil {
		no = invalidRequest
	}
	if no != nil {
		s.state.mu.Unlock()
		return nil, no
	}
	message := s.fileJob(f, extractor, parameters, u)
	s.state.mu.Unlock()
	return s.dispatch(extractor, message.JobID, message)
}

// fileJob adds a job about the newest version of a file and returns its message. The caller holds the lock.
func (s *Server) fileJob(f *file, extractor string, parameters map[string]any, u user) fileMessage {
	version := f.VersionNum
	j := s.state.addJob(extractor, reference{Collection: "files", ResourceID: f.ID, Version: &version}, parameters, u)
	return fileMessage{
		Host: s.opts.Host, SecretKey: s.state.jobKey(u.Email), Resource: "file", Filename: f.Name, FileSize: f.Bytes, ID: f.ID,
		DatasetID: f.DatasetID, JobID: j.ID, Parameters: parameters,
	}
}

func (st *state) addJob(extractor string, resource reference, parameters map[string]any, u user) *jobRecord {
	j := &jobRecord{ListenerID: extractor, Resource: resource, Creator: u, Parameters: parameters, Created: now(), Status: "CREATED", ID: newID()}
	st.jobs[j.ID] = j
	return j
}

// dispatch publishes the message. If that fails, the answer is 500 and the job stays CREATED.
func (s *Server) dispatch(extractor, jobID string, message any) (any, *refusal) {
	var body strings.Builder
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(message) != nil || s.broker == nil || s.broker.publish(extractor, []byte(strings.TrimSpace(body.String()))) != nil {
		return nil, crash()
	}
	return jobID, nil
}

// listJobs lists only the jobs of the user. v2 is meant to list the jobs on shared datasets too, but does not.
func (s *Server) listJobs(_ http.ResponseWriter, r *http.Request, u user) (any, *refusal) {
	query := r.URL.Query()
	status, err := regexp.Compile("(?i)" + query.Get("status"))
	if err != nil {
		return nil, crash()
	}
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	rows := []jobRecord{}
	for _, j := range s.state.jobs {
		listener, dataset := query.Get("listener_id"), query.Get("dataset_id")
		if j.Creator.Email == u.Email && (listener == "" || j.ListenerID == listener) && status.MatchString(j.Status) &&
			(dataset == "" || j.Resource.Collection == "datasets" && j.Resource.ResourceID == dataset) {
			rows = append(rows, *j)
		}
	}
	slices.SortFunc(rows, func(a, b jobRecord) int { return newestFirst(a.Created, b.Created) })
	return paged(r, rows, 2)
}

func (s *Server) jobSummary(_ http.ResponseWriter, r *http.Request, _ user) (any, *refusal) {
	id := r.PathValue("id")
	if !isID(id) {
		return nil, crash()
	}
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	j := s.state.jobs[id]
	if j == nil {
		return nil, refuse(http.StatusNotFound, "Job %s not found", id)
	}
	return *j, nil
}

func (s *Server) jobUpdates(_ http.ResponseWriter, r *http.Request, _ user) (any, *refusal) {
	id := r.PathValue("id")
	if !isID(id) {
		return nil, crash()
	}
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	if s.state.jobs[id] == nil {
		return nil, refuse(http.StatusNotFound, "Job %s not found", id)
	}
	rows := slices.DeleteFunc(slices.Clone(s.state.updates), func(u jobUpdate) bool { return u.JobID != id })
	return append([]jobUpdate{}, rows...), nil
}

// feed submits a new file to each extractor that has a list of file types, with no parameters, as v2 does through the feed that it makes for
// such an extractor. An empty list means all types; this double knows no others.
func (s *Server) feed(f *file, u user) {
	s.state.mu.Lock()
	var messages []fileMessage
	var names []string
	for _, l := range s.state.listeners {
		process, _ := l.Properties["process"].(map[string]any)
		if types, ok := process["file"].([]any); !ok || len(types) > 0 {
			continue
		}
		names = append(names, l.Name)
		messages = append(messages, s.fileJob(f, l.Name, map[string]any{}, u))
	}
	s.state.mu.Unlock()
	for i, m := range messages {
		_, _ = s.dispatch(names[i], m.JobID, m) // v2 answers 500 and has the file
	}
}

// resubmit submits the jobs of the version before the newest one again, with their parameters and in the name of the user who saved the newest
// one. Each gets an id of its own.
func (s *Server) resubmit(fileID string, u user) {
	s.state.mu.Lock()
	f := s.state.files[fileID]
	var messages []fileMessage
	var names []string
	for _, j := range slices.SortedFunc(maps.Values(s.state.jobs), func(a, b *jobRecord) int { return strings.Compare(a.ID, b.ID) }) {
		if f != nil && j.Resource.ResourceID == fileID && j.Resource.Version != nil && *j.Resource.Version == f.VersionNum-1 {
			names = append(names, j.ListenerID)
			messages = append(messages, s.fileJob(f, j.ListenerID, j.Parameters, u))
		}
	}
	s.state.mu.Unlock()
	for i, m := range messages {
		_, _ = s.dispatch(names[i], m.JobID, m) // v2 goes on with the next one
	}
}
