package request

import (
	"context"
	"errors"
	"time"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/pipeline/model"
	"github.com/ncsa/clowder-ray/internal/pipeline/stage"
	"github.com/ncsa/clowder-ray/internal/platform"
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

// Platform is where the rights of users are known.
type Platform interface {
	model.Clowders
	// MayRead reports whether the user of the job may read a dataset, and so use the models that were made from it.
	MayRead(ctx context.Context, rec job.Record, dataset string) (bool, error)
	// CanManage returns the name of the user of the job if they may decide over another job of the same dataset, or over its model. Otherwise
	// the error is permanent.
	CanManage(ctx context.Context, rec, other job.Record) (by string, err error)
	// Note adds an entry to the metadata of the job's dataset, once, however often it is called.
	Note(ctx context.Context, rec job.Record, content map[string]any, l platform.LedgerFile) error
}

// Records reads records.
type Records interface {
	Get(ctx context.Context, run string) (job.Record, error)
	List(ctx context.Context, q job.Query) ([]job.Record, error)
}

// Commands change the records of other jobs.
type Commands interface {
	// Command applies a command to the record of a run, and interrupts the stage that is at work on it.
	Command(ctx context.Context, run string, apply func(*job.Record) error) (job.Record, error)
}

// Statuses tells users what is found, and knows what they were told.
type Statuses interface {
	Say(rec job.Record, sentence string)
	Remark(rec job.Record, sentence string)
	// LastText returns the newest sentence that the user of a run was told, empty if this process has told none.
	LastText(run string) string
	// StartAged reports whether the first status of a job was confirmed at least age ago.
	StartAged(rec job.Record, age time.Duration) bool
}

// Requests serves requests. Its calls may be repeated.
type Requests struct {
	Extractors platform.Extractors
	Statuses   Statuses
	Runs       *Runs
	Models     *Models
}

// Choose finds the run or the model that a request is about. It is stored before anything is done, so that a request that continues
// after a crash is about the same one. Lists are answered here.
func (r *Requests) Choose(ctx context.Context, rec job.Record) (stage.Change, error) {
	if rec.Request.Kind != job.Dataset {
		return nil, stage.BadInput(job.Permanent(errors.New("this extractor works on datasets: open the dataset of the file and submit the dataset")))
	}
	settings, err := r.Extractors.Of(rec.Request).Settings(rec.Request.Parameters, func(warning string) { r.Statuses.Remark(rec, warning) })
	if err != nil {
		return nil, stage.BadInput(err)
	}
	switch settings.Action {
	case actionModels:
		return r.Models.list(ctx, rec, settings.Run)
	case actionPromote:
		return r.Models.chooseVersion(ctx, rec, settings)
	case actionExport:
		return r.Models.chooseExport(ctx, rec, settings)
	}
	return r.Runs.choose(ctx, rec, settings)
}

// Act applies the action to the chosen run or model, if the user may. An effect that an interrupted try has had is not repeated.
func (r *Requests) Act(ctx context.Context, rec job.Record) (stage.Change, error) {
	if rec.Settings.Action == actionPromote {
		return r.Models.promote(ctx, rec)
	}
	return r.Runs.act(ctx, rec)
}

// mayRead returns an error if the user may not read the dataset.
func mayRead(ctx context.Context, rights Platform, rec job.Record) error {
	may, err := rights.MayRead(ctx, rec, rec.Request.DatasetID)
	if err == nil && !may {
		err = job.Permanent(errors.New("you cannot view this dataset: ask its owner to share it with you"))
	}
	return err
}

// answered ends a request with a sentence.
func answered(text string) stage.Change {
	return func(r *job.Record) error { r.End(job.Done, text); return nil }
}

// handOver ends a request without a terminal status: the run sends it.
func handOver(run string) stage.Change {
	return func(r *job.Record) error {
		r.End(job.Done, "Run "+run+" continues here")
		return r.Close()
	}
}
