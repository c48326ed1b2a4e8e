package results

import (
	"errors"
	"slices"
)

// Candidate is a model that a training run compared with others on the same validation rows. The one with the smallest loss is
// delivered.
type Candidate struct {
	// Name is what the option model calls it, Title names it in a table.
	Name  string        `json:"name" minLength:"1" maxLength:"4096"`
	Title string        `json:"title" minLength:"1" maxLength:"4096"`
	Sort  CandidateSort `json:"sort" enum:"estimator,network,heuristic,combination"`
	Base  string        `json:"base,omitempty" maxLength:"4096"`
	// Parameters, Seconds and CPUSeconds are 0 for a candidate that was not trained.
	Parameters int64   `json:"parameters,omitempty" minimum:"0"`
	Seconds    float64 `json:"seconds,omitempty" minimum:"0" maximum:"1e300"`
	CPUSeconds float64 `json:"cpu_seconds,omitempty" minimum:"0" maximum:"1e300"`
	// Validation maps the name of a metric to its value. It is empty for a candidate that was not trained.
	Validation Figures `json:"validation,omitempty" maxProperties:"1000"`
	Test       Scores  `json:"test,omitempty" maxProperties:"1000"`
	Chosen     bool    `json:"chosen"`
	// Why says why it was chosen, not chosen or not trained.
	Why string `json:"why" maxLength:"4096"`
}

// CandidateSort says how a candidate is trained.
type CandidateSort string

// An estimator is fitted in the driver. A network is trained by workers. A heuristic is a formula that learns nothing, and a combination
// answers with a network and something else together.
const (
	SortEstimator CandidateSort = "estimator"
	SortNetwork   CandidateSort = "network"
	SortHeuristic CandidateSort = "heuristic"
	// SortCombination needs the network, too.
	SortCombination CandidateSort = "combination"
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

// IsEstimator reports whether the delivered model was fitted in the driver alone. Such a model has no epochs and no learning rate.
func (r *Result) IsEstimator() bool {
	c := r.Delivered()
	return c != nil && c.Sort != SortNetwork && c.Sort != SortCombination
}

// HasCurves reports whether the result tells how a network learnt: the delivered one, or one that the delivered model was compared with.
func (r *Result) HasCurves() bool { return !r.IsEstimator() || r.Training.NetworkApart }

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
	}
	if chosen != 1 && len(r.Candidates) > 0 {
		return errors.New("not exactly one of the candidates is delivered")
	}
	return nil
}
