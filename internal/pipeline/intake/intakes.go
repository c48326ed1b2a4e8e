package intake

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/semaphore"

	"github.com/ncsa/clowder-ray/internal/clowder/ability"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/pipeline/metrics"
	"github.com/ncsa/clowder-ray/internal/pipeline/slots"
	"github.com/ncsa/clowder-ray/internal/pipeline/status"
	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/text"
)

// Loop works on the jobs that were taken.
type Loop interface {
	// Keep keeps the record of a new job for its first look.
	Keep(rec job.Record)
	// Begin schedules a job that is not scheduled yet, and tells its user if it starts later.
	Begin(rec job.Record)
	// Delay schedules a job for the time at which its record says that it may begin.
	Delay(rec job.Record)
	// Has reports whether the loop works on a run, now or later.
	Has(run string) bool
}

// Clowder tells which Clowder a message is from.
type Clowder interface {
	Abilities(req job.Request) ability.Set
	Origin(req job.Request) (configured, named string)
}

// Config says what is around the intakes.
type Config struct {
	Store      job.Store
	Loop       Loop
	Slots      *slots.Slots
	Statuses   *status.Milestones
	Metrics    *metrics.Metrics
	Names      *Names
	Clowder    Clowder
	Extractors platform.Extractors
	// AutomaticAfter is how long an automatic run waits for more files after each one.
	AutomaticAfter time.Duration
	Log            *zap.Logger
}

// shared is what all intakes of a service share.
type shared struct {
	cfg     Config
	replies status.ReplyQueues
	// decoding bounds the bytes of messages that are decoded at once.
	decoding *semaphore.Weighted
	// closed keeps the intakes from taking more jobs, whatever room there is.
	closed atomic.Bool
}

// Complete adds to a request where its statuses are read, where the message does not say it.
func (s *shared) Complete(req *job.Request) { s.replies.Complete(req, s.cfg.Clowder.Abilities(*req)) }

// Intakes are the intakes of a service, one for each extractor.
type Intakes struct {
	*shared

	all []*Intake
}

// New returns no intakes yet.
func New(cfg Config) *Intakes {
	return &Intakes{shared: &shared{cfg: cfg, decoding: semaphore.NewWeighted(decodeBytes)}}
}

// Add makes the intake for an extractor; all intakes are made before a message comes. version is the Clowder version of messages that do not
// show it, or 0.
func (i *Intakes) Add(e platform.Extractor, publisher Publisher, version int) *Intake {
	in := &Intake{shared: i.shared, extractor: e, publisher: publisher, version: version, freed: make(chan struct{}, 1), announcements: i.Announcements(e)}
	i.all = append(i.all, in)
	return in
}

// Signal wakes the intakes, because they may be able to take more jobs.
func (i *Intakes) Signal() {
	for _, in := range i.all {
		in.signal()
	}
}

// SetAdmission allows the intakes to take jobs, or leaves all jobs in RabbitMQ while they cannot be served.
func (i *Intakes) SetAdmission(open bool) {
	i.closed.Store(!open)
	i.Signal()
}

// maxWaiting bounds the jobs of one user that are taken and wait, and the requests of one user that are not over. Each of them
// costs a record on the disk of the service.
const maxWaiting = 1000

// tooMany returns an error if the user has so many waiting jobs that no more are kept. It returns nil for a job that is known already.
func tooMany(ctx context.Context, store job.Store, places *slots.Slots, rec job.Record) error {
	waiting := places.Waiting(rec.Kind, rec.Owner)
	if waiting < maxWaiting {
		return nil
	}
	if _, err := store.Get(ctx, rec.Run); !errors.Is(err, job.ErrNotFound) {
		return nil // where the store cannot be read, it cannot be written either
	}
	return job.Permanent(fmt.Errorf("you already have %s waiting: wait until some have ended or cancel some, then submit again",
		text.Count(waiting, places.Active(rec.Kind).Noun)))
}
