package job

import (
	"errors"
	"fmt"
	"time"
)

// The wishes of people about a job. Each is decided against the record as it is stored, so that of a wish and an end that come
// at the same moment one wins and the other hears of it. Their errors are permanent and read on after the name of the job.

var (
	errOver      = errors.New("is over")
	errCancelled = errors.New("is being cancelled already")
	errSaving    = errors.New("has finished its work and is saving the results")
)

// Cancel asks for the end of the job in the name of by; the first who asks is the one who is named. It is refused from the
// moment on at which the work has succeeded: the results are then on their way, and half of them are worse than all.
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

// Stop asks a running training, in the name of by, to end at its next step and to keep the best model so far.
func (r *Record) Stop(by string) error {
	switch {
	case r.over():
		return r.refuse(errOver)
	case r.CancelledBy != "":
		return r.refuse(errCancelled)
	case r.State.rank() >= Finished.rank():
		return r.refuse(errSaving)
	case r.State != Running:
		return r.refuse(errors.New("has not begun to train, so there is nothing to keep: cancel it instead"))
	case r.StoppedBy == "":
		r.StoppedBy = by
	}
	return nil
}

// Retry begins a failed or cancelled job anew, from the download on. The user is told a second end of it.
func (r *Record) Retry() error {
	switch {
	case r.State != Failed && r.State != Cancelled:
		return r.refuse(fmt.Errorf("is %s: only a failed or cancelled job can be retried", r.State))
	case r.Trimmed:
		return r.refuse(errors.New("no longer has its parameters, because they were too large: submit it again with the fields of the form only"))
	case r.SecretKey == "":
		return r.refuse(errors.New("no longer has the key of its user: submit it again in Clowder"))
	}
	r.NextAttempt()
	r.State, r.Ending, r.CancelledBy, r.StoppedBy, r.LastError = Accepted, nil, "", "", ""
	r.Restarts = 0
	r.Failures, r.NotBefore = 0, time.Time{}
	return nil
}

// over reports whether the end is decided, told or not.
func (r *Record) over() bool { return r.Ending != nil || !r.Active() }

func (r *Record) refuse(why error) error { return Permanent(fmt.Errorf("run %s %w", r.Run, why)) }
