package request

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/pipeline/listing"
	"github.com/ncsa/clowder-ray/internal/pipeline/stage"
)

// Runs are the runs that requests are about.
type Runs struct {
	Platform Platform
	Records  Records
	Commands Commands
	Statuses Statuses
}

// choose finds the run that a request is about, and stores it in the request. A list is answered at once.
func (q *Runs) choose(ctx context.Context, rec job.Record, settings job.Settings) (stage.Change, error) {
	runs, err := q.earlier(ctx, rec)
	if err != nil {
		return nil, err
	}
	if settings.Action == actionList {
		return q.list(ctx, rec, runs, settings.Run)
	}
	target, err := q.pick(ctx, rec, runs, settings.Action, settings.Run)
	if err != nil {
		return nil, stage.BadInput(err)
	}
	return func(r *job.Record) error {
		r.Settings, r.Target = settings, target.Run
		r.Advance(job.Staged)
		return nil
	}, nil
}

// list lists the newest runs of the dataset as statuses, the newest last, and ends with the number of all.
func (q *Runs) list(ctx context.Context, rec job.Record, runs []job.Record, wanted string) (stage.Change, error) {
	if err := mayRead(ctx, q.Platform, rec); err != nil {
		return nil, err
	}
	runs = slices.DeleteFunc(runs, func(r job.Record) bool { return !isNamed(r, wanted) })
	for _, r := range slices.Backward(runs[:min(listing.Shown, len(runs))]) {
		q.Statuses.Say(rec, listing.Run(r.Kind.Noun(), r, q.Statuses.LastText(r.Run)))
	}
	return answered(listing.Runs(runs)), nil
}

// act applies the action to the chosen run.
func (q *Runs) act(ctx context.Context, rec job.Record) (stage.Change, error) {
	target, err := q.Records.Get(ctx, rec.Target)
	if errors.Is(err, job.ErrNotFound) {
		return nil, job.Permanent(fmt.Errorf("run %s is no longer in the job store: submit the dataset again", rec.Target))
	}
	if err != nil {
		return nil, err
	}
	switch rec.Settings.Action {
	case actionCancel:
		return q.cancel(ctx, rec, target)
	case actionStop:
		return q.stop(ctx, rec, target)
	default:
		return q.retry(ctx, rec, target)
	}
}

// cancel cancels the run and waits until it has ended.
func (q *Runs) cancel(ctx context.Context, rec, target job.Record) (stage.Change, error) {
	if target.CancelledBy == "" {
		var err error
		if target, err = q.manage(ctx, rec, target, actionCancel); err != nil {
			return nil, err
		}
	}
	if target.Active() {
		return nil, job.Later(time.Second, errors.New("waiting for the run to end"))
	}
	return answered("Run " + target.Run + " was cancelled"), nil
}

// stop asks the run to stop early. The terminal status of that run says how it ended.
func (q *Runs) stop(ctx context.Context, rec, target job.Record) (stage.Change, error) {
	if target.StoppedBy == "" {
		if _, err := q.manage(ctx, rec, target, actionStop); err != nil {
			return nil, err
		}
	}
	promise := " will stop after this step and keep its best model; see that run for the result"
	if target.Kind == job.Script {
		promise = " is asked to stop and keeps everything that it has saved; see that run for the result"
	}
	return answered("Run " + target.Run + promise), nil
}

// retry retries the run and hands the job in Clowder of this request over to it: Clowder shows nothing new in a job that has failed, so
// the job of the request shows the progress of the run.
func (q *Runs) retry(ctx context.Context, rec, target job.Record) (stage.Change, error) {
	if target.Request.Key != rec.Request.Key && target.Request.JobID == rec.Request.JobID && rec.Request.JobID != "" {
		return handOver(target.Run), nil
	}
	// Clowder mixes up statuses that come close together, and those of the run begin at once.
	if ending := target.Active() && target.Ending != nil; ending || !q.Statuses.StartAged(rec, time.Second) {
		return nil, job.Later(time.Second, errors.New("waiting for the earlier status"))
	}
	if _, err := q.manage(ctx, rec, target, actionRetry); err != nil {
		return nil, err
	}
	return handOver(target.Run), nil
}

// manage applies the command of the user of rec to the chosen run, and interrupts the stage that is at work on it.
func (q *Runs) manage(ctx context.Context, rec, target job.Record, action string) (job.Record, error) {
	by, err := q.Platform.CanManage(ctx, rec, target)
	if err != nil {
		return job.Record{}, err
	}
	return q.Commands.Command(ctx, target.Run, func(r *job.Record) error { return apply(action, rec, by, r) })
}

// apply applies an action to the record of a run.
func apply(action string, rec job.Record, by string, r *job.Record) error {
	switch action {
	case actionCancel:
		return r.Cancel(by)
	case actionStop:
		return r.Stop(by)
	default:
		r.SecretKey = rec.SecretKey
		r.Request.JobID, r.Request.ReplyTo, r.Request.CorrelationID = rec.Request.JobID, rec.Request.ReplyTo, rec.Request.CorrelationID
		r.StartSent = true
		return r.Retry()
	}
}
