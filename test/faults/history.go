package faults

import "github.com/ncsa/clowder-ray/internal/job"

// History is what independent witnesses saw of a time that has ended: every fault is healed and nothing moves any more.
type History struct {
	// Sent are the jobs that users submitted.
	Sent []Sent
	// Waiting are the ids of jobs whose message still waits in RabbitMQ, or lies in an error queue.
	Waiting []string
	// Statuses are what Clowder heard, in the order of arrival.
	Statuses []Status
	// Files and Notes are what Clowder holds of results.
	Files []File
	Notes []Note
	// Trainings are the names of the attempts that Ray has started, in their order.
	Trainings []string
	// Trail is the log of the service: which job came to which state, in that order.
	Trail []Step
	// Records is the store of the service.
	Records []job.Record
	// Texts are all texts in which a key could show, by what they are.
	Texts map[string]string
	// Gauges are amounts that must come back to where they were.
	Gauges []Gauge
}

// Sent is one submission.
type Sent struct {
	JobID string
	// Confirmed says that the message certainly reached a queue that outlives the broker.
	Confirmed bool
}

// Status is one line that Clowder heard of a job; Kind is in Clowder's words, such as SUCCEEDED.
type Status struct{ JobID, Kind, Text string }

// terminal reports whether nothing may follow.
func (s Status) terminal() bool {
	return s.Kind == "SUCCEEDED" || s.Kind == "ERROR" || s.Kind == "SKIPPED"
}

// File is a file that Clowder holds beside the dataset's own.
type File struct {
	// Run is the run whose folder it lies in, empty where there is none.
	Run, Dataset, Path, SHA256 string
	// Unfinished marks one that is listed without a body.
	Unfinished bool
}

// Note is an entry of metadata.
type Note struct{ Run, Resource, Listener string }

// Step is one change of a job's state.
type Step struct {
	Run     string
	Attempt int
	State   job.State
}

// Gauge is an amount of the service's process or its broker, before the jobs and after them.
type Gauge struct {
	Name                 string
	Before, After, Slack float64
}
