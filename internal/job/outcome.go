package job

import (
	"errors"
	"time"
)

// Kind says what an error means for the job that met it. It is decided where the error arises and is known best.
type Kind int

const (
	// KindRetryable means nothing happened and the same call may work in a while.
	KindRetryable Kind = iota
	// KindPermanent means that a person must change something first; the text is meant for that person.
	KindPermanent
	// KindLater means nothing is wrong: look again after a known time.
	KindLater
	// KindUnknown means that the effect may have happened: look before doing it again.
	KindUnknown
)

// outcome is an error with its kind. It is unexported so that callers decide by Classify and not by type.
type outcome struct {
	kind  Kind
	after time.Duration
	err   error
}

func (o *outcome) Error() string { return o.err.Error() }
func (o *outcome) Unwrap() error { return o.err }

// Retryable marks err as one that may go away by itself. A nil err stays nil.
func Retryable(err error) error { return mark(KindRetryable, 0, err) }

// Permanent marks err as one that repeats until a person changes something. Its text is shown to the user, so it says
// what is wrong and what to do. A nil err stays nil.
func Permanent(err error) error { return mark(KindPermanent, 0, err) }

// Unknown marks err as one after which the effect may or may not have happened. A nil err stays nil.
func Unknown(err error) error { return mark(KindUnknown, 0, err) }

// Later says that the stage is not done and should run again after d; err says in plain words what is awaited.
func Later(d time.Duration, err error) error { return mark(KindLater, d, err) }

func mark(k Kind, after time.Duration, err error) error {
	if err == nil {
		return nil
	}
	return &outcome{kind: k, after: after, err: err}
}

// Classify returns the kind of err and, for KindLater, the wait. The outermost mark wins; an unmarked error is retryable.
func Classify(err error) (Kind, time.Duration) {
	if o, ok := errors.AsType[*outcome](err); ok {
		return o.kind, o.after
	}
	return KindRetryable, 0
}
