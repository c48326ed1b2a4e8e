package results

import (
	"errors"
	"slices"
)

// Search is the search that chose the settings of a training. Its trials were compared by their loss on the validation rows.
type Search struct {
	// Trials are in the order of their numbers. The first has the default settings.
	Trials []Trial `json:"trials"`
	Metric string  `json:"metric"`
	// Chosen is the number of the trial whose model is delivered, Best that of the best other trial, nil where no other gave a model.
	Chosen int    `json:"chosen"`
	Best   *int   `json:"best,omitempty"`
	Why    string `json:"why"`
	// DefaultModel is the delivered model where it is none of the trials: one that needs no search.
	DefaultModel string `json:"default_model,omitempty"`
	// Seconds is how long the search took, Trainings the counted work of all trials in trainings with the default settings.
	Seconds   float64 `json:"seconds,omitempty"`
	Trainings float64 `json:"trainings,omitempty"`
	// Ended says why the search ended early, empty where it did not.
	Ended string `json:"ended,omitempty"`
	// Comparison and TestComparison compare the default with the best other trial, on the validation and on the test rows.
	Comparison     *Comparison `json:"comparison,omitempty"`
	TestComparison *Comparison `json:"test_comparison,omitempty"`
	DefaultTest    Scores      `json:"default_test,omitempty"`
	BestTest       Scores      `json:"best_test,omitempty"`
	// Curves are the losses of the default and of the best other trial.
	Curves []TrialCurve `json:"curves,omitempty"`
	// Repeat are the options that repeat the search.
	Repeat map[string]any `json:"repeat"`
}

// Trial is a training with its own settings. Settings are the options in which it differs from the default.
type Trial struct {
	Number   int            `json:"number"`
	Settings map[string]any `json:"settings"`
	// Model is the base model where it is another one than the default's.
	Model string `json:"model,omitempty"`
	State string `json:"state"`
	// Rungs is how often the trial was measured to be compared.
	Rungs   int     `json:"rungs"`
	Epochs  float64 `json:"epochs"`
	Seconds float64 `json:"seconds"`
	Default bool    `json:"default"`
	// Loss and Value are of its best model on the validation rows, nil where it has none.
	Loss  *float64 `json:"loss,omitempty"`
	Value *float64 `json:"value,omitempty"`
}

// The states of a trial at the end of a search.
const (
	TrialWaiting  = "waiting"
	TrialBegun    = "begun"
	TrialKept     = "kept"
	TrialDropped  = "dropped"
	TrialDiverged = "diverged"
)

// TrialCurve is the losses of a trial. A point is [epoch, training loss, validation loss].
type TrialCurve struct {
	Number int         `json:"number"`
	Points [][]float64 `json:"points"`
}

// Comparison is of two models on the same rows. Difference is the loss of the first minus that of the second, Error its standard error,
// nil for a single row; Right is how many more rows the second gets right, nil for numbers.
type Comparison struct {
	Difference float64  `json:"difference"`
	Error      *float64 `json:"error,omitempty"`
	Rows       int      `json:"rows"`
	Right      *int     `json:"right,omitempty"`
	Better     bool     `json:"better"`
}

// Trial returns the trial of that number, nil where there is none.
func (s *Search) Trial(number int) *Trial {
	i := slices.IndexFunc(s.Trials, func(t Trial) bool { return t.Number == number })
	if i < 0 {
		return nil
	}
	return &s.Trials[i]
}

// maxSearchTrials is how many trials a search may have: a few more than the option allows.
const maxSearchTrials = 1_000

// checkSize bounds the lists of a search.
func (s *Search) checkSize() error {
	if s == nil {
		return nil
	}
	err := errors.Join(atMost("trials", len(s.Trials), maxSearchTrials), atMost("curves", len(s.Curves), maxShown),
		atMost("options", len(s.Repeat), maxList))
	for _, t := range s.Trials[:min(len(s.Trials), maxSearchTrials)] {
		err = errors.Join(err, atMost("options", len(t.Settings), maxShown))
	}
	for _, c := range s.Curves[:min(len(s.Curves), maxShown)] {
		err = errors.Join(err, atMost("points", len(c.Points), maxList))
	}
	return err
}

// check checks what the report of a search computes with.
func (s *Search) check() error {
	if s == nil {
		return nil
	}
	if len(s.Trials) == 0 || s.Trial(s.Chosen) == nil || (s.Best != nil && s.Trial(*s.Best) == nil) {
		return errors.New("the search chose a trial that it does not have")
	}
	for i, t := range s.Trials {
		if i > 0 && t.Number <= s.Trials[i-1].Number {
			return errors.New("the trials are not in their order")
		}
		for _, v := range []*float64{t.Loss, t.Value} {
			if v != nil && notFinite(*v) != nil {
				return errors.New("a figure of a trial is impossible")
			}
		}
	}
	for _, c := range s.Curves {
		for _, p := range c.Points {
			if len(p) != 3 || notFinite(p...) != nil {
				return errors.New("a point of the losses of a trial is impossible")
			}
		}
	}
	for _, c := range []*Comparison{s.Comparison, s.TestComparison} {
		if c != nil && (notFinite(c.Difference) != nil || (c.Error != nil && notFinite(*c.Error) != nil)) {
			return errors.New("a comparison of trials is impossible")
		}
	}
	return errors.Join(s.DefaultTest.check("default settings' test"), s.BestTest.check("best trial's test"))
}
