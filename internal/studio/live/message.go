package live

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/ncsa/clowder-ray/internal/results"
)

// The kinds of messages to a viewer.
const (
	// kindSnapshot is a Snapshot, kindEvent an event of the trainer with what it draws, kindState a JobState, kindProgress a Progress, kindLog a Printed,
	// kindEnd an End. Nothing follows the last one.
	kindSnapshot = "snapshot"
	kindEvent    = "event"
	kindState    = "state"
	kindProgress = "said"
	kindLog      = "log"
	kindEnd      = "end"
)

// JobState is how the record of a run stands.
type JobState struct {
	// Standing is that of the record, which the page of the run has, too.
	Standing string `json:"standing" doc:"Another text whenever the page of the run is another one"`
	State    string `json:"state" doc:"State of the job, such as running"`
	Attempt  int    `json:"attempt"`
	// Stopping and Cancelling say that somebody asked for the end.
	Stopping   bool   `json:"stopping,omitempty"`
	Cancelling bool   `json:"cancelling,omitempty"`
	Over       bool   `json:"over" doc:"Nothing follows"`
	Ending     string `json:"ending,omitempty" doc:"How the run ended, in a sentence"`
}

// Progress is how far a run is.
type Progress struct {
	Sentence   string  `json:"sentence,omitempty" doc:"The progress in a sentence"`
	Phase      string  `json:"phase,omitempty" doc:"start, prepare, train, test, predict, export, or script"`
	Fraction   float64 `json:"fraction" doc:"Share of the whole training, 0 to 1"`
	ETASeconds float64 `json:"eta_seconds,omitempty" doc:"How long the training will still take"`
	Epoch      int     `json:"epoch,omitempty"`
	Epochs     int     `json:"epochs,omitempty"`
	// Metric is the name of the metric by which the best model is chosen, Best its best value so far, at BestEpoch.
	Metric    string   `json:"metric,omitempty" doc:"The metric by which the best model is chosen"`
	Best      *float64 `json:"best,omitempty" doc:"Its best value so far"`
	BestEpoch float64  `json:"best_epoch,omitempty"`
	// described are the metrics of the run.
	described results.MetricList
	// Resumes are where the training went on from a checkpoint, in epochs.
	Resumes []float64 `json:"resumes,omitempty" doc:"Where the training went on from a checkpoint, in epochs"`
}

// Printed is a part of what a run printed: whole lines, without control characters.
type Printed struct {
	Text string `json:"text"`
	// From says that the text replaces what the viewer has, because lines before it were left out.
	From bool `json:"from,omitempty" doc:"The text replaces what was sent before"`
}

// Snapshot is all that a viewer needs to begin.
type Snapshot struct {
	// After is the offset in the event log up to which this is.
	After    int64    `json:"after" doc:"Offset in the event log up to which this is"`
	State    JobState `json:"state"`
	Progress Progress `json:"said"`
	Lines    []Curve  `json:"lines"`
	Log      *Printed `json:"log,omitempty" doc:"The end of the log"`
}

// End says why a stream is over.
type End struct {
	Text string `json:"text"`
}

// LoggedEvent is an event of the trainer with its place in the log.
type LoggedEvent struct {
	Offset int64         `json:"offset" doc:"Offset of the byte after its line in events.jsonl"`
	Event  results.Event `json:"event" doc:"As the trainer wrote it"`
}

// newsEvent is Event in a stream: its id is the offset.
type newsEvent struct {
	Event results.Event `json:"event"`
	// Lines begin with this event, Points are the new ones: the name of a line, and a point.
	Lines  []Curve  `json:"lines,omitempty"`
	Points [][2]any `json:"points,omitempty"`
}

// message is one message as it is sent, made once for all viewers. End is the offset that it is the id of, or -1.
type message struct {
	frame []byte
	end   int64
}

// frame writes a message of an event stream. The value holds nothing that cannot be encoded; JSON has no line ends.
func frame(kind string, id int64, value any) message {
	var b bytes.Buffer
	if id >= 0 {
		fmt.Fprintf(&b, "id: %d\n", id)
	}
	doc, err := json.Marshal(value)
	if err != nil {
		doc = []byte("null")
	}
	fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", kind, doc)
	return message{b.Bytes(), id}
}

// eventFrame is the message about an event of the trainer.
func eventFrame(e results.LoggedEvent, points []drawn) message {
	news := newsEvent{Event: e.Event}
	for _, d := range points {
		if d.isNew {
			begun := *d.line
			begun.Points = nil
			news.Lines = append(news.Lines, begun)
		}
		news.Points = append(news.Points, [2]any{d.line.Name, d.point})
	}
	return frame(kindEvent, e.End, news)
}
