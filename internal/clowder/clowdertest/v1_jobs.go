package clowdertest

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Event is one line on the page of a dataset or file of a Clowder v1. Lines are grouped by extractor and job.
type Event struct {
	ResourceID, Extractor, JobID, Text string
	// ID is what a cancel of a submission names.
	ID string
}

// Events returns the lines of a dataset or file in the order of their arrival.
func (s *Server) Events(resourceID string) []Event {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.state.v1.events), func(e Event) bool { return e.ResourceID != resourceID })
}

// v1Source says what a message is about. The type of a resource begins with an apostrophe.
type v1Source struct {
	ID    map[string]string `json:"id"`
	Mime  string            `json:"mimeType,omitempty"`
	Extra map[string]string `json:"extra"`
}

// v1Message is the body of a job message, in the order in which v1 writes it.
type v1Message struct {
	Notifies     []string `json:"notifies"`
	Source       v1Source `json:"source"`
	JobID        string   `json:"jobid"`
	MsgID        string   `json:"msgid"`
	Flags        string   `json:"flags"`
	Intermediate string   `json:"intermediateId"`
	Host         string   `json:"host"`
	DatasetID    string   `json:"datasetId"`
	ID           string   `json:"id"`
	DatasetName  string   `json:"datasetname,omitempty"`
	FileSize     string   `json:"fileSize"`
	Filename     string   `json:"filename,omitempty"`
	Target       string   `json:"target"`
	SecretKey    string   `json:"secretKey"`
	Activity     string   `json:"activity"`
	RoutingKey   string   `json:"routing_key"`
	Parameters   any      `json:"parameters,omitempty"`
	Action       string   `json:"action,omitempty"`
}

// v1Submission reads the body of a submission. Parameters that are no object become an empty one.
func v1Submission(r *http.Request) (extractor string, parameters map[string]any, no *v1Answer) {
	var in struct {
		Extractor  string `json:"extractor"`
		Parameters any    `json:"parameters"`
	}
	if json.NewDecoder(r.Body).Decode(&in) != nil {
		return "", nil, &v1Answer{status: http.StatusBadRequest, text: "Invalid Json"}
	}
	parameters, _ = in.Parameters.(map[string]any)
	if parameters == nil {
		parameters = map[string]any{}
	}
	return in.Extractor, parameters, nil
}

// v1SubmitDataset sends a message with the parameters as a text.
func (s *Server) v1SubmitDataset(_ http.ResponseWriter, r *http.Request, c v1Caller) *v1Answer {
	extractor, parameters, invalid := v1Submission(r)
	s.state.mu.Lock()
	d, no := s.v1Allowed(r.PathValue("id"), c, v1Edit)
	if no == nil {
		no = invalid
	}
	if no != nil {
		s.state.mu.Unlock()
		return no
	}
	if extractor == "" {
		extractor = "unknown.dataset"
	}
	text, _ := json.Marshal(parameters) // it was decoded from JSON
	m := s.v1Message(c, extractor, "'dataset", d.ID)
	m.DatasetID, m.DatasetName, m.FileSize, m.Parameters = d.ID, d.Name, "0", string(text)
	s.state.mu.Unlock()
	return s.v1Dispatch(extractor, m)
}

// v1SubmitFile sends a message with the parameters as an object. A file that is not stored whole cannot be submitted.
func (s *Server) v1SubmitFile(_ http.ResponseWriter, r *http.Request, c v1Caller) *v1Answer {
	extractor, parameters, invalid := v1Submission(r)
	s.state.mu.Lock()
	f, no := s.v1AllowedFile(r.PathValue("id"), c, v1Edit)
	switch {
	case no != nil:
	case invalid != nil:
		no = invalid
	case extractor == "":
		no = &v1Answer{status: http.StatusInternalServerError, body: map[string]string{"status": "KO", "msg": "No jobId found for Extraction on fileid=" + f.ID}}
	case s.state.v1Stored(f) == "CREATED":
		no = &v1Answer{status: http.StatusConflict, body: map[string]string{"status": "error", "msg": "File is not ready. Please wait and try again."}}
	}
	if no != nil {
		s.state.mu.Unlock()
		return no
	}
	m := s.v1Message(c, extractor, "'file", f.ID)
	m.DatasetID, m.Filename, m.FileSize, m.Parameters = f.DatasetID, f.Name, strconv.FormatInt(f.Bytes, 10), parameters
	m.Source.Mime, m.Source.Extra["filename"] = f.ContentType.Full, f.Name
	s.state.mu.Unlock()
	return s.v1Dispatch(extractor, m)
}

// v1Message begins a message and notes the submission. The state must be locked.
func (s *Server) v1Message(c v1Caller, extractor, resource, id string) v1Message {
	m := v1Message{
		Notifies: []string{}, Source: v1Source{ID: map[string]string{"resourceType": resource, "id": id}, Extra: map[string]string{}},
		JobID: newID(), MsgID: newID(), Intermediate: id, Host: s.opts.Host, ID: id, Target: "{}", SecretKey: c.key,
		Activity: "submitted", RoutingKey: "extractors." + extractor, Action: "manual-submission",
	}
	if !c.global {
		m.Notifies = append(m.Notifies, c.user.Email)
	}
	s.state.v1.events = append(s.state.v1.events, Event{ResourceID: id, Extractor: extractor, JobID: m.JobID, Text: "SUBMITTED", ID: m.MsgID})
	return m
}

