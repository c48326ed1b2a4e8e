package results

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// MaxNotes bounds the warnings and the decisions that a Progress keeps.
const MaxNotes = 100

// Progress is how far a training is, folded from its events in their order. Its zero value knows nothing yet. Folding an
// event twice changes nothing, so a log may be read again from its beginning.
type Progress struct {
	Attempt int
	// Phase is the trainer's present phase (start, prepare, train, test, predict, export) and Text its sentence about it.
	Phase string
	Text  string

	Epoch, Epochs int
	Step, Steps   int
	// Fraction of the whole training, 0..1.
	Fraction float64
	// Loss is the newest training loss, nil before the first.
	Loss *float64
	// ETA is how long the training will still take, 0 where that is not known.
	ETA              time.Duration
	SamplesPerSecond float64

	// Metrics say what the metrics of the evaluations are; empty before the trainer says it.
	Metrics MetricList
	// Validation is the newest evaluation on the validation rows, nil before the first.
	Validation *Evaluation
	// Best is the best one so far, nil before the first.
	Best *Best

	// Trial is the newest one of a search, nil where nothing is searched.
	Trial *TrialProgress

	// Script is how far a script of a user is, nil before it starts and for other kinds of runs.
	Script *ScriptProgress

	Device  string
	Workers int

	// Resumes is how often the training went on from a checkpoint, Resumed the trainer's sentence about the last time.
	Resumes  int
	Resumed  string
	resumeAt time.Time // of the last one: an event that is folded again is not newer

	Warnings  []Warning
	Decisions []Decision
	// Done is set once the trainer said that it is.
	Done bool
}

// Evaluation is the metrics of one evaluation.
type Evaluation struct {
	// Epoch is a fraction inside an epoch.
	Epoch   float64
	Step    int
	Metrics map[string]float64
}

// Best is the best model so far and the metric by which it is.
type Best struct {
	// Epoch is a fraction inside an epoch.
	Epoch  float64
	Step   int
	Metric string
	Value  float64
}

// TrialProgress is the trial that a search is at, one of Trials.
type TrialProgress struct {
	Number, Trials int
	// Settings are those of the best trial so far in words, and Value is its metric on the validation rows; nil before the first.
	Settings string
	Value    *float64
}

// phasePrepare is the phase in which the data is read. A model may read texts in it, which has a progress of its own.
const phasePrepare = "prepare"

// PhaseScript is the phase while a script of a user runs. The trainer has no such phase: it writes that the script has started.
const PhaseScript = "script"

// ScriptProgress is what the output of a script tells.
type ScriptProgress struct {
	// Start counts the starts of the script in its run, ResumedFrom is the checkpoint that the newest one found; empty for none.
	Start       int
	ResumedFrom string
	// Name is the newest number of the kind that tells most, and Value its value; empty before the first.
	Name  string
	Value float64
}

// note remembers a number if it tells at least as much as the one before: about other data than those of the training, or a score, or else
// a loss.
func (s *ScriptProgress) note(name string, value float64) {
	if s.Name == "" || telling(name) >= telling(s.Name) {
		s.Name, s.Value = name, value
	}
}

// telling ranks the names of numbers by how much they tell about the quality of a model.
func telling(name string) int {
	name = strings.ToLower(name)
	for rank, words := range [][]string{{"val", "eval", "test"}, {"acc", "f1", "auc", "score"}, {"loss", "ppl", "perplexity"}} {
		if slices.ContainsFunc(words, func(word string) bool { return strings.Contains(name, word) }) {
			return 3 - rank
		}
	}
	return 0
}

// Warning is something that a user should know about a training that goes on nevertheless.
type Warning struct {
	Code string `json:"code"`
	Text string `json:"text"`
}

// Decision is a choice that the trainer made by itself, with a sentence of reason.
type Decision struct {
	What   string
	Choice string
	Why    string
}

// Fold takes one more event into account. The events of an earlier attempt than the newest are ignored, and a new attempt
// begins from nothing.
func (p *Progress) Fold(e Event) {
	if e.Attempt < p.Attempt {
		return
	}
	if e.Attempt > p.Attempt {
		*p = Progress{Attempt: e.Attempt}
	}
	switch e.Kind {
	case KindPhase:
		if p.Phase == phasePrepare { // what was read before the training is no progress of the training
			p.Step, p.Steps, p.Fraction, p.ETA = 0, 0, 0, 0
		}
		p.Phase, p.Text = e.Phase, e.Text
	case KindProgress:
		p.Epoch, p.Epochs, p.Step, p.Steps = int(e.Epoch), e.Epochs, e.Step, e.Steps
		p.Fraction, p.ETA = e.Fraction, e.ETA()
		if e.Loss != nil {
			p.Loss = e.Loss
		}
		if e.SamplesPerSecond > 0 {
			p.SamplesPerSecond = e.SamplesPerSecond
		}
	case KindEval:
		if e.Split == SplitValidation {
			p.Validation = &Evaluation{Epoch: e.Epoch, Step: e.Step, Metrics: maps.Clone(e.Metrics)}
		}
	case KindMetrics:
		p.Metrics = e.Described
	case KindBest:
		p.Best = &Best{Epoch: e.Epoch, Step: e.Step, Metric: e.Metric, Value: e.Value}
	case KindTrial:
		p.Fraction, p.ETA = e.Fraction, e.ETA()
		p.Trial = &TrialProgress{Number: e.Trial, Trials: e.Trials, Settings: e.BestSettings, Value: e.BestValue}
	case KindStarted:
		p.Phase, p.Text, p.Script = PhaseScript, "", &ScriptProgress{Start: e.Start, ResumedFrom: e.ResumedFrom}
	case KindScalar:
		if p.Script != nil {
			p.Script.note(e.Name, e.Value)
		}
	case KindResume:
		if e.Time.After(p.resumeAt) {
			p.Resumes, p.Resumed, p.resumeAt = p.Resumes+1, e.Text, e.Time
		}
	case KindWarning:
		w := Warning{Code: e.Code, Text: e.Text}
		if len(p.Warnings) < MaxNotes && !slices.Contains(p.Warnings, w) {
			p.Warnings = append(p.Warnings, w)
		}
	case KindDecision:
		d := Decision{What: e.What, Choice: e.ChoiceText(), Why: e.Why}
		if len(p.Decisions) < MaxNotes && !slices.Contains(p.Decisions, d) {
			p.Decisions = append(p.Decisions, d)
		}
	case KindResource:
		p.Device, p.Workers = e.Device, e.Workers
	case KindDone:
		p.Done = true
	default: // checkpoints, errors (error.json has more about them) and what a newer trainer may add
	}
}

// Metric returns the newest validation value of the metric by which the best model is chosen, and that metric's name. ok is
// false before the first evaluation.
func (p *Progress) Metric() (name string, value float64, ok bool) {
	if p.Validation == nil {
		return "", 0, false
	}
	described := p.Metrics
	if len(described) == 0 {
		described = earlierMetrics
	}
	if p.Best != nil {
		described = append(MetricList{{Name: p.Best.Metric}}, described...)
	}
	for _, m := range described {
		name := m.Name
		if v, ok := p.Validation.Metrics[name]; ok {
			return name, v, true
		}
	}
	return "", 0, false
}
