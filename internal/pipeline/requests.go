package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/pipeline/listing"
)

// The actions of the form of the extractor that manages runs.
const (
	actionList   = "list"
	actionCancel = "cancel"
	actionStop   = "stop and keep"
	actionRetry  = "retry"
	// These are about the models that runs have made.
	actionModels  = "models"
	actionPromote = "promote"
	actionExport  = "export"
)

// chooseRun finds the run or the model that a request is about. It is stored before anything is done, so that a request that continues
// after a crash is about the same one. Lists are answered here.
func (p *Pipeline) chooseRun(ctx context.Context, rec job.Record) (change, error) {
	if rec.Request.Kind != job.Dataset {
		return nil, badInput(job.Permanent(errors.New("this extractor works on datasets: open the dataset of the file and submit the dataset")))
	}
	settings, err := p.settings(rec, p.cfg.Extractors.Of(rec.Request))
	if err != nil {
		return nil, badInput(err)
	}
	action, wanted := settings.Action, settings.Run
	switch action {
	case actionModels:
		return p.listModels(ctx, rec, wanted)
	case actionPromote:
		return p.chooseVersion(ctx, rec, settings)
	case actionExport:
		return p.chooseExport(ctx, rec, settings)
	}
	runs, err := p.runsBeside(ctx, rec)
	if err != nil {
		return nil, err
	}
	if action == actionList {
		return p.listRuns(ctx, rec, runs, wanted)
	}
	target, err := p.pick(ctx, rec, runs, action, wanted)
	if err != nil {
		return nil, badInput(err)
	}
	return func(r *job.Record) error {
		r.Settings, r.Target = settings, target.Run
		r.Advance(job.Staged)
		return nil
	}, nil
}

// listRuns lists the newest runs of the dataset as statuses, the newest last, and ends with the number of all.
func (p *Pipeline) listRuns(ctx context.Context, rec job.Record, runs []job.Record, wanted string) (change, error) {
	if err := p.checkMayRead(ctx, rec); err != nil {
		return nil, err
	}
	runs = slices.DeleteFunc(runs, func(r job.Record) bool { return !isNamed(r, wanted) })
	for _, r := range slices.Backward(runs[:min(listing.Shown, len(runs))]) {
		p.say(rec, listing.Run(p.noun(r), r, p.reporter.LastText(r.Run)))
	}
	return answered(listing.Runs(runs)), nil
}

// checkMayRead returns an error if the user may not read the dataset.
func (p *Pipeline) checkMayRead(ctx context.Context, rec job.Record) error {
	may, err := p.platform.MayRead(ctx, rec, rec.Request.DatasetID)
	if err == nil && !may {
		err = job.Permanent(errors.New("you cannot view this dataset: ask its owner to share it with you"))
	}
	return err
}

// actOnRun applies the action to the chosen run or model, if the user may. An effect that an interrupted try has had is not repeated.
func (p *Pipeline) actOnRun(ctx context.Context, rec job.Record) (change, error) {
	if rec.Settings.Action == actionPromote {
		return p.promote(ctx, rec)
	}
	target, err := p.store.Get(ctx, rec.Target)
	if errors.Is(err, job.ErrNotFound) {
		return nil, job.Permanent(fmt.Errorf("run %s is no longer in the job store: submit the dataset again", rec.Target))
	}
	if err != nil {
		return nil, err
	}
	switch rec.Settings.Action {
	case actionCancel:
		return p.cancelRun(ctx, rec, target)
	case actionStop:
		return p.stopRun(ctx, rec, target)
	default:
		return p.retryRun(ctx, rec, target)
	}
}

// cancelRun cancels the run and waits until it has ended.
func (p *Pipeline) cancelRun(ctx context.Context, rec, target job.Record) (change, error) {
	if target.CancelledBy == "" {
		var err error
		if target, err = p.manage(ctx, rec, target, actionCancel); err != nil {
			return nil, err
		}
	}
	if target.Active() {
		return nil, job.Later(time.Second, errors.New("waiting for the run to end"))
	}
	return answered("Run " + target.Run + " was cancelled"), nil
}