// v1Dispatch publishes a message. v1 does not notice that its broker is down, or that the queue does not exist.
func (s *Server) v1Dispatch(extractor string, m v1Message) *v1Answer {
	var body strings.Builder
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(m); err != nil {
		return v1Crash(err.Error())
	}
	if s.broker != nil {
		_ = s.broker.publishV1(extractor, []byte(strings.TrimSpace(body.String()))) // as v1
	}
	return v1OK(map[string]string{"status": "OK", "job_id": m.JobID})
}

// v1ReceiveStatus is v1's reader of statuses. An error means that the line is lost.
func (s *Server) v1ReceiveStatus(body []byte, again bool) error {
	var in struct {
		FileID    *string `json:"file_id"`
		Extractor *string `json:"extractor_id"`
		JobID     any     `json:"job_id"`
		Status    *string `json:"status"`
		Start     *string `json:"start"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return err
	}
	if in.FileID == nil || !isID(*in.FileID) || in.Extractor == nil || in.Status == nil || in.Start == nil {
		return errors.New("file_id, extractor_id, status or start is missing or invalid")
	}
	if _, err := time.Parse(time.RFC3339, *in.Start); err != nil {
		if _, err := time.Parse("2006-01-02T15:04:05-0700", *in.Start); err != nil {
			return fmt.Errorf("start %q has another form", *in.Start)
		}
	}
	job, isName := in.JobID.(string)
	if isName && !isID(job) {
		return fmt.Errorf("job_id %q is no id", job)
	}
	text := *in.Status
	if strings.Contains(strings.ToUpper(text), "DONE") {
		text = "DONE"
	}
	kind, said, _ := strings.Cut(strings.TrimPrefix(*in.Status, "StatusMessage."), ": ")
	s.state.keep(ReceivedStatus{JobID: job, Status: kind, Text: said, Again: again})
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	s.state.v1.events = append(s.state.v1.events, Event{ResourceID: *in.FileID, Extractor: *in.Extractor, JobID: job, Text: text, ID: newID()})
	return nil
}

// v1Heartbeat registers an extractor. An error means that v1 drops the heartbeat without a word. A registered extractor is never removed.
func (s *Server) v1Heartbeat(body []byte) error {
	var in struct {
		ID    *string        `json:"id"`
		Queue *string        `json:"queue"`
		Owner string         `json:"owner"`
		Info  map[string]any `json:"extractor_info"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return err
	}
	if in.ID == nil || in.Queue == nil {
		return errors.New("id or queue is missing")
	}
	if err := s.v1CheckInfo(in.Info, in.Owner); err != nil {
		return err
	}
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	name, _ := in.Info["name"].(string)
	s.state.v1.extractors[name] = in.Info
	return nil
}

// v1CheckInfo applies v1's types to extractor_info.
func (s *Server) v1CheckInfo(info map[string]any, owner string) error {
	for _, key := range []string{"name", "version", "description", "author"} {
		if !isText(info[key]) {
			return fmt.Errorf("obj.%s error.path.missing", key)
		}
	}
	if info["contexts"] == nil {
		return errors.New("obj.contexts error.path.missing")
	}
	repositories, ok := info["repository"].([]any)
	if !ok {
		return errors.New("obj.repository error.expected.jsarray")
	}
	for _, r := range repositories {
		entry, _ := r.(map[string]any)
		if !isText(entry["repType"]) || !isText(entry["repUrl"]) {
			return errors.New("obj.repository(0).repType error.path.missing")
		}
	}
	if _, there := info["id"]; there {
		return errors.New("obj.id error.expected.uuid")
	}
	if permissions, _ := info["permissions"].([]any); len(permissions) > 0 {
		return errors.New("obj.permissions error.invalid")
	}
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	if _, isUser := s.state.users[owner]; info["unique_key"] != nil && !isUser {
		return errors.New("unique_key has no owner")
	}
	return nil
}

var spaceID = regexp.MustCompile(`^[0-9a-f]{24}$`) //nolint:gochecknoglobals // compiled once

// v1Extractors wants a space, of any id.
func (s *Server) v1Extractors(_ http.ResponseWriter, r *http.Request, _ v1Caller) *v1Answer {
	if !spaceID.MatchString(r.URL.Query().Get("space")) {
		return v1Crash("java.util.NoSuchElementException: None.get")
	}
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	rows := []map[string]any{}
	for _, info := range s.state.v1.extractors {
		rows = append(rows, info)
	}
	return v1OK(rows)
}

func (s *Server) v1Extractor(_ http.ResponseWriter, r *http.Request, _ v1Caller) *v1Answer {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	if info := s.state.v1.extractors[r.PathValue("name")]; info != nil {
		return v1OK(info)
	}
	return &v1Answer{status: http.StatusNotFound, body: "Extractor not found"}
}

// v1Register says why an extractor_info is refused, which a heartbeat does not.
func (s *Server) v1Register(_ http.ResponseWriter, r *http.Request, c v1Caller) *v1Answer {
	var info map[string]any
	if !c.known {
		return v1Denied()
	}
	if json.NewDecoder(r.Body).Decode(&info) != nil {
		return &v1Answer{status: http.StatusBadRequest, text: "Invalid Json"}
	}
	if one, ok := info["repository"].(map[string]any); ok {
		info["repository"] = []any{one}
	}
	if err := s.v1CheckInfo(info, r.URL.Query().Get("user")); err != nil {
		path, message, _ := strings.Cut(err.Error(), " ")
		return v1Bad(map[string]any{"status": "KO", "message": map[string]any{path: []any{map[string]any{"msg": message, "args": []any{}}}}})
	}
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	name, _ := info["name"].(string)
	s.state.v1.extractors[name] = info
	return v1OK(map[string]string{"status": "OK", "message": "Extractor info updated. ID = " + newID()})
}

// newUUID makes a random correlation id.
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
