package intake

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/clowder/message"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/crash"
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
	*shared

	extractor     platform.Extractor
	publisher     Publisher
	version       int
	freed         chan struct{}
	announcements *Announcements
}

var _ queue.Slots = (*Intake)(nil)

// decodeBytes bounds the bytes of messages that are decoded at once: one of the largest, or very many small ones. What is
// decoded takes many times as much memory.
const decodeBytes = 4 << 20

// Free returns how many more jobs the pipeline can take, from any extractor.
func (in *Intake) Free() int {
	if in.extractor.Kind != job.Runs && in.closed.Load() {
		return 0
	}
	return in.cfg.Slots.Free(in.extractor.Kind)
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
	run, err := in.cfg.Names.Run(ctx, in.extractor.Queue, req)
	if err != nil {
		return err
	}
	rec := job.New(run, in.extractor.Kind, req, key)
	if err := tooMany(ctx, in.cfg.Store, in.cfg.Slots, rec); err != nil {
		return in.reject(ctx, d, req, err, true)
	}
	token := in.cfg.Slots.Token(&rec)
	rec, created, err := in.cfg.Store.Accept(ctx, rec)
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
		in.cfg.Log.Info("job", zap.String("run", rec.Run), zap.String("job_id", req.JobID), zap.String("state", string(rec.State)),
			zap.String("dataset", req.DatasetID), zap.Int("api_version", req.APIVersion))
		in.cfg.Loop.Keep(rec)
		in.cfg.Statuses.SendStart(ctx, rec, false)
		in.cfg.Loop.Begin(rec)
	} else if err := in.repeated(ctx, d.Redelivered, rec, req, key); err != nil {
		return err
	}
	if err := acked(d); err != nil {
		return err
	}
	crash.At(crash.Acked)
	in.cfg.Metrics.Received(created)
	return nil
}

// decode reads a message. Of the parameters only those are kept that the form has.
func (in *Intake) decode(ctx context.Context, d *queue.Delivery) (job.Request, job.Secret, error) {
	weight := min(int64(len(d.Body)), decodeBytes)
	if err := in.decoding.Acquire(ctx, weight); err != nil {
		return job.Request{}, "", err
	}
	defer in.decoding.Release(weight)
	req, key, err := message.Decode(d.Body, message.Properties{
		ReplyTo: d.ReplyTo, CorrelationID: d.CorrelationID, APIVersion: in.version, Received: d.Received,
	})
	in.Complete(&req)
	req.Extractor = in.extractor.Info.Name
	req.Parameters = in.extractor.Info.Keep(req.Parameters)
	return req, key, err
}

// repeated handles a message of a known job. If the broker delivers a message again because it got no acknowledgement, nothing is to be
// done. If an operator publishes a message again, as from the error queue, a failed job is retried with the key in the message, and
// the terminal status of any other ended job is sent again.
func (in *Intake) repeated(ctx context.Context, redelivered bool, rec job.Record, req job.Request, key job.Secret) error {
	in.cfg.Log.Info("message delivered again", zap.String("run", rec.Run), zap.String("state", string(rec.State)), zap.Bool("redelivered", redelivered))
	if redelivered || rec.Active() {
		if !in.cfg.Loop.Has(rec.Run) {
			in.cfg.Loop.Begin(rec)
		}
		return nil
	}
	if rec.State == job.Failed {
		next, err := in.cfg.Store.Change(ctx, rec.Run, func(r *job.Record) error {
			// It is the same request: what was cut off because it was too large is here again, as far as the form has it.
			r.SecretKey, r.Request.Parameters, r.Trimmed = key, req.Parameters, false
			return r.Retry()
		})
		if err != nil {
			return err
		}
		in.cfg.Loop.Begin(next)
		return nil
	}
	in.cfg.Statuses.SendEnd(rec, false)
	return nil
}

// skip acknowledges a message that nobody has submitted, and ends what Clowder shows of it.
func (in *Intake) skip(d *queue.Delivery, req job.Request, reason error) error {
	in.cfg.Metrics.Skipped()
	in.cfg.Log.Info("message skipped", zap.String("job_id", req.JobID), zap.Error(reason))
	if req.JobID != "" && req.ReplyTo != "" && req.ResourceID != "" {
		in.cfg.Statuses.Enqueue("skipped-"+req.BodyHash, req, message.Status{Kind: message.StatusSkip, Text: text.Capital(reason.Error()), At: time.Now()})
	}
	return acked(d)
}

// reject moves a message that can never become a job unchanged to the error queue, sends an error status if notify is set, and then
// acknowledges the message.
func (in *Intake) reject(ctx context.Context, d *queue.Delivery, req job.Request, reason error, notify bool) error {
	in.cfg.Metrics.Rejected()
	in.cfg.Log.Warn("message rejected", zap.String("job_id", req.JobID), zap.Int("bytes", len(d.Body)), zap.Error(reason))
	err := in.publisher.Publish(ctx, queue.Message{
		RoutingKey: "error." + in.extractor.Queue, Body: d.Body, ContentType: d.ContentType, ReplyTo: d.ReplyTo, CorrelationID: d.CorrelationID,
		Headers: map[string]any{"x-extractor-error": reason.Error(), "x-first-seen": d.Received.UTC().Format(time.RFC3339)},
	})
	if err != nil {
		return fmt.Errorf("move a message to the error queue: %w", err)
	}
	if notify && req.JobID != "" && req.ReplyTo != "" {
		in.cfg.Statuses.Enqueue("rejected-"+req.BodyHash, req, message.Status{Kind: message.StatusError, Text: text.Capital(reason.Error()), At: time.Now()})
	}
	return acked(d)
}

// acked acknowledges a delivery. Where the session is gone, the broker delivers it again.
func acked(d *queue.Delivery) error {
	if err := d.Ack(); err != nil && !errors.Is(err, queue.ErrSessionGone) {
		return err
	}
	return nil
}
