package clowdertest

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// statusRule is one branch of v2's parser. The branches are tried in this order.
type statusRule struct {
	status   string
	prefixes [2]string
	ending   string
}

func statusRules() []statusRule {
	return []statusRule{
		{"STARTED", [2]string{"StatusMessage.start: ", "STARTED: "}, "Started processing."},
		{"SUCCEEDED", [2]string{"StatusMessage.done: ", "SUCCEEDED: "}, "Done processing."},
		{"ERROR", [2]string{"StatusMessage.error: ", "ERROR: "}, ""},
		{"RESUBMITTED", [2]string{"StatusMessage.retry: ", "RESUBMITTED: "}, ""},
		{"SKIPPED", [2]string{"StatusMessage.skip: ", "SKIPPED: "}, ""},
		{"PROCESSING", [2]string{"StatusMessage.processing: ", "PROCESSING: "}, ""},
	}
}

// parseStatus returns the status, and the text without the prefixes, which are removed everywhere.
func parseStatus(text string) (status, cleaned string, ok bool) {
	for _, rule := range statusRules() {
		if strings.HasPrefix(text, rule.prefixes[0]) || strings.HasPrefix(text, rule.prefixes[1]) ||
			rule.ending != "" && strings.HasSuffix(text, rule.ending) {
			return rule.status, strings.ReplaceAll(strings.ReplaceAll(text, rule.prefixes[0], ""), rule.prefixes[1], ""), true
		}
	}
	return "", "", false
}

// parseStart reads %Y-%m-%dT%H:%M:%S%z and ignores the offset, as v2 does.
func parseStart(text string) (time.Time, error) {
	if strings.Contains(text, ".") {
		return time.Time{}, errors.New("a fraction of a second")
	}
	for _, layout := range []string{"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05-07:00:00"} {
		if t, err := time.Parse(layout, text); err == nil {
			return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), 0, time.UTC), nil
		}
	}
	return time.Time{}, fmt.Errorf("start %q has another form", text)
}

// handleStatus is v2's message listener. An error means that the message is rejected and nothing is stored.
func (s *Server) handleStatus(body []byte) error { return s.receiveStatus(body, false) }

// receiveStatus handles a status that is delivered for the first time or again.
func (s *Server) receiveStatus(body []byte, again bool) error {
	var in struct {
		JobID  *string `json:"job_id"`
		Status *string `json:"status"`
		Start  *string `json:"start"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return err
	}
	if in.JobID == nil || in.Status == nil || in.Start == nil {
		return errors.New("job_id, status or start is missing")
	}
	at, err := parseStart(*in.Start)
	if err != nil {
		return err
	}
	status, text, ok := parseStatus(*in.Status)
	if !ok {
		return fmt.Errorf("status %q has no known prefix", *in.Status)
	}
	s.state.keep(ReceivedStatus{*in.JobID, status, text, again})
	before, err := s.snapshot(*in.JobID)
	if err != nil {
		return err
	}
	if s.opts.LoseOrder {
		s.sleep(time.Duration(rand.Int64N(int64(10 * time.Millisecond)))) //nolint:gosec // a jitter
	}
	s.applyStatus(before, status, text, at)
	return nil
}

// ReceivedStatus is a status as it arrived, before Clowder's parser changes it. Status is its kind, such as SUCCEEDED. Again is true if the
// broker delivered it before, to a connection that was lost.
type ReceivedStatus struct {
	JobID, Status, Text string
	Again               bool
}

func (st *state) keep(t ReceivedStatus) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.received = append(st.received, t)
}

// ReceivedStatuses returns all statuses in the order of their arrival, including statuses of unknown jobs.
func (s *Server) ReceivedStatuses() []ReceivedStatus {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	return slices.Clone(s.state.received)
}

func (s *Server) snapshot(jobID string) (jobRecord, error) {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	j := s.state.jobs[jobID]
	if j == nil {
		return jobRecord{}, fmt.Errorf("job %q is not known", jobID)
	}
	return *j, nil
}

func terminal(status string) bool {
	return status == "SUCCEEDED" || status == "ERROR" || status == "SKIPPED"
}

// applyStatus writes the result that was computed from the old job, also if the job has changed since: v2 has no lock here.
func (s *Server) applyStatus(before jobRecord, status, text string, at time.Time) {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	j := s.state.jobs[before.ID]
	j.Status = status
	if terminal(before.Status) {
		j.Status = before.Status
	}
	j.Latest, j.Updated = &text, stamp(at)
	started := time.Time(before.Started)
	seconds := at.Sub(started).Seconds()
	switch {
	case !started.IsZero():
		j.Duration = &seconds
	case status == "STARTED":
		seconds = 0
		j.Duration = &seconds
	}
	switch {
	case status == "STARTED":
		j.Started = stamp(at)
	case terminal(status):
		j.Finished = stamp(at)
	}
	s.state.updates = append(s.state.updates, jobUpdate{JobID: j.ID, Status: text, Timestamp: stamp(at), ID: newID()})
}
