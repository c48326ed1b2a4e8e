package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/text"
)

// listed is how many runs are listed by line. The job view of Clowder gets them as statuses, a second apart; finished runs
// stand in their folders anyway.
const listed = 6

// listRuns lists the newest runs of the dataset as statuses, the newest last, and ends with the number of all.
func (p *Pipeline) listRuns(ctx context.Context, rec job.Record, runs []job.Record, wanted string) (change, error) {
	if err := p.checkMayRead(ctx, rec); err != nil {
		return nil, err
	}
	runs = slices.DeleteFunc(runs, func(r job.Record) bool { return !isNamed(r, wanted) })
	shown := slices.Clone(runs[:min(listed, len(runs))])
	slices.Reverse(shown)
	for _, r := range shown {
		p.say(rec, p.runLine(r))
	}
	return answered(tally(runs)), nil
}

// checkMayRead returns an error if the user may not read the dataset.
func (p *Pipeline) checkMayRead(ctx context.Context, rec job.Record) error {
	may, err := p.platform.MayRead(ctx, rec, rec.Request.DatasetID)
	if err == nil && !may {
		err = job.Permanent(errors.New("you cannot view this dataset: ask its owner to share it with you"))
	}
	return err
}

// runLine describes a run and its state in one line.
func (p *Pipeline) runLine(r job.Record) string {
	text := p.noun(r) + " " + r.Run
	if name := r.Settings.RunName; name != "" {
		text += fmt.Sprintf(" %q", name)
	}
	text += fmt.Sprintf(", %s, %s", r.Created.UTC().Format("2006-01-02 15:04 UTC"), standing(r))
	said := p.reporter.LastText(r.Run)
	if r.Ending != nil {
		said = r.Ending.Text
	}
	if said != "" {
		text += ": " + said
	}
	return text
}

// standing is the state of a run in words for its user.
func standing(r job.Record) string {
	switch {
	case r.Ending != nil:
		return string(r.Ending.State)
	case r.CancelledBy != "":
		return "being cancelled"
	}
	switch r.State {
	case job.Accepted:
		return "being prepared"
	case job.Staged, job.Submitted:
		return "waiting"
	case job.Running:
		return "running for " + text.About(time.Since(r.Trained))
	case job.Finished, job.Collected, job.Uploaded:
		return "saving its results"
	default:
		return string(r.State)
	}
}

// tally counts runs by how they stand: "4 runs in this dataset: 1 running, 3 done".
func tally(runs []job.Record) string {
	if len(runs) == 0 {
		return "This dataset has no such run"
	}
	counts := map[string]int{}
	var order []string
	for _, r := range runs {
		word, _, _ := strings.Cut(standing(r), " for ")
		if counts[word]++; counts[word] == 1 {
			order = append(order, word)
		}
	}
	parts := make([]string, len(order))
	for i, word := range order {
		parts[i] = fmt.Sprintf("%d %s", counts[word], word)
	}
	text := text.Count(len(runs), "run") + " in this dataset: " + strings.Join(parts, ", ")
	if len(runs) > listed {
		text += fmt.Sprintf("; the newest %d are listed", listed)
	}
	return text
}
