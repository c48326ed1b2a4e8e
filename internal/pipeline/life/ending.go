package life

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/crash"
	"github.com/ncsa/clowder-ray/internal/pipeline/page"
	"github.com/ncsa/clowder-ray/internal/pipeline/stage"
	"github.com/ncsa/clowder-ray/internal/pipeline/status"
	"github.com/ncsa/clowder-ray/internal/platform"
)

// Attempts are the attempts on Ray.
type Attempts interface {
	// ReleaseAll releases what may still run of a job on Ray. It returns an error only if Ray needs a moment.
	ReleaseAll(ctx context.Context, rec job.Record) error
}

// Known is what users see.
type Known interface {
	// Known returns what the user's platform shows of the job so far.
	Known(ctx context.Context, rec job.Record) (platform.Known, error)
}

// Ending ends jobs whose end is decided: it releases their attempts, sends the last status, and closes them once that is confirmed.
type Ending struct {
	Known    Known
	Attempts Attempts
	Pages    *page.Pages
	Statuses *status.Milestones
	Log      *zap.Logger
}

// cancel decides the end of a cancelled job; the training is released before the terminal status is sent.
func cancel(_ context.Context, rec job.Record) (stage.Change, error) {
	text := "Cancelled by " + rec.CancelledBy
	return func(r *job.Record) error { r.End(job.Cancelled, text); return nil }, nil
}

// finish sends the terminal status and closes the job once it is confirmed. If the end was decided before this process started, Clowder is
// asked first, because the status may have been sent already.
func (e *Ending) finish(ctx context.Context, rec job.Record) (stage.Change, error) {
	closed := func(r *job.Record) error { return r.Close() }
	found := !e.Statuses.HasOutbox(rec.Run)
	switch {
	case e.Statuses.EndSent(rec.Run):
		return closed, nil
	case found:
		known, err := e.Known.Known(ctx, rec)
		if err != nil {
			e.Log.Warn("cannot see whether the terminal status arrived, sending it again", zap.String("run", rec.Run), zap.Error(err))
		}
		if known.Ended {
			return closed, nil
		}
	}
	if !e.Statuses.EndQueued(rec.Run) {
		if err := e.Attempts.ReleaseAll(ctx, rec); err != nil {
			return nil, err
		}
		e.Pages.Hide(ctx, rec)
		crash.At(crash.EndDecided)
		if found && !rec.StartSent {
			e.Statuses.SendStart(ctx, rec, true)
		}
		e.Statuses.SendEnd(rec, found)
	}
	return nil, job.Later(time.Minute, errors.New("the last status is on its way")) // its confirm wakes the job at once
}
