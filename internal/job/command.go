package job

import (
	"errors"
	"fmt"
	"time"
)

// The commands of people about a job. Each is checked against the stored record, so that if a command and the end of the job come at the
// same moment, exactly one of them wins. Their errors are permanent.

var (
	errOver      = errors.New("has already ended")
	errCancelled = errors.New("is already being cancelled")
	errSaving    = errors.New("has finished and is saving its results")
)

// Cancel cancels the job on behalf of by; the first caller is recorded. It is refused once the training has succeeded: the results are
// then being delivered, and a part of them would be worse than all of them.
func (r *Record) Cancel(by string) error {
	switch {
	case r.over():
		return r.refuse(errOver)
	case r.State.rank() >= Finished.rank():
		return r.refuse(errSaving)
	case r.CancelledBy == "":
		r.CancelledBy = by
	}
	return nil
}

// Stop asks a running training, on behalf of by, to stop after its present step and keep its best model so far, and a running script to end and
// keep what it has saved. Jobs of other kinds have nothing to keep.
func (r *Record) Stop(by string) error {
	switch {
	case r.Kind.Keeps() == "":
		return r.refuse(fmt.Errorf("is a %s, which has nothing to keep before it ends: cancel it instead", r.Kind.Noun()))
	case r.over():
		return r.refuse(errOver)
	case r.CancelledBy != "":
		return r.refuse(errCancelled)
	case r.State.rank() >= Finished.rank():
		return r.refuse(errSaving)
	case r.State != Running:
		return r.refuse(errors.New("has not started training, so there is nothing to keep: cancel it instead"))
	case r.StoppedBy == "":
		r.StoppedBy = by
	}
	return nil
}

// Retry starts a failed or cancelled job again, beginning with the download. The job gets a second terminal status.
func (r *Record) Retry() error {
	switch {
	case r.State != Failed && r.State != Cancelled:
		return r.refuse(fmt.Errorf("is %s: only a failed or cancelled job can be retried", r.State))
	case r.Trimmed:
		return r.refuse(errors.New("no longer has its parameters because they were too large: submit it again with only the fields of the form"))
	case r.SecretKey == "":
		return r.refuse(errors.New("no longer has its user's key: submit it again in Clowder"))
	}
	r.NextAttempt()
	r.State, r.Ending, r.CancelledBy, r.StoppedBy, r.LastError = Accepted, nil, "", "", ""
	r.Restarts = 0
	if r.SentBy != "" {
		r.SentBy = Person // a person wants it now, also where Clowder sent the message
	}
	r.Failures, r.NotBefore = 0, time.Time{}
	return nil
}

// over reports whether the end is decided, whether its status was sent or not.
func (r *Record) over() bool { return r.Ending != nil || !r.Active() }

func (r *Record) refuse(why error) error { return Permanent(fmt.Errorf("run %s %w", r.Run, why)) }
