// Package stage says what a stage of a job is: a function that takes a job from one state to the next, and the rules by which it is called.
//
// Every stage may run again after a kill at any point. So its function looks for an outside effect before it repeats the effect, and the
// record advances only after the effect is certain. The package knows nothing of what the stages do.
package stage

import (
	"context"
	"errors"
	"time"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/pipeline/admission"
)

// Change alters the record after a stage did its work.
type Change func(*job.Record) error

// Stage takes a job from one state to the next. Run looks before it repeats an outside effect and returns the change to make in the record
// once the effect is certain.
type Stage struct {
	From job.State
	Run  func(ctx context.Context, rec job.Record) (Change, error)
	// Slots bounds how many jobs are in the stage at once; nil does not. OnRay says that it needs a place on Ray besides.
	Slots *admission.Queue
	OnRay bool
	// Tries bounds how often the stage may fail for a passing reason, Pause how long it waits between two tries.
	Tries int
	Pause time.Duration
	// Interruptible says that a cancellation may cut the stage short: what it has done so far does no harm if nobody knows of it.
	Interruptible bool
}

// The pauses between two tries of a stage double from the first to the longest. They need no jitter, since one process owns
// all jobs.
const (
	FirstPause = 500 * time.Millisecond
	MaxPause   = 5 * time.Minute
	WatchPause = 30 * time.Second
)

// giveUpAfter is how long a job whose training runs or has finished waits for a Ray or a Clowder that is down.
const giveUpAfter = 3 * 24 * time.Hour

// submitFor is how long a job that is ready waits for a Ray that is down, such as one whose head was just created.
const submitFor = time.Hour

// The tries of the stages that wait for a Ray or a Clowder that is down: before an attempt is submitted, while it is watched, and while results
// are delivered.
const (
	SubmitTries   = int(submitFor / WatchPause)
	WatchTries    = int(giveUpAfter / WatchPause)
	DeliveryTries = int(giveUpAfter / MaxPause)
)

// inputError marks an error that the user's data or settings are to blame for.
type inputError struct{ err error }

func (e *inputError) Error() string { return e.err.Error() }

func (e *inputError) Unwrap() error { return e.err }

// BadInput blames the user's data or settings for a permanent error; another one stays as it is.
func BadInput(err error) error {
	if kind, _ := job.Classify(err); err != nil && kind == job.KindPermanent {
		return &inputError{err}
	}
	return err
}

// BlamesInput reports whether the user's data or settings are to blame for an error.
func BlamesInput(err error) bool {
	_, bad := errors.AsType[*inputError](err)
	return bad
}

// SuccessMayWait reports whether the success of an attempt comes onto the disk together with what is made of it: Ray, or else the result on
// the volume, tells it again after a kill. The result of a training does not wait, because its model is registered next, which a cancellation
// must not overtake.
func SuccessMayWait(rec job.Record) bool {
	return rec.Kind != job.Train || rec.Settings.DryRun
}
