package registry

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/text"
)

const (
	answersFile = "answers.json"
	// maxAnswersFile is the size in bytes of the largest file of answers that is read and written, about 35 predictions of 5,000 rows.
	maxAnswersFile = 8 << 20
)

// Answers are the answers of a prediction to rows without a label, by digests of the ids of the rows.
type Answers struct {
	Run string `json:"run"`
	// Numbers tells answers that are numbers from classes.
	Numbers bool `json:"numbers,omitempty"`
	// Unlabelled is how many rows had an id and no label, Repeated how many ids stood in several of them, whose answers are not kept.
	Unlabelled int               `json:"unlabelled"`
	Repeated   int               `json:"repeated,omitempty"`
	Rows       map[string]Answer `json:"rows"`
}

// Answer is the answer to one row. Label is the label that came later, nil for none, and Proposed says that the row was proposed for labelling.
type Answer struct {
	Predicted string  `json:"a"`
	Label     *string `json:"l,omitempty"`
	Proposed  bool    `json:"p,omitempty"`
}

// Matched is what became of labels that were compared with earlier answers.
type Matched struct {
	// Kept is how many predictions have kept answers, Labels how many of the labels are of rows that these had answered.
	Kept, Labels int
	// Newest is the newest prediction with such a label, nil for none.
	Newest *Prediction
}

// keepAnswers adds the answers of a run to those of its model, in the place of nothing: what a run has left before stays, with its labels. Those of
// runs that the history has no more are dropped, and then the oldest ones until the file is small enough. The caller holds historyLock.
func (r *Registry) keepAnswers(of Dataset, name string, kept Answers, history []Prediction) error {
	all := r.answers(of, name)
	if slices.ContainsFunc(all, func(a Answers) bool { return a.Run == kept.Run }) {
		return nil
	}
	if len(kept.Rows) > 0 {
		all = append(all, kept)
	}
	known := map[string]bool{}
	for _, p := range history {
		known[p.Run] = true
	}
	return r.writeAnswers(of, name, slices.DeleteFunc(all, func(a Answers) bool { return !known[a.Run] }))
}

func (r *Registry) writeAnswers(of Dataset, name string, all []Answers) error {
	doc, err := json.Marshal(all)
	for err == nil && len(doc) > maxAnswersFile {
		all = all[1:]
		doc, err = json.Marshal(all)
	}
	if err == nil {
		err = r.change(of.Folder(), name, func(root *os.Root) error { return disk.WriteFile(root, answersFile, doc) })
	}
	if err != nil {
		return fmt.Errorf("write the answers that the model %s gave: %w", name, withoutPath(err))
	}
	return nil
}

// answers returns the answers that a model gave, of the oldest prediction first. What cannot be read is reported, and counts as none.
func (r *Registry) answers(of Dataset, name string) []Answers {
	for _, folder := range of.folders() {
		doc, err := r.readFile(r.named(folder, name), answersFile, maxAnswersFile)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var all []Answers
		if err == nil {
			err = json.Unmarshal(doc, &all)
		}
		if err != nil {
			r.problems.add(r.named(folder, name).In(answersFile).Path(), err)
			return nil
		}
		return slices.DeleteFunc(all, func(a Answers) bool { return !idForm.MatchString(a.Run) })
	}
	return nil
}

// Compare takes labels, by digests of the ids of their rows, for what the model answered to these rows in earlier predictions, and writes the scores
// into its history. run is where the labels are from; its own answers are left out. metric is that of the model. A repeated call changes nothing, and
// after a kill it completes what is missing.
func (r *Registry) Compare(of Dataset, name, run string, labels map[string]string, metric string) (Matched, error) {
	if !nameForm.MatchString(name) {
		return Matched{}, fmt.Errorf("no model is called %q", text.Excerpt(name, maxName))
	}
	r.historyLock.Lock()
	defer r.historyLock.Unlock()
	all := r.answers(of, name)
	if len(all) == 0 {
		return Matched{}, nil
	}
	history, err := r.History(of, name)
	if err != nil {
		return Matched{}, err
	}
	found, matched := Matched{Kept: len(all)}, map[string]bool{}
	touched := map[string]bool{}
	changed := false
	for _, a := range all {
		for id, answer := range a.Rows {
			label, ok := labels[id]
			if !ok || a.Run == run {
				continue
			}
			matched[id], touched[a.Run] = true, true
			if answer.Label == nil || *answer.Label != label {
				answer.Label, changed = &label, true
				a.Rows[id] = answer
			}
		}
	}
	found.Labels = len(matched)
	if changed {
		if err := r.writeAnswers(of, name, all); err != nil {
			return found, err
		}
	}
	byRun := map[string]Answers{}
	for _, a := range all {
		byRun[a.Run] = a
	}
	for i, p := range history {
		if a, ok := byRun[p.Run]; ok {
			history[i].Later = a.score(metric)
		}
		if touched[p.Run] {
			found.Newest = &history[i]
		}
	}
	if len(touched) == 0 {
		return found, nil
	}
	return found, r.writeHistory(of, name, history)
}
