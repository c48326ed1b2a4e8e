package request

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ncsa/clowder-ray/internal/job"
)

// minPart is the shortest beginning of a run id that is looked for.
const minPart = 4

// earlier returns the trainings and predictions of the dataset of rec, newest first.
func (q *Runs) earlier(ctx context.Context, rec job.Record) ([]job.Record, error) {
	all, err := q.Records.List(ctx, job.Query{Dataset: rec.Request.DatasetID})
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
func (q *Runs) pick(ctx context.Context, rec job.Record, runs []job.Record, action, wanted string) (job.Record, error) {
	var unfit, denied error
	for _, r := range runs {
		if !isNamed(r, wanted) || wanted == "" && action == actionStop && r.Kind.Keeps() == "" {
			continue
		}
		fitting := r
		if err := apply(action, rec, "nobody", &fitting); err != nil {
			unfit = cmp.Or(unfit, err)
			continue
		}
		_, err := q.Platform.CanManage(ctx, rec, r)
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
