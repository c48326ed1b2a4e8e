package results

import (
	"errors"
	"slices"
)

// Candidate is a model that a training run compared with others on the same validation rows. The one with the smallest loss is
// delivered.
type Candidate struct {
	// Name is what the option model calls it, Title names it in a table.
	Name  string        `json:"name"`
	Title string        `json:"title"`
	Sort  CandidateSort `json:"sort"`
	Base  string        `json:"base,omitempty"`
	// Parameters, Seconds and CPUSeconds are 0 for a candidate that was not trained.
	Parameters int64   `json:"parameters,omitempty"`
	Seconds    float64 `json:"seconds,omitempty"`
	CPUSeconds float64 `json:"cpu_seconds,omitempty"`
	// Validation maps the name of a metric to its value. It is empty for a candidate that was not trained.
	Validation map[string]float64 `json:"validation,omitempty"`
	Test       Scores             `json:"test,omitempty"`
	Chosen     bool               `json:"chosen"`
	// Why says why it was chosen, not chosen or not trained.
	Why string `json:"why"`
}

// CandidateSort says how a candidate is trained.
type CandidateSort string

// An estimator is fitted in the driver. A network is trained by workers. A heuristic is a formula of the neighbours of two nodes.
const (
	SortEstimator CandidateSort = "estimator"
	SortNetwork   CandidateSort = "network"
	SortHeuristic CandidateSort = "heuristic"
)

// Trained reports whether the candidate was trained, so that it has scores.
func (c Candidate) Trained() bool { return len(c.Validation) > 0 }

// Delivered returns the candidate that is delivered, nil where the result does not name candidates.
func (r *Result) Delivered() *Candidate {
	if i := slices.IndexFunc(r.Candidates, func(c Candidate) bool { return c.Chosen }); i >= 0 {
		return &r.Candidates[i]
	}
	return nil
}

// fusion is the name of the candidate that puts the score of the network and those of the heuristics together.
const fusion = "fusion"

// IsEstimator reports whether the delivered model was fitted in the driver alone. Such a model has no epochs and no learning rate.
func (r *Result) IsEstimator() bool {
	c := r.Delivered()
	return c != nil && c.Sort != SortNetwork && c.Name != fusion
}

// HasCurves reports whether the result tells how a network learnt: the delivered one, or of a graph the one beside the simple models.
func (r *Result) HasCurves() bool {
	network := func(c Candidate) bool { return c.Sort == SortNetwork && c.Trained() }
	return !r.IsEstimator() || r.Graph != nil && slices.ContainsFunc(r.Candidates, network)
}

// checkCandidates refuses candidates that contradict each other.
func (r *Result) checkCandidates() error {
	chosen := 0
	for _, c := range r.Candidates {
		if err := c.Test.check("candidate's test"); err != nil {
			return err
		}
		if c.Chosen {
			chosen++
		}
		if c.Chosen && !c.Trained() {
			return errors.New("the delivered candidate has no validation scores")
		}
		for _, value := range c.Validation {
			if err := notFinite(value); err != nil {
				return err
			}
		}
	}
	if chosen != 1 && len(r.Candidates) > 0 {
		return errors.New("not exactly one of the candidates is delivered")
	}
	return nil
}
