package registry

import (
	"errors"
	"sync"
	"syscall"

	"github.com/ncsa/clowder-ray/internal/job"
)

// ErrUnreadable is what an error is about a version, a champion or a list that is damaged. Users read its text, so that names no
// path and no other dataset; the operator gets the path from OnFault.
var ErrUnreadable = errors.New("it cannot be read")

type damage struct{ text string }

func (d *damage) Error() string { return d.text }

func (d *damage) Is(target error) bool { return target == ErrUnreadable }

// unreadable says that something cannot be read, and what a user can do instead. Where the cause may pass the error is retryable
// and no damage.
func unreadable(what, instead string, cause error) error {
	text := what + " cannot be read: ask the operator" + instead
	for _, passing := range []error{syscall.EIO, syscall.ESTALE, syscall.ETIMEDOUT, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM} {
		if errors.Is(cause, passing) {
			return job.Retryable(errors.New(text))
		}
	}
	return job.Permanent(&damage{text})
}

// faults tells the operator what cannot be read, each path once.
type faults struct {
	mu   sync.Mutex
	seen map[string]bool
	tell func(path string, err error)
}

// maxFaults bounds what is remembered of faults that were told. Beyond it they are told again.
const maxFaults = 1000

// OnFault has tell called with the path of whatever cannot be read, once for each, and why. It may be called from several
// goroutines at once. Without it nobody is told.
func (r *Registry) OnFault(tell func(path string, err error)) {
	r.faults.mu.Lock()
	defer r.faults.mu.Unlock()
	r.faults.tell = tell
}

func (f *faults) add(path string, err error) {
	f.mu.Lock()
	tell := f.tell
	if f.seen[path] {
		tell = nil
	}
	if f.seen == nil || len(f.seen) >= maxFaults {
		f.seen = map[string]bool{}
	}
	f.seen[path] = true
	f.mu.Unlock()
	if tell != nil {
		tell(path, err)
	}
}

// look is what one look may still read.
type look struct{ versions, bytes int }

func (l *look) more() bool { return l.versions > 0 && l.bytes > 0 }
