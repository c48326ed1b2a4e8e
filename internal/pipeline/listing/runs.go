// Package listing describes the runs and models of a dataset in one line each, as the answers to requests of users.
package listing

import (
	"fmt"
	"strings"
	"time"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/text"
)

// Shown is how many runs or models get a line of their own. The job view of Clowder gets these lines as statuses, a second apart.
const Shown = 6

// Run describes a run and its state in one line. noun says what it is, such as Training. said is its newest status, empty for none.
func Run(noun string, r job.Record, said string) string {
	line := noun + " " + r.Run
	if name := r.Settings.RunName; name != "" {
		line += fmt.Sprintf(" %q", name)
	}
	line += fmt.Sprintf(", %s, %s", r.Created.UTC().Format(minute), standing(r))
	if r.Ending != nil {
		said = r.Ending.Text
	}
	if said != "" {
		line += ": " + said
	}
	return line
}

// minute is how a point in time is written.
const minute = "2006-01-02 15:04 UTC"

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
		if !r.Requeued.IsZero() {
			return "waiting to go on"
		}
		return "running for " + text.About(time.Since(r.Trained))
	case job.Finished, job.Collected, job.Uploaded:
		return "saving its results"
	default:
		return string(r.State)
	}
}

// Runs counts runs by their states: "4 runs in this dataset: 1 running, 3 done".
func Runs(runs []job.Record) string {
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
	return tally(len(runs), "run") + ": " + strings.Join(parts, ", ") + newest(len(runs))
}

func tally(n int, noun string) string { return text.Count(n, noun) + " in this dataset" }

// newest says that not all are listed, if that is so.
func newest(n int) string {
	if n <= Shown {
		return ""
	}
	return fmt.Sprintf("; the newest %d are listed", Shown)
}
