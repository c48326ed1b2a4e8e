package clowder

import (
	"context"
	"net/url"
	"time"
)

// Job is what Clowder shows of one submission.
type Job struct {
	ID       string         `json:"id"`
	Listener string         `json:"listener_id"`
	Status   string         `json:"status"` // CREATED, STARTED, PROCESSING, SUCCEEDED, ERROR, SKIPPED, RESUBMITTED
	Message  string         `json:"latest_message"`
	Duration *float64       `json:"duration"` // seconds; nil until a start was seen
	Params   map[string]any `json:"parameters"`
	// Creator is who submitted.
	Creator User `json:"creator"`
}

// JobUpdate is one line of the log of a job.
type JobUpdate struct {
	Text string
	At   time.Time
}

// Submit asks Clowder to send the dataset to an extractor, as its page does, and returns the id of the job. Clowder does
// not check that the extractor exists.
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

// JobUpdates reads the log of a job in the order in which Clowder stored it.
func (s *Session) JobUpdates(ctx context.Context, id string) ([]JobUpdate, error) {
	if err := checkIDs("job", id); err != nil {
		return nil, err
	}
	var rows []struct {
		Status    string `json:"status"`
		Timestamp string `json:"timestamp"`
	}
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
	// Active is set by an administrator; ordinary users do not see an extractor before.
	Active bool `json:"active"`
	// Alive says that a heartbeat came within the last five minutes.
	Alive bool `json:"alive"`
}

// Listeners lists all extractors that the user may see, inactive ones included.
func (s *Session) Listeners(ctx context.Context) ([]Listener, error) {
	c := get("list the extractors", "list extractors", "listeners")
	c.query = url.Values{"all": {"true"}}
	return listAll(ctx, s, c, s.c.cfg.MaxFiles, func(l Listener) string { return l.ID })
}
