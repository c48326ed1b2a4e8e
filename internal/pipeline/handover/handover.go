// Package handover gives files of a job to the user's platform, and keeps in the record of the job what has been given.
//
// A delivery that a kill interrupts is completed by the next call: each effect is in the ledger before it is made. The package knows
// nothing of how the files were made, and only the platform reads the ledger.
package handover

import (
	"context"
	"encoding/json"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/crash"
	"github.com/ncsa/clowder-ray/internal/pipeline/stage"
	"github.com/ncsa/clowder-ray/internal/platform"
)

// Platform takes deliveries.
type Platform interface {
	// Deliver delivers what the run made, once, however often it is called, and returns where the user finds the results.
	Deliver(ctx context.Context, rec job.Record, d platform.Delivery, l platform.LedgerFile, say func(string)) (string, error)
}

// Records is the store of the ledgers.
type Records interface {
	Change(ctx context.Context, run string, fn func(*job.Record) error) (job.Record, error)
}

// Handover gives deliveries to a platform.
type Handover struct {
	platform Platform
	records  Records
	remark   func(rec job.Record, sentence string)
}

// New returns a handover to a platform; remark tells the user of a job a sentence.
func New(to Platform, records Records, remark func(rec job.Record, sentence string)) *Handover {
	return &Handover{to, records, remark}
}

// End decides the end of a job in its record, given where the user finds the results.
type End func(r *job.Record, where string)

// Done is the happy end of a delivery. words makes its sentence, given where the user finds the results.
func Done(words func(where string) string) End {
	return func(r *job.Record, where string) { r.End(job.Done, words(where)) }
}

// Deliver hands d over and decides the end of the job. planned says that this process has written the plan of the delivery and has not
// begun it.
func (h *Handover) Deliver(ctx context.Context, rec job.Record, d platform.Delivery, planned bool, end End) (stage.Change, error) {
	last := rec.Ledger
	ledger := h.Ledger(ctx, rec)
	ledger.New = planned
	ledger.Last = func(doc json.RawMessage) { last = doc }
	where, err := h.platform.Deliver(ctx, rec, d, ledger, func(text string) { h.remark(rec, text) })
	if err != nil {
		return nil, err
	}
	crash.At(crash.Delivered)
	return func(r *job.Record) error {
		r.Ledger = last
		r.Advance(job.Uploaded)
		end(r, where)
		return nil
	}, nil
}

// Ledger keeps the notes on what is delivered in the record of the job.
func (h *Handover) Ledger(ctx context.Context, rec job.Record) platform.LedgerFile {
	return platform.LedgerFile{Saved: rec.Ledger, Last: func(json.RawMessage) {}, Save: func(doc json.RawMessage) error {
		_, err := h.records.Change(context.WithoutCancel(ctx), rec.Run, func(r *job.Record) error { r.Ledger = doc; return nil })
		return err
	}}
}
