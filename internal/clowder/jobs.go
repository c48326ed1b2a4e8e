package clowder

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/ncsa/clowder-ray/internal/clowder/message"
	"github.com/ncsa/clowder-ray/internal/job"
)

// Job is one submission as Clowder shows it.
type Job struct {
	ID       string   `json:"id"`
	Listener string   `json:"listener_id"`
	Status   string   `json:"status"` // CREATED, STARTED, PROCESSING, SUCCEEDED, ERROR, SKIPPED, RESUBMITTED
	Message  string   `json:"latest_message"`
	Duration *float64 `json:"duration"` // seconds; nil until a start was seen
	// Params is the undecoded JSON that the form posted, or null.
	Params json.RawMessage `json:"parameters"`
	// Creator is the user who submitted, and Resource is the dataset or file.
	Creator  User     `json:"creator"`
	Resource Resource `json:"resource_ref"`
}

// Created is the status of a job for which no extractor has sent a status.
const Created = "CREATED"

// Resource identifies a dataset or a file.
type Resource struct {
	Collection string `json:"collection"` // datasets or files
	ID         string `json:"resource_id"`
}

// Submitted is when Clowder created the job, in whole seconds. It is taken from the id, because v2's own field has the local time of
// its server.
func (j Job) Submitted() time.Time {
	seconds, err := hex.DecodeString(j.ID[:min(len(j.ID), 8)])
	if err != nil || len(j.ID) != message.ObjectIDLen {
		return time.Time{}
	}
	return time.Unix(int64(binary.BigEndian.Uint32(seconds)), 0).UTC()
}

// Submission rebuilds the message of a job whose message was lost. It equals the original message, so that both count as one request
// if the original arrives later.
func (j Job) Submission(host, datasetName string, key job.Secret) ([]byte, error) {
	body, err := json.Marshal(map[string]any{
		"host": host, "secretKey": key.Reveal(), "retry_count": 0, "resource_type": "dataset", "flags": "", "datasetName": datasetName,
		"id": j.Resource.ID, "datasetId": j.Resource.ID, "job_id": j.ID, "parameters": j.Params,
	})
	if err != nil {
		return nil, fmt.Errorf("rebuild the message of job %s: %w", j.ID, err)
	}
	return body, nil
}

// JobUpdate is one line of the log of a job.
type JobUpdate struct {
	Text string
	At   time.Time
}

// jobUpdateRow is a JobUpdate as v2 sends it.
type jobUpdateRow struct {
	Status    string `json:"status"`
	Timestamp string `json:"timestamp"`
}

// Submit submits the dataset to an extractor, as the page of Clowder does, and returns the id of the job. Clowder does not check that
// the extractor exists.
func (s *Session) Submit(ctx context.Context, datasetID, extractor string, parameters map[string]any) (string, error) {
	if err := checkIDs("dataset", datasetID); err != nil {
		return "", err
	}
	var id string
	c := post("submit the dataset to "+extractor, "submit the dataset (uploader)", nil, &id, "datasets", datasetID, "extract")
	if parameters != nil {
		c.body = parameters
	}
	c.query = url.Values{"extractorName": {extractor}}
	return id, s.do(ctx, c)
}

// Job reads the state of a job.
func (s *Session) Job(ctx context.Context, id string) (Job, error) {
	var out Job
	if err := checkIDs("job", id); err != nil {
		return out, err
	}
	c := get("read the job", mayView, "jobs", id, "summary")
	c.into = &out
	return out, s.do(ctx, c)
}

// recentJobs is the number of jobs that RecentJobs returns at least, if there are so many.
const recentJobs = 200

// RecentJobs lists the jobs that the user has submitted to an extractor, newest first. Clowder does not list the jobs of other users,
// not even to an administrator.
func (s *Session) RecentJobs(ctx context.Context, extractor string) ([]Job, error) {
	c := get("list the jobs", "list jobs", "jobs")
	c.query = url.Values{"listener_id": {extractor}}
	return listAll(ctx, s, c, recentJobs, func(j Job) string { return j.ID })
}

// JobUpdates reads the log of a job in the order in which Clowder stored it.
func (s *Session) JobUpdates(ctx context.Context, id string) ([]JobUpdate, error) {
	if err := checkIDs("job", id); err != nil {
		return nil, err
	}
	var rows []jobUpdateRow
	c := get("read the log of the job", mayView, "jobs", id, "updates")
	c.into = &rows
	if err := s.do(ctx, c); err != nil {
		return nil, err
	}
	out := make([]JobUpdate, len(rows))
	for i, row := range rows {
		out[i] = JobUpdate{Text: row.Status, At: parseTime(row.Timestamp)}
	}
	return out, nil
}

// Listener is an extractor as Clowder lists it.
type Listener struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Version string `json:"version"`
	// Active is set by an administrator. Other users do not see an inactive extractor.
	Active bool `json:"active"`
	// Alive is true if a heartbeat arrived within the last five minutes.
	Alive bool `json:"alive"`
}

// Listeners lists all extractors that the user may see, including inactive ones.
func (s *Session) Listeners(ctx context.Context) ([]Listener, error) {
	c := get("list the extractors", "list extractors", "listeners")
	c.query = url.Values{"all": {"true"}}
	return listAll(ctx, s, c, s.c.cfg.MaxFiles, func(l Listener) string { return l.ID })
}

// Registered returns the extractors with these names by their name, as far as the user sees them.
func (s *Session) Registered(ctx context.Context, names []string) (map[string]Listener, error) {
	all, err := s.Listeners(ctx)
	if err != nil {
		return nil, err
	}
	listed := map[string]Listener{}
	for _, l := range all {
		if slices.Contains(names, l.Name) {
			listed[l.Name] = l
		}
	}
	return listed, nil
}
