package jobsapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/ncsa/clowder-ray/internal/rayjob"
)

// details holds the fields of a job of Ray that are used.
type details struct {
	Type         string `json:"type"`
	SubmissionID string `json:"submission_id"`
	Status       string `json:"status"`
	Message      string `json:"message"`
	ErrorType    string `json:"error_type"`
	ExitCode     *int   `json:"driver_exit_code"`
	Entrypoint   string `json:"entrypoint"`
}

// core returns the fields that all kinds of details share.
func (d details) core() details { return d }

// owned is details with the fields that show the owner of the job. The frequent listing leaves them out.
type owned struct {
	details
	Metadata map[string]string `json:"metadata"`
}

// noEntrypoint is the command in a leftover entry. Ray looks once a second whether a job still runs. If the entry of a job was
// deleted between its end and the next look, Ray takes the job for one that died and writes a new entry with this command, with
// the status FAILED and without metadata (_monitor_job_internal and put_status of Ray 2.60).
const noEntrypoint = "Entrypoint not found."

// leftover reports whether the entry was written after the job was deleted. Such a job no longer exists.
func (d details) leftover() bool { return d.Entrypoint == noEntrypoint }

var errNotRay = errors.New("the answer does not come from Ray")

// decodeOwned reads the answer about one job. An object without a status is rejected: some proxies answer errors with 200.
func decodeOwned(r io.Reader) (owned, error) {
	var d owned
	if err := json.NewDecoder(io.LimitReader(r, maxAnswer)).Decode(&d); err != nil {
		return owned{}, fmt.Errorf("%w: %w", errNotRay, err)
	}
	if d.Status == "" {
		return owned{}, errNotRay
	}
	return d, nil
}

// statusFailed is Ray's status of a job that needs an explanation.
const statusFailed = "FAILED"

// submission is the type of jobs that came through the Jobs API; the others are drivers that connected directly.
const submission = "SUBMISSION"

// decodeListing reads the list of all jobs one by one, so that its size costs no memory, and calls each for every submitted
// job. It skips a job that it cannot decode: a job that is missing in a listing is never taken as lost.
func decodeListing[T interface{ core() details }](r io.Reader, each func(T)) error {
	dec := json.NewDecoder(r)
	if t, err := dec.Token(); err != nil || t != json.Delim('[') {
		return errors.Join(errNotRay, err)
	}
	for dec.More() {
		var job T
		err := dec.Decode(&job)
		if _, odd := errors.AsType[*json.UnmarshalTypeError](err); odd {
			continue
		}
		if err != nil {
			return fmt.Errorf("%w: %w", errNotRay, err)
		}
		if d := job.core(); d.Type == submission && d.SubmissionID != "" && d.Status != "" {
			each(job)
		}
	}
	if _, err := dec.Token(); err != nil {
		return fmt.Errorf("%w: %w", errNotRay, err)
	}
	return nil
}

// judge turns Ray's status into a verdict; known is false for an unknown status.
func (d details) judge() (obs rayjob.Observation, known bool) {
	switch d.Status {
	case "PENDING":
		return rayjob.Observation{Verdict: rayjob.Pending, Notice: "waiting for Ray to start the job"}, true
	case "RUNNING":
		return rayjob.Observation{Verdict: rayjob.Running}, true
	case "SUCCEEDED":
		return rayjob.Observation{Verdict: rayjob.Succeeded}, true
	case "STOPPED":
		return rayjob.Observation{Verdict: rayjob.Stopped, Reason: "the training was stopped on the Ray cluster"}, true
	case statusFailed:
		return rayjob.Observation{Verdict: rayjob.Failed, Reason: rayjob.Failure{ErrorType: d.ErrorType, Message: d.Message, ExitCode: d.ExitCode}.Reason()}, true
	default:
		return rayjob.Observation{Verdict: rayjob.Running}, false
	}
}
