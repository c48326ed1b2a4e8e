package pipeline

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"
	"golang.org/x/time/rate"

	"github.com/ncsa/clowder-ray/internal/clowder/message"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/crash"
	"github.com/ncsa/clowder-ray/internal/pipeline/admission"
	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/queue"
	"github.com/ncsa/clowder-ray/internal/text"
)

// Publisher hands a message to the broker; nil means that the broker has it in a queue.
type Publisher interface {
	Publish(ctx context.Context, m queue.Message) error
}

// Intake turns the deliveries of one extractor into jobs. Each delivery ends in one of four ways: its job is on disk and it is
// acknowledged; nobody has submitted it, and it is acknowledged; it can never become a job, is moved to the error queue and acknowledged;
// or an error is returned and the broker keeps it.
type Intake struct {
	pipeline  *Pipeline
	extractor platform.Extractor
	publisher Publisher
	version   int
	active    *admission.Active
	freed     chan struct{}
	// announcing is held while an announcement of a new file is handled.
	announcing sync.Mutex
}

var _ queue.Slots = (*Intake)(nil)

// NewIntake returns the intake of p for one of its extractors; all intakes are made before Run. version is the Clowder version
// of messages that do not show it, or 0.
func NewIntake(p *Pipeline, e platform.Extractor, publisher Publisher, version int) *Intake {
	in := &Intake{pipeline: p, extractor: e, publisher: publisher, version: version, active: p.activeOfKind(e.Kind), freed: make(chan struct{}, 1)}
	p.intakes = append(p.intakes, in)
	return in
}

const (
	// requestsAtOnce bounds the requests about other jobs that are taken ahead, jobsAtOnce the jobs beyond the free slots.
	requestsAtOnce = 8
	jobsAtOnce     = 8
	// decodeBytes bounds the bytes of messages that are decoded at once: one of the largest, or very many small ones. What is
	// decoded takes many times as much memory.
	decodeBytes = 4 << 20
)

// Free returns how many more jobs the pipeline can take, from any extractor. While users are at their limit, messages are still taken,
// because messages of other users may be behind them in the queue; the order is then decided here. Requests about runs never wait for
// jobs, because they may cancel them.
func (in *Intake) Free() int {
	p := in.pipeline
	if in.extractor.Kind == job.Runs {
		return requestsAtOnce
	}
	if p.closed.Load() {
		return 0
	}
	inside, _ := p.inProgress.Size()
	free := p.cfg.MaxJobs - inside
	if p.inProgress.Contended() {
		free = max(free, jobsAtOnce)
	}
	return free
}

// Freed signals that Free may have grown.
func (in *Intake) Freed() <-chan struct{} { return in.freed }

func (in *Intake) signal() {
	select {
	case in.freed <- struct{}{}:
	default:
	}
}

// Handle takes one delivery.
func (in *Intake) Handle(ctx context.Context, d *queue.Delivery) error {
	p := in.pipeline
	req, key, err := in.decode(ctx, d)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if in.extractor.Automatic && (err == nil || errors.Is(err, message.ErrEvent) && len(req.Announced) > 0) {
		return in.announce(ctx, d, req, key)
	}
	if errors.Is(err, message.ErrEvent) {
		return in.skip(d, req, err)
	}
	if err != nil {
		return in.reject(ctx, d, req, err, true)
	}
	run, err := p.runName(ctx, in.extractor.Queue, req)
	if err != nil {
		return err
	}
	rec := job.New(run, in.extractor.Kind, req, key)
	if err := in.tooMany(ctx, rec); err != nil {
		return in.reject(ctx, d, req, err, true)
	}
	token := in.token(&rec)
	rec, created, err := p.store.Accept(ctx, rec)
	if !created {
		token.Cancel()
	}
	if errors.Is(err, job.ErrOtherContent) {
		// The job that came first goes on, and an error would end it in Clowder's eyes.
		return in.reject(ctx, d, req, fmt.Errorf("a different request with this job id was accepted earlier: %w", err), false)
	}
	if errors.Is(err, job.ErrTooLarge) && !created {
		return in.reject(ctx, d, req, err, true)
	}
	if err != nil {
		return err
	}
	d.Body = nil // it may be large, and the job is on disk
	crash.At(crash.Accepted)
	// Until the ack the delivery takes a free slot, and from here on its job does: with a gap between them one job too many came in.
	if created {
		p.log.Info("job", zap.String("run", rec.Run), zap.String("job_id", req.JobID), zap.String("state", string(rec.State)),
			zap.String("dataset", req.DatasetID), zap.Int("api_version", req.APIVersion))
		p.records.put(rec)
		p.sendStart(ctx, rec, false)
		in.begin(rec)
	} else if err := in.repeated(ctx, d, rec, req, key); err != nil {
		return err
	}
	if err := acked(d); err != nil {
		return err
	}
	crash.At(crash.Acked)
	p.metrics.received(created)
	return nil
}

