package registry

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/text"
)

const (
	historyFile = "history.json"
	// maxHistoryFile is the size in bytes of the largest history that is read and written.
	maxHistoryFile = 2 << 20
	// maxPredictions is how many predictions the history of a model has, the newest ones, and maxHistoryClasses how many classes each counts.
	maxPredictions, maxHistoryClasses = 500, 20
)

// Prediction is an automatic prediction in the history of a model.
type Prediction struct {
	Run     string    `json:"run"`
	At      time.Time `json:"at"`
	Version int       `json:"version"`
	// File is the only file that was predicted, or the first of Files.
	File  string `json:"file"`
	Files int    `json:"files"`
	Rows  int    `json:"rows"`
	// Counts is how often each class was the answer, of the most frequent ones. Mean is the mean answer of a model of numbers.
	Counts map[string]int `json:"counts,omitempty"`
	Mean   *float64       `json:"mean,omitempty"`
	// Confidence is the mean probability of the answers, Unlike the number of rows that are marked as unlike the training rows, nil where it was not looked.
	Confidence *float64 `json:"confidence,omitempty"`
	Unlike     *int     `json:"unlike,omitempty"`
	// Score is the metric of the model on the rows that had a label, nil for none.
	Score *Score `json:"score,omitempty"`
	// Later is how good the answers were to rows whose labels came after the prediction, nil for none.
	Later *Later `json:"later,omitempty"`
}

// Remember adds a prediction to the history of a model, in the place of an earlier one of the same run, and keeps its answers for labels that come
// later. The oldest ones beyond the limits are dropped. A history that cannot be read is replaced.
func (r *Registry) Remember(of Dataset, name string, p Prediction, answers Answers) error {
	if !nameForm.MatchString(name) {
		return fmt.Errorf("no model is called %q", text.Excerpt(name, maxName))
	}
	p.File = text.Excerpt(p.File, maxText)
	r.historyLock.Lock()
	defer r.historyLock.Unlock()
	all, err := r.History(of, name)
	if err != nil && !errors.Is(err, ErrUnreadable) {
		return err
	}
	all = slices.DeleteFunc(all, func(other Prediction) bool {
		if other.Run == p.Run {
			p.Later = other.Later // labels came before the run was delivered again
		}
		return other.Run == p.Run
	})
	all = append(all, p)
	slices.SortStableFunc(all, func(a, b Prediction) int { return a.At.Compare(b.At) })
	all = all[max(0, len(all)-maxPredictions):]
	if err := r.writeHistory(of, name, all); err != nil {
		return err
	}
	answers.Run = p.Run
	return r.keepAnswers(of, name, answers, all)
}

// writeHistory replaces the history of a model. The oldest half is dropped as often as the file is too large. The caller holds historyLock.
func (r *Registry) writeHistory(of Dataset, name string, all []Prediction) error {
	doc, err := encode(all, maxHistoryFile)
	for err != nil && len(all) > 1 {
		all = all[len(all)/2:]
		doc, err = encode(all, maxHistoryFile)
	}
	if err == nil {
		err = r.change(of.Folder(), name, func(root *os.Root) error { return disk.WriteFile(root, historyFile, doc) })
	}
	if err != nil {
		return fmt.Errorf("write the history of the model %s: %w", name, withoutPath(err))
	}
	return nil
}

// History returns the automatic predictions of a model, oldest first. The error wraps ErrUnreadable if the history cannot be read. Other programs
// can write to the registry, so what is too large is left out.
func (r *Registry) History(of Dataset, name string) ([]Prediction, error) {
	if !nameForm.MatchString(name) {
		return nil, nil
	}
	for _, folder := range of.folders() {
		doc, err := r.readFile(r.named(folder, name), historyFile, maxHistoryFile)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var all []Prediction
		if err == nil {
			err = json.Unmarshal(doc, &all)
		}
		if err != nil {
			r.problems.add(r.named(folder, name).In(historyFile).Path(), err)
			return nil, unreadable("the history of the model "+name, "", err)
		}
		all = slices.DeleteFunc(all, func(p Prediction) bool {
			return !idForm.MatchString(p.Run) || p.Rows < 0 || p.Files < 0 || len(p.Counts) > maxHistoryClasses
		})
		return all[max(0, len(all)-maxPredictions):], nil
	}
	return nil, nil
}

// ByCount are the names of counts, the most frequent first.
func ByCount(counts map[string]int) []string {
	return slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b)) })
}

// MostFrequent are the classes that a history counts, of those of one prediction.
func MostFrequent(counts map[string]int) map[string]int {
	names := ByCount(counts)
	names = names[:min(len(names), maxHistoryClasses)]
	out := make(map[string]int, len(names))
	for _, name := range names {
		out[text.Excerpt(name, maxName)] += counts[name]
	}
	return out
}
