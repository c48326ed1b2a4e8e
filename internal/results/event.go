package results

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ncsa/clowder-ray/internal/results/section"
	"github.com/ncsa/clowder-ray/internal/text"
)

// Kind is the kind of an event.
type Kind string

// The kinds of events that the trainer writes. Others are kept and ignored, so that an older service reads a newer trainer.
const (
	KindPhase      Kind = "phase"
	KindDecision   Kind = "decision"
	KindProgress   Kind = "progress"
	KindEval       Kind = "eval"
	KindBest       Kind = "best"
	KindWarning    Kind = "warning"
	KindCheckpoint Kind = "checkpoint"
	KindResume     Kind = "resume"
	KindResource   Kind = "resource"
	KindError      Kind = "error"
	KindDone       Kind = "done"
	KindTrial      Kind = "trial"
	KindStarted    Kind = "started"
	KindScalar     Kind = "scalar"
	KindSnapshot   Kind = "snapshot"
	KindFinding    Kind = "finding"
	KindMetrics    Kind = "metrics"
)

// The splits of the data that an evaluation may be over.
const (
	SplitTrain      = "train"
	SplitValidation = "validation"
	SplitTest       = "test"
)

// Event is one line of events.jsonl. Which fields are set depends on Kind; trainer/schema/event.schema.json says how.
type Event struct {
	Time    time.Time `json:"time"`
	Attempt int       `json:"attempt"`
	Kind    Kind      `json:"kind"`

	Phase string `json:"phase,omitempty"`
	Text  string `json:"text,omitempty"`
	Code  string `json:"code,omitempty"`

	// What, Choice and Why tell a decision of the trainer; What, Why and Do an error.
	What   string          `json:"what,omitempty"`
	Choice json.RawMessage `json:"choice,omitempty"`
	Why    string          `json:"why,omitempty"`
	Do     string          `json:"do,omitempty"`

	// Epoch is whole in progress; elsewhere it is a fraction inside an epoch.
	Epoch    float64 `json:"epoch,omitempty"`
	Epochs   int     `json:"epochs,omitempty"`
	Step     int     `json:"step,omitempty"`
	Steps    int     `json:"steps,omitempty"`
	Fraction float64 `json:"fraction,omitempty"`
	// Loss, LearningRate and ETASeconds are nil where the trainer does not know them.
	Loss             *float64 `json:"loss,omitempty"`
	LearningRate     *float64 `json:"learning_rate,omitempty"`
	ETASeconds       *float64 `json:"eta_seconds,omitempty"`
	SamplesPerSecond float64  `json:"samples_per_second,omitempty"`

	// Model is one of several models that are fitted at once, without epochs.
	Model   string             `json:"model,omitempty"`
	Split   string             `json:"split,omitempty"`
	Metrics map[string]float64 `json:"metrics,omitempty"`
	Metric  string             `json:"metric,omitempty"`
	Value   float64            `json:"value,omitempty"`
	// Described says what the metrics of the evaluations are.
	Described MetricList `json:"metric_info,omitempty"`

	// Trial is the number of a trial of Trials, State what became of it, Settings its settings in words; Best… are of the best so far.
	Trial        int      `json:"trial,omitempty"`
	Trials       int      `json:"trials,omitempty"`
	State        string   `json:"state,omitempty"`
	Rung         int      `json:"rung,omitempty"`
	Settings     string   `json:"settings,omitempty"`
	BestTrial    int      `json:"best_trial,omitempty"`
	BestValue    *float64 `json:"best_value,omitempty"`
	BestSettings string   `json:"best_settings,omitempty"`

	// Start is the number of a start of a script, ResumedFrom the checkpoint that it found.
	Start       int    `json:"start,omitempty"`
	ResumedFrom string `json:"resumed_from,omitempty"`
	// Name is that of a number which a script has reported: Value at Step.
	Name string `json:"name,omitempty"`
	// ID, File, Line and Severity tell a finding in the code of a script; Text says what it is.
	ID       string `json:"id,omitempty"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	Severity string `json:"severity,omitempty"`
	// Size is that of a snapshot in bytes.
	Size int64 `json:"size,omitempty"`

	Path            string  `json:"path,omitempty"`
	Device          string  `json:"device,omitempty"`
	Workers         int     `json:"workers,omitempty"`
	Threads         int     `json:"threads,omitempty"`
	PeakMemoryBytes int64   `json:"peak_memory_bytes,omitempty"`
	Seconds         float64 `json:"seconds,omitempty"`
}

// earliestYear tells a time from a zero or a clock that was never set.
const earliestYear = 1970

// maxEpoch is more than anybody trains, and few enough to count in any number.
const maxEpoch = 1_000_000

// errEvent is wrapped by every error of DecodeEvent.
var errEvent = errors.New("not an event")

// DecodeEvent reads one line of events.jsonl. Unknown fields and kinds are accepted; a line without a time, a kind or an
// attempt, or with a number that cannot be, is not an event.
func DecodeEvent(line []byte) (Event, error) {
	var e Event
	if err := json.Unmarshal(line, &e); err != nil {
		return Event{}, fmt.Errorf("%w: %w", errEvent, err)
	}
	switch {
	case e.Time.Year() < earliestYear, e.Kind == "", e.Attempt < 1:
		return Event{}, fmt.Errorf("%w: time, kind or attempt is missing", errEvent)
	case min(e.Epochs, e.Step, e.Steps, e.Workers, e.Trial, e.Trials, e.Rung, e.Start, e.Line) < 0, e.Size < 0, e.Epoch < 0, e.Epoch > maxEpoch, e.Epochs > maxEpoch,
		e.Kind == KindProgress && e.Epoch != math.Trunc(e.Epoch),
		e.Fraction < 0, e.Fraction > 1, e.ETASeconds != nil && *e.ETASeconds < 0:
		return Event{}, fmt.Errorf("%w: a number is out of its range", errEvent)
	case e.Loss != nil && section.CheckNumbers(*e.Loss) != nil, e.LearningRate != nil && section.CheckNumbers(*e.LearningRate) != nil,
		e.BestValue != nil && section.CheckNumbers(*e.BestValue) != nil, section.CheckNumbers(e.Value) != nil,
		section.CheckNumbers(slices.Collect(maps.Values(e.Metrics))...) != nil:
		return Event{}, fmt.Errorf("%w: a number is too large to be drawn", errEvent)
	case e.Kind == KindEval && len(e.Metrics) == 0:
		return Event{}, fmt.Errorf("%w: an evaluation without a metric", errEvent)
	}
	if bytes.Equal(e.Choice, []byte("null")) {
		e.Choice = nil
	}
	e.bound()
	return e, nil
}

const (
	// maxEventText bounds a sentence of an event and maxEventName what is no sentence, in characters.
	maxEventText = 1000
	maxEventName = 200
	// maxEventMetrics bounds the metrics of one evaluation.
	maxEventMetrics = 64
)

// bound cuts what is longer than anybody reads, so that the events that are kept take little memory, whatever wrote them.
func (e *Event) bound() {
	for _, words := range []*string{&e.Text, &e.What, &e.Why, &e.Do, &e.Settings, &e.BestSettings} {
		*words = strings.Clone(text.Shorten(*words, maxEventText))
	}
	for _, name := range []*string{
		(*string)(&e.Kind), &e.Phase, &e.Code, &e.Split, &e.Metric, &e.Path, &e.Device, &e.State,
		&e.Name, &e.ID, &e.File, &e.Severity, &e.ResumedFrom,
	} {
		*name = text.Shorten(*name, maxEventName)
	}
	if len(e.Choice) > maxEventText {
		e.Choice, _ = json.Marshal(text.Shorten(e.ChoiceText(), maxEventText)) // a text can always be encoded
	}
	e.Described = e.Described[:min(len(e.Described), maxMetrics)]
	for i := range e.Described {
		for _, words := range []*string{&e.Described[i].Name, &e.Described[i].Title, &e.Described[i].Unit, (*string)(&e.Described[i].Direction)} {
			*words = strings.Clone(text.Shorten(*words, maxEventName))
		}
	}
	names := slices.Sorted(maps.Keys(e.Metrics))
	for i, name := range names {
		if i >= maxEventMetrics || len(name) > maxEventName {
			delete(e.Metrics, name)
		}
	}
}

// Evaluated is when an evaluation was made, in epochs: inside of its epoch where the steps tell, else at its end. epochs and steps are those
// of the newest progress, 0 before the first.
func (e Event) Evaluated(epochs, steps int) float64 {
	end := e.Epoch
	if steps == 0 || e.Step == 0 || end != math.Trunc(end) {
		return end
	}
	if x := float64(e.Step) / float64(steps) * float64(epochs); x > end-1 && x < end {
		return x
	}
	return end
}

// ETA is how long the training will still take, 0 where that is not known.
func (e Event) ETA() time.Duration {
	if e.ETASeconds == nil {
		return 0
	}
	return Seconds(*e.ETASeconds)
}

// ChoiceText is what was chosen, for a person: a text as it is, everything else as JSON.
func (e Event) ChoiceText() string {
	var s string
	if json.Unmarshal(e.Choice, &s) == nil {
		return s
	}
	var list []string
	if json.Unmarshal(e.Choice, &list) == nil {
		return text.List(list)
	}
	return string(e.Choice)
}

// Seconds turns a number of seconds into a duration without overflow.
func Seconds(s float64) time.Duration {
	return time.Duration(math.Min(max(0, s), math.MaxInt64/2/float64(time.Second)) * float64(time.Second))
}
