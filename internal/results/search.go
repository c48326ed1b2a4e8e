package results

import (
	"errors"
	"slices"
)

// Search is the search that chose the settings of a training. Its trials were compared by their loss on the validation rows.
type Search struct {
	// Trials are in the order of their numbers. The first has the default settings.
	Trials []Trial `json:"trials" minItems:"1" maxItems:"1000"`
	Metric string  `json:"metric" minLength:"1" maxLength:"4096"`
	// Chosen is the number of the trial whose model is delivered, Best that of the best other trial, nil where no other gave a model.
	Chosen int    `json:"chosen" minimum:"0"`
	Best   *int   `json:"best,omitempty" minimum:"1"`
	Why    string `json:"why"`
	// DefaultModel is the delivered model where it is none of the trials: one that needs no search.
	DefaultModel string `json:"default_model,omitempty" maxLength:"4096"`
	// Seconds is how long the search took, Trainings the counted work of all trials in trainings with the default settings.
	Seconds   float64 `json:"seconds,omitempty" minimum:"0" maximum:"1e300"`
	Trainings float64 `json:"trainings,omitempty" minimum:"0" maximum:"1e300"`
	// Ended says why the search ended early, empty where it did not.
	Ended string `json:"ended,omitempty"`
	// Comparison and TestComparison compare the default with the best other trial, on the validation and on the test rows.
	Comparison     *Comparison `json:"comparison,omitempty"`
	TestComparison *Comparison `json:"test_comparison,omitempty"`
	DefaultTest    Scores      `json:"default_test,omitempty" maxProperties:"1000"`
	BestTest       Scores      `json:"best_test,omitempty" maxProperties:"1000"`
	// Curves are the losses of the default and of the best other trial.
	Curves []TrialCurve `json:"curves,omitempty" maxItems:"10"`
	// Repeat are the options that repeat the search.
	Repeat Options `json:"repeat" maxProperties:"100"`
}

// Trial is a training with its own settings. Settings are the options in which it differs from the default.
type Trial struct {
	Number   int     `json:"number" minimum:"0"`
	Settings Options `json:"settings" maxProperties:"100"`
	// Model is the base model where it is another one than the default's.
	Model string `json:"model,omitempty" maxLength:"4096"`
	State string `json:"state" enum:"waiting,begun,kept,dropped,diverged"`
	// Rungs is how often the trial was measured to be compared.
	Rungs   int     `json:"rungs" minimum:"0"`
	Epochs  float64 `json:"epochs" required:"false" minimum:"0" maximum:"1e300"`
	Seconds float64 `json:"seconds" required:"false" minimum:"0" maximum:"1e300"`
	Default bool    `json:"default"`
	// Loss and Value are of its best model on the validation rows, nil where it has none.
	Loss  *float64 `json:"loss,omitempty" minimum:"-1e300" maximum:"1e300"`
	Value *float64 `json:"value,omitempty" minimum:"-1e300" maximum:"1e300"`
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
	Number int    `json:"number" minimum:"0"`
	Points Losses `json:"points" maxItems:"1000"`
}

// Comparison is of two models on the same rows. Difference is the loss of the first minus that of the second, Error its standard error,
// nil for a single row; Right is how many more rows the second gets right, nil for numbers.
type Comparison struct {
	Difference float64  `json:"difference" minimum:"-1e300" maximum:"1e300"`
	Error      *float64 `json:"error,omitempty" minimum:"0" maximum:"1e300"`
	Rows       int      `json:"rows" minimum:"0"`
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
	}
	return errors.Join(s.DefaultTest.check("default settings' test"), s.BestTest.check("best trial's test"))
}
