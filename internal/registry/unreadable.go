package registry

import (
	"errors"
	"sync"
	"syscall"

	"github.com/ncsa/clowder-ray/internal/job"
)

// ErrUnreadable matches errors about a damaged version, champion or list. Users read their text, which has no path and no other dataset.
// The operator gets the path from OnFault.
var ErrUnreadable = errors.New("it cannot be read")

type damage struct{ text string }

func (d *damage) Error() string { return d.text }

func (d *damage) Is(target error) bool { return target == ErrUnreadable }

// unreadable returns the error about something that cannot be read, with what the user can do instead. If the cause may be temporary, the
// error is retryable and does not match ErrUnreadable.
func unreadable(what, instead string, cause error) error {
	text := what + " cannot be read: ask the administrator" + instead
	for _, temporary := range []error{syscall.EIO, syscall.ESTALE, syscall.ETIMEDOUT, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM} {
		if errors.Is(cause, temporary) {
			return job.Retryable(errors.New(text))
		}
	}
	return job.Permanent(&damage{text})
}

// problems reports to the operator what cannot be read, each path once.
type problems struct {
	mu     sync.Mutex
	seen   map[string]bool
	report func(path string, err error)
}

// maxProblems limits the number of remembered paths. After it they are reported again.
const maxProblems = 1000

// OnFault sets the function that is called once for each path that cannot be read, with the reason. It must be safe for concurrent use.
// Without it nothing is reported.
func (r *Registry) OnFault(report func(path string, err error)) {
	r.problems.mu.Lock()
	defer r.problems.mu.Unlock()
	r.problems.report = report
}

func (p *problems) add(path string, err error) {
	p.mu.Lock()
	report := p.report
	if p.seen[path] {
		report = nil
	}
	if p.seen == nil || len(p.seen) >= maxProblems {
		p.seen = map[string]bool{}
	}
	p.seen[path] = true
	p.mu.Unlock()
	if report != nil {
		report(path, err)
	}
}

// readBudget is how many versions and bytes one operation may still read.
type readBudget struct{ versions, bytes int }

func (l *readBudget) left() bool { return l.versions > 0 && l.bytes > 0 }
