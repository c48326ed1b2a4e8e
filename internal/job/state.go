package job

import (
	"errors"
	"fmt"
)

// State says how far a job is.
//
//	accepted → staged → submitted → running → finished → collected → uploaded → done
//	    any of them → failed | cancelled | skipped
type State string

// The states in their order; the last four are terminal.
const (
	// Accepted: the request is on disk and acknowledged.
	Accepted State = "accepted"
	// Staged: the dataset is in the run folder, with the list of its files. spec.json is written later, at the submission.
	Staged State = "staged"
	// Submitted: Ray knows the attempt by name.
	Submitted State = "submitted"
	// Running: Ray has started the training program.
	Running State = "running"
	// Finished: Ray says that the attempt succeeded.
	Finished State = "finished"
	// Collected: the result is verified and the deliverables are built.
	Collected State = "collected"
	// Uploaded: everything is delivered; only the terminal status is missing.
	Uploaded State = "uploaded"
	// Done, Failed, Cancelled and Skipped: the terminal status was sent.
	Done      State = "done"
	Failed    State = "failed"
	Cancelled State = "cancelled"
	Skipped   State = "skipped"
)

// States lists every state in order, for metrics and listings.
func States() []State {
	return []State{Accepted, Staged, Submitted, Running, Finished, Collected, Uploaded, Done, Failed, Cancelled, Skipped}
}

// Terminal reports whether nothing follows s.
func (s State) Terminal() bool { return s.rank() >= Done.rank() }

// rank orders the states; all terminal ones share the last rank, and an unknown one has -1.
func (s State) rank() int {
	switch s {
	case Accepted:
		return 0
	case Staged:
		return 1
	case Submitted:
		return 2
	case Running:
		return 3
	case Finished:
		return 4
	case Collected:
		return 5
	case Uploaded:
		return 6
	case Done, Failed, Cancelled, Skipped:
		return 7
	default:
		return -1
	}
}

// ErrBackwards is returned by a store for a change that would take a job back.
var ErrBackwards = errors.New("a job never goes backwards")

// checkChange enforces the invariants of a record: attempts only grow, within an attempt the state only grows, and a
// terminal state stays until a new attempt begins.
func checkChange(old, next Record) error {
	switch {
	case next.State.rank() < 0:
		return fmt.Errorf("job %s: unknown state %q", next.Run, next.State)
	case next.Attempt < old.Attempt,
		next.Attempt == old.Attempt && next.State.rank() < old.State.rank(),
		next.Attempt == old.Attempt && old.State.Terminal() && next.State != old.State:
		return fmt.Errorf("job %s: %s (attempt %d) to %s (attempt %d): %w",
			next.Run, old.State, old.Attempt, next.State, next.Attempt, ErrBackwards)
	case next.Run != old.Run, next.Request.BodyHash != old.Request.BodyHash:
		return fmt.Errorf("job %s: its identity cannot be changed", old.Run)
	}
	return nil
}
