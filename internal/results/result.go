package results

import (
	"slices"
	"strings"
)

// Result is result.json: what a training that succeeded says of itself. trainer/schema/result.schema.json is its contract.
type Result struct {
	Schema    int               `json:"schema"`
	Run       string            `json:"run"`
	Attempt   int               `json:"attempt"`
	Task      string            `json:"task"`
	Metric    string            `json:"metric"`
	BestEpoch int               `json:"best_epoch"`
	Metrics   Metrics           `json:"metrics"`
	Model     Model             `json:"model"`
	Data      Data              `json:"data"`
	Training  Training          `json:"training"`
	Confusion [][]int           `json:"confusion,omitempty"`
	Versions  map[string]string `json:"versions,omitempty"`
	Warnings  []Warning         `json:"warnings,omitempty"`
	Outputs   []Output          `json:"artifacts"`
}

// Metrics is metrics.json: the scores of the best model on each split. The test rows were never seen in training.
type Metrics struct {
	Task       string `json:"task"`
	Metric     string `json:"metric"`
	BestEpoch  int    `json:"best_epoch"`
	Train      Scores `json:"train"`
	Validation Scores `json:"validation"`
	Test       Scores `json:"test"`
}

// Scores maps the name of a metric to its score.
type Scores map[string]Score

// Score is one value with its 95 % interval, where there is one, and the number of rows it was taken over.
type Score struct {
	Value float64  `json:"value"`
	Low   *float64 `json:"low,omitempty"`
	High  *float64 `json:"high,omitempty"`
	N     int      `json:"n"`
}

// Model says what was trained.
type Model struct {
	// Base is <org>/<name> of the installed model, or the shape of one that began with random weights.
	Base        string   `json:"base"`
	FromScratch bool     `json:"from_scratch"`
	Parameters  int64    `json:"parameters"`
	Labels      []string `json:"labels"`
	MaxLength   int      `json:"max_length"`
}

// Data says what it was trained on.
type Data struct {
	Rows struct {
		Train      int `json:"train"`
		Validation int `json:"validation"`
		Test       int `json:"test"`
	} `json:"rows"`
	Files       []string       `json:"files"`
	TextColumns []string       `json:"text_columns"`
	LabelColumn string         `json:"label_column"`
	Labels      map[string]int `json:"labels"`
	// TruncatedShare is the share of texts that were longer than the model reads.
	TruncatedShare float64 `json:"truncated_share,omitempty"`
}

// Training says how.
type Training struct {
	Seed             int64   `json:"seed"`
	Device           string  `json:"device"`
	Workers          int     `json:"workers"`
	Threads          int     `json:"threads,omitempty"`
	Seconds          float64 `json:"seconds"`
	SamplesPerSecond float64 `json:"samples_per_second"`
	PeakMemoryBytes  int64   `json:"peak_memory_bytes,omitempty"`
	Epochs           int     `json:"epochs"`
	LearningRate     float64 `json:"learning_rate,omitempty"`
	BatchSize        int     `json:"batch_size,omitempty"`
	Stopped          string  `json:"stopped"`
}

// Output is a file that the trainer made, with its path relative to the run folder.
type Output struct {
	Path   string `json:"path"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// Failure is error.json: why a training ended without a result.
type Failure struct {
	Schema  int    `json:"schema"`
	Run     string `json:"run"`
	Attempt int    `json:"attempt"`
	Code    string `json:"code"`
	// What is wrong, why that is so, and what to do: one sentence each.
	What string `json:"what"`
	Why  string `json:"why,omitempty"`
	Do   string `json:"do"`
	// User says that the same input fails again and a person must change something.
	User bool `json:"user"`
}

// maxSentence bounds what a user reads as one status line, in bytes.
const maxSentence = 600

// Sentence is the failure as one line for the user: what is wrong, why, and what to do.
func (f *Failure) Sentence() string {
	var parts []string
	for _, s := range []string{f.What, f.Why, f.Do} {
		s = strings.TrimRight(oneLine(s), ". ")
		if s != "" && !slices.Contains(parts, s) {
			parts = append(parts, s)
		}
	}
	return shorten(strings.Join(parts, ". "), maxSentence)
}
