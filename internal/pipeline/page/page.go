// Package page leads users to the page of a job in the studio, and lets their platform show there how far the job is.
//
// Jobs go on without it: what cannot be shown or removed is logged, and nothing waits longer than some seconds for it. Show and Hide may
// be repeated, so a kill between a stage and its record does no harm. The package knows nothing of stages.
package page

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/job"
)

// Studio is the web page of the service, as far as users are led there.
type Studio interface {
	// Link is the address of the page of a run.
	Link(run string) string
	// Show shows in the user's platform how far a job is, once, however often it is called; Hide removes that.
	Show(ctx context.Context, rec job.Record) error
	Hide(ctx context.Context, rec job.Record) error
}

// Pages are the pages of jobs in the studio.
type Pages struct {
	studio Studio
	log    *zap.Logger
}

// New returns the pages of studio; nil is none.
func New(studio Studio, log *zap.Logger) *Pages { return &Pages{studio, log} }

// has reports whether the studio has a page about a job.
func (p *Pages) has(rec job.Record) bool {
	return p.studio != nil && rec.Request.DatasetID != "" && rec.Kind != job.Runs
}

// Link is the address of the page of a job, empty for none.
func (p *Pages) Link(rec job.Record) string {
	if !p.has(rec) {
		return ""
	}
	return p.studio.Link(rec.Run)
}

// showTime bounds what is shown of a job besides its statuses: the job does not wait for it.
const showTime = 10 * time.Second

// Show shows in the user's platform how far the job is.
func (p *Pages) Show(ctx context.Context, rec job.Record) { p.try(ctx, rec, Studio.Show) }

// Hide removes what Show has shown.
func (p *Pages) Hide(ctx context.Context, rec job.Record) { p.try(ctx, rec, Studio.Hide) }

func (p *Pages) try(ctx context.Context, rec job.Record, do func(Studio, context.Context, job.Record) error) {
	if !p.has(rec) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, showTime)
	defer cancel()
	if err := do(p.studio, ctx, rec); err != nil {
		p.log.Warn("cannot change what the dataset shows of a run that goes on", zap.String("run", rec.Run), zap.Error(err))
	}
}
