package report

import (
	"cmp"
	"slices"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/text"
)

// warningsPart are the warnings of a run, the most serious visible and the others collapsed.
type warningsPart struct{ First, Rest []string }

// graveWarnings is how many are visible.
const graveWarnings = 3

// Warnings that the report makes itself.
const (
	warnTime    = "time_limit"
	warnResumed = "resumed"
)

// gravest are the codes of the warnings that a person must not miss, the worst first: what makes the figures wrong, then what
// makes the model worse, then what happened on the way.
var gravest = []string{
	"label_leak", "label_formula", "split_overlap", "feature_is_label", "follow_up", "near_copies", "label_in_form", "time_neighbours", "split_flatters", "no_test_rows", "conflicting_labels", "few_rows", "class_imbalance", "rows_per_class", warnTime, "truncation",
	"one_node_hub", "duplicates", "copies", "worker_lost", "checkpoint_damaged", warnResumed,
}

func newWarningsPart(r *results.Result, p results.Progress) warningsPart {
	texts := warnings(r, p)
	n := min(len(texts), graveWarnings)
	return warningsPart{First: texts[:n], Rest: texts[n:]}
}

// warnings joins those of the result with those of the events that it does not repeat, and with what became of the training.
// What the verdict says is not said again.
func warnings(r *results.Result, p results.Progress) []string {
	list := slices.Concat(r.Warnings, p.Warnings)
	if r.Training.Stopped == results.StoppedByTime {
		list = append(list, results.Warning{Code: warnTime, Text: "The time limit ended training; the best model so far was kept."})
	}
	if n := r.Training.Resumed; n > 0 {
		list = append(list, results.Warning{Code: warnResumed, Text: "Training was interrupted and resumed from a checkpoint " + text.Times(n) + "."})
	}
	slices.SortStableFunc(list, func(a, b results.Warning) int { return cmp.Compare(gravity(a), gravity(b)) })
	var out []string
	seen := map[string]bool{}
	if r.Kind == results.ResultTraining {
		_, said := doubt(r)
		seen[said] = true
	}
	for _, w := range list {
		if words := results.Plain(w.Text, w.Code); !seen[words] && len(out) < maxRows {
			seen[words] = true
			out = append(out, words)
		}
	}
	return out
}

func gravity(w results.Warning) int {
	if i := slices.Index(gravest, w.Code); i >= 0 {
		return i
	}
	return len(gravest)
}