// stopRun asks the run to stop early. The terminal status of that run says how it ended.
func (p *Pipeline) stopRun(ctx context.Context, rec, target job.Record) (change, error) {
	if target.StoppedBy == "" {
		if _, err := p.manage(ctx, rec, target, actionStop); err != nil {
			return nil, err
		}
	}
	promise := " will stop after this step and keep its best model; see that run for the result"
	if target.Kind == job.Script {
		promise = " is asked to stop and keeps everything that it has saved; see that run for the result"
	}
	return answered("Run " + target.Run + promise), nil
}

// retryRun retries the run and hands the job in Clowder of this request over to it: Clowder shows nothing new in a job that has failed, so
// the job of the request shows the progress of the run.
func (p *Pipeline) retryRun(ctx context.Context, rec, target job.Record) (change, error) {
	if target.Request.Key != rec.Request.Key && target.Request.JobID == rec.Request.JobID && rec.Request.JobID != "" {
		return handOver(target.Run), nil
	}
	// Clowder mixes up statuses that come close together, and those of the run begin at once.
	if ending := target.Active() && target.Ending != nil; ending || !p.startAged(rec, time.Second) {
		return nil, job.Later(time.Second, errors.New("waiting for the earlier status"))
	}
	if _, err := p.manage(ctx, rec, target, actionRetry); err != nil {
		return nil, err
	}
	return handOver(target.Run), nil
}

// manage applies the command of the user of rec to the chosen run, and interrupts the stage that is at work on it.
func (p *Pipeline) manage(ctx context.Context, rec, target job.Record, action string) (job.Record, error) {
	by, err := p.platform.CanManage(ctx, rec, target)
	if err != nil {
		return job.Record{}, err
	}
	return p.command(ctx, target.Run, func(r *job.Record) error { return p.apply(action, rec, by, r) })
}

// apply applies an action to the record of a run.
func (p *Pipeline) apply(action string, rec job.Record, by string, r *job.Record) error {
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

// answered ends a request with a sentence.
func answered(text string) change {
	return func(r *job.Record) error { r.End(job.Done, text); return nil }
}

// handOver ends a request without a terminal status: the run sends it.
func handOver(run string) change {
	return func(r *job.Record) error {
		r.End(job.Done, "Run "+run+" continues here")
		return r.Close()
	}
}

// minPart is the shortest beginning of a run id that is looked for.
const minPart = 4

// runsBeside returns the trainings and predictions of the dataset of rec, newest first.
func (p *Pipeline) runsBeside(ctx context.Context, rec job.Record) ([]job.Record, error) {
	all, err := p.store.List(ctx, job.Query{Dataset: rec.Request.DatasetID})
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(r job.Record) bool {
		return r.Request.Host != rec.Request.Host || r.Kind == job.Runs
	})
	slices.Reverse(all)
	return all, nil
}

// pick returns the newest of the runs with the wanted name to which the action applies and which the user may manage. If there is none,
// its error explains the newest run that comes closest.
func (p *Pipeline) pick(ctx context.Context, rec job.Record, runs []job.Record, action, wanted string) (job.Record, error) {
	var unfit, denied error
	for _, r := range runs {
		if !isNamed(r, wanted) || wanted == "" && action == actionStop && r.Kind.Keeps() == "" {
			continue
		}
		fitting := r
		if err := p.apply(action, rec, "nobody", &fitting); err != nil {
			unfit = cmp.Or(unfit, err)
			continue
		}
		_, err := p.platform.CanManage(ctx, rec, r)
		if kind, _ := job.Classify(err); err == nil || kind != job.KindPermanent {
			return r, err
		}
		denied = cmp.Or(denied, err)
	}
	none := job.Permanent(fmt.Errorf("this dataset has no run %q: use the action list to see its runs", wanted))
	if wanted == "" {
		none = job.Permanent(fmt.Errorf("this dataset has no runs yet: there is nothing to %s", action))
	}
	return job.Record{}, cmp.Or(denied, unfit, none)
}

// isNamed reports whether a user who writes wanted means r: its id or the beginning of it, its name, its job in Clowder, or its results
// folder, whose name ends with the beginning of the id. An empty text means every run.
func isNamed(r job.Record, wanted string) bool {
	if wanted == "" || wanted == r.Run || wanted == r.Request.JobID || strings.EqualFold(wanted, r.Settings.RunName) {
		return true
	}
	part := wanted[strings.LastIndexAny(wanted, "-/")+1:]
	return len(part) >= minPart && strings.HasPrefix(strings.TrimPrefix(r.Run, "ft-"), part)
}
