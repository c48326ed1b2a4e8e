package deliver

import (
	"context"
	"fmt"
	"strings"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/pipeline/handover"
	"github.com/ncsa/clowder-ray/internal/pipeline/stage"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/report"
	"github.com/ncsa/clowder-ray/internal/text"
)

// Upload hands the deliverables of a run over. A failed script ends as a failure all the same.
func (d *Deliverer) Upload(ctx context.Context, rec job.Record) (stage.Change, error) {
	c, err := d.built(ctx, rec)
	if err != nil {
		return nil, err
	}
	result, failure, files := c.result, c.failure, c.delivery
	d.Statuses.SayPassing(rec, fmt.Sprintf("Uploading %s (%s)", made(result.Kind), text.Count(len(files.Artifacts), "file")))
	copied := ""
	end := handover.Done(func(where string) string {
		return stoppedEarly(rec, result) + strings.TrimSuffix(report.NewVerdict(result).Sentence, ".") + ". " + where + copied
	})
	if failure != "" {
		end = failedButKept(result, failure, &copied)
	}
	apply, err := d.Handover.Deliver(ctx, rec, files, c.planned, end)
	if err != nil {
		return nil, undelivered(failure, err)
	}
	if copied, err = d.Objects.Deliver(ctx, rec, result); err != nil {
		return nil, undelivered(failure, err)
	}
	return apply, nil
}

// stoppedEarly begins the terminal status of a training that stopped early because a user asked for it.
func stoppedEarly(rec job.Record, r *results.Result) string {
	if rec.StoppedBy == "" || !r.Training.StoppedByHand() && r.Script.StoppedBy() != "user" {
		return ""
	}
	return "Stopped early by " + rec.StoppedBy + ". "
}

// failedButKept is the end of a script that failed and whose files are delivered. copied says where else they are.
func failedButKept(r *results.Result, failure string, copied *string) handover.End {
	return func(rec *job.Record, where string) {
		first := rec.Ending == nil
		rec.End(job.Failed, fmt.Sprintf("%s. What the script had saved is delivered with its log: %s. %s%s", failure, text.Count(len(r.Outputs), "file"), where, *copied))
		if first && rec.Ending != nil {
			rec.Ending.BadInput = true
		}
	}
}

// made is what a run hands over.
func made(kind results.ResultKind) string {
	switch kind {
	case results.ResultPrediction:
		return "the predictions and the report"
	case results.ResultCheck:
		return "the report of the check"
	case results.ResultScript:
		return "the files of the script and the report"
	default:
		return "the model, the metrics and the report"
	}
}