// decode reads a message. Of the parameters only those are kept that the form has.
func (in *Intake) decode(ctx context.Context, d *queue.Delivery) (job.Request, job.Secret, error) {
	weight := min(int64(len(d.Body)), decodeBytes)
	if err := in.pipeline.decoding.Acquire(ctx, weight); err != nil {
		return job.Request{}, "", err
	}
	defer in.pipeline.decoding.Release(weight)
	req, key, err := message.Decode(d.Body, message.Properties{
		ReplyTo: d.ReplyTo, CorrelationID: d.CorrelationID, APIVersion: in.version, Received: d.Received,
	})
	in.pipeline.replies.Complete(&req, in.pipeline.platform.Abilities(req))
	req.Extractor = in.extractor.Info.Name
	req.Parameters = in.extractor.Info.Keep(req.Parameters)
	return req, key, err
}

// tooMany returns an error if the user has so many waiting jobs that no more are kept. It returns nil for a job that is known already.
func (in *Intake) tooMany(ctx context.Context, rec job.Record) error {
	waiting := in.active.Count(rec.Owner)
	if in.active == in.pipeline.activeJobs {
		waiting -= in.pipeline.inProgress.HeldBy(rec.Owner)
	}
	if waiting < maxWaiting {
		return nil
	}
	if _, err := in.pipeline.store.Get(ctx, rec.Run); !errors.Is(err, job.ErrNotFound) {
		return nil // where the store cannot be read, it cannot be written either
	}
	return job.Permanent(fmt.Errorf("you already have %s waiting: wait until some have ended or cancel some, then submit again",
		text.Count(waiting, in.active.Noun)))
}

// token takes the token of a new job. Where it comes later, the job begins later.
func (in *Intake) token(rec *job.Record) *rate.Reservation {
	now := time.Now()
	token := in.active.Limiter.Reserve(rec.Owner, now)
	if wait := token.DelayFrom(now); wait > 0 {
		rec.NotBefore = now.Add(wait).UTC()
	}
	return token
}

// begin schedules a job that is not scheduled yet, and tells its user if it starts later.
func (in *Intake) begin(rec job.Record) {
	p := in.pipeline
	in.active.Add(rec.Run, rec.Owner)
	due := p.clock.here(rec.NotBefore)
	if late(rec) && due.After(time.Now()) {
		p.schedule.AddAt(rec.Run, due)
		p.say(rec, fmt.Sprintf("You submitted more than %s within an hour: this one will start in %s",
			text.Count(in.active.Limiter.PerHour, in.active.Noun), text.About(time.Until(due))))
		return
	}
	if p.needsSlot(rec) {
		p.inProgress.Enter(rec.Run, rec.Owner, rec.Created)
	}
	p.schedule.Add(rec.Run)
}

// repeated handles a message of a known job. If the broker delivers a message again because it got no acknowledgement, nothing is to be
// done. If an operator publishes a message again, as from the error queue, a failed job is retried with the key in the message, and
// the terminal status of any other ended job is sent again.
func (in *Intake) repeated(ctx context.Context, d *queue.Delivery, rec job.Record, req job.Request, key job.Secret) error {
	p := in.pipeline
	p.log.Info("message delivered again", zap.String("run", rec.Run), zap.String("state", string(rec.State)), zap.Bool("redelivered", d.Redelivered))
	if d.Redelivered || rec.Active() {
		if !p.schedule.Has(rec.Run) {
			in.begin(rec)
		}
		return nil
	}
	if rec.State == job.Failed {
		next, err := p.store.Change(ctx, rec.Run, func(r *job.Record) error {
			// It is the same request: what was cut off because it was too large is here again, as far as the form has it.
			r.SecretKey, r.Request.Parameters, r.Trimmed = key, req.Parameters, false
			return r.Retry()
		})
		if err != nil {
			return err
		}
		in.begin(next)
		return nil
	}
	p.sendEnd(rec, false)
	return nil
}

// skip acknowledges a message that nobody has submitted, and ends what Clowder shows of it.
func (in *Intake) skip(d *queue.Delivery, req job.Request, reason error) error {
	p := in.pipeline
	p.metrics.skipped()
	p.log.Info("message skipped", zap.String("job_id", req.JobID), zap.Error(reason))
	if req.JobID != "" && req.ReplyTo != "" && req.ResourceID != "" {
		p.reporter.Enqueue("skipped-"+req.BodyHash, req, message.Status{Kind: message.StatusSkip, Text: text.Capital(reason.Error()), At: time.Now()})
	}
	return acked(d)
}

// reject moves a message that can never become a job unchanged to the error queue, sends an error status if notify is set, and then
// acknowledges the message.
func (in *Intake) reject(ctx context.Context, d *queue.Delivery, req job.Request, reason error, notify bool) error {
	p := in.pipeline
	p.metrics.rejected()
	p.log.Warn("message rejected", zap.String("job_id", req.JobID), zap.Int("bytes", len(d.Body)), zap.Error(reason))
	err := in.publisher.Publish(ctx, queue.Message{
		RoutingKey: "error." + in.extractor.Queue, Body: d.Body, ContentType: d.ContentType, ReplyTo: d.ReplyTo, CorrelationID: d.CorrelationID,
		Headers: map[string]any{"x-extractor-error": reason.Error(), "x-first-seen": d.Received.UTC().Format(time.RFC3339)},
	})
	if err != nil {
		return fmt.Errorf("move a message to the error queue: %w", err)
	}
	if notify && req.JobID != "" && req.ReplyTo != "" {
		p.reporter.Enqueue("rejected-"+req.BodyHash, req, message.Status{Kind: message.StatusError, Text: text.Capital(reason.Error()), At: time.Now()})
	}
	return acked(d)
}
