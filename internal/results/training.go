package results

import (
	"strings"

	"github.com/ncsa/clowder-ray/internal/results/graph"
)

// Metrics is metrics.json: the scores of the best model on each split. The test rows were never seen in training.
type Metrics struct {
	Task       string     `json:"task"`
	Metric     string     `json:"metric"`
	BestEpoch  float64    `json:"best_epoch"`
	BestStep   int        `json:"best_step"`
	Train      Scores     `json:"train"`
	Validation Scores     `json:"validation"`
	Test       Scores     `json:"test"`
	Baselines  []Baseline `json:"baselines"`
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

// Baseline is a simple model on the same test rows. Title names it in a sentence: most frequent class, bag of words.
type Baseline struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	Test  Scores `json:"test"`
}

// The names of the baselines.
const (
	BaselineConstant = "constant"
	BaselineLinear   = "linear"
	BaselineBase     = "base"  // a language model before its training
	BaselineNGram    = "ngram" // a table of n-grams
)

// Baseline returns the simple model of that name, nil where there is none.
func (r *Result) Baseline(name string) *Baseline {
	for i := range r.Metrics.Baselines {
		if r.Metrics.Baselines[i].Name == name {
			return &r.Metrics.Baselines[i]
		}
	}
	return nil
}

// The kinds of data that a model reads.
const (
	ModelText  = "text"
	ModelImage = "image"
	ModelTable = "table"
	// ModelLanguage continues texts.
	ModelLanguage = "language"
	// ModelTokens reads the words of a text and gives each a tag.
	ModelTokens = "tokens"
	// ModelGraph reads the nodes of a graph and their neighbours.
	ModelGraph = "graph"
)

// Model says what was trained.
type Model struct {
	Kind string `json:"kind"`
	// Base is <org>/<name> of the installed model, or the name of a shape that began with random weights.
	Base string `json:"base"`
	// BaseCommit is the commit of the repository that an installed base model comes from; empty where it is not known.
	BaseCommit  string `json:"base_commit,omitempty"`
	FromScratch bool   `json:"from_scratch"`
	// License is that of the base model, empty where its card names none.
	License    string `json:"license,omitempty"`
	Parameters int64  `json:"parameters"`
	// Labels is empty for regression.
	Labels []string `json:"labels"`
	// MaxLength is in tokens (text), ImageSize in pixels (images), Columns are what a table model reads.
	MaxLength int      `json:"max_length,omitempty"`
	ImageSize int      `json:"image_size,omitempty"`
	Columns   []string `json:"columns,omitempty"`
	// Graph is the network of a graph, nil for other models.
	Graph         *graph.Network `json:"graph,omitempty"`
	WeightsSHA256 string         `json:"weights_sha256,omitempty"`
	// AveragedWith names the estimator that answers together with a text model, else empty.
	AveragedWith string `json:"averaged_with,omitempty"`
	// Pooling is mean for an encoder under a linear head on its mean vectors, else empty.
	Pooling string `json:"pooling,omitempty"`
}

// IsRegression reports whether the run predicts numbers.
func (r *Result) IsRegression() bool { return IsRegression(r.Task) }

// The tasks of graphs.
const (
	TaskLinks       = "link-prediction"
	taskNodeClasses = "node-classification"
	taskNodeNumbers = "node-regression"
)

// PredictsLinks reports whether the run predicts edges of a graph.
func (r *Result) PredictsLinks() bool { return r.Task == TaskLinks }

// Unit is what the splits of a training consist of: row, edge or node.
func (r *Result) Unit() string {
	switch r.Task {
	case TaskLinks:
		return "edge"
	case taskNodeClasses, taskNodeNumbers:
		return "node"
	default:
		return "row"
	}
}

// IsRegression reports whether a task predicts numbers.
func IsRegression(task string) bool { return strings.HasSuffix(task, "-regression") }

// Data says what it was trained on.
type Data struct {
	Rows         Rows     `json:"rows"`
	Files        []string `json:"files"`
	InputColumns []string `json:"input_columns"`
	// LabelColumn is empty where folders are the labels.
	LabelColumn string `json:"label_column"`
	// Labels is the number of training rows of each label (classification), Target the spread of the target (regression).
	Labels      map[string]int `json:"labels,omitempty"`
	Target      *TargetSpread  `json:"target,omitempty"`
	SplitSHA256 string         `json:"split_sha256,omitempty"`
	// TruncatedShare is the share of texts that were longer than the model reads.
	TruncatedShare float64    `json:"truncated_share,omitempty"`
	Dropped        []Dropped  `json:"dropped,omitempty"`
	Lengths        *Histogram `json:"lengths,omitempty"`
	Samples        []Example  `json:"samples,omitempty"`
}

// Rows is the number of rows of each split.
type Rows struct {
	Train      int `json:"train"`
	Validation int `json:"validation"`
	Test       int `json:"test"`
}

// TargetSpread is the spread of a regression's target over the training rows.
type TargetSpread struct {
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
	Mean   float64 `json:"mean"`
	Median float64 `json:"median"`
}

// Dropped is how many rows were left out and why.
type Dropped struct {
	Reason string `json:"reason"`
	Rows   int    `json:"rows"`
}

// Training says how it was trained.
type Training struct {
	Seed             int64   `json:"seed"`
	Device           string  `json:"device"`
	Workers          int     `json:"workers"`
	Threads          int     `json:"threads,omitempty"`
	Seconds          float64 `json:"seconds"`
	SamplesPerSecond float64 `json:"samples_per_second"`
	PeakMemoryBytes  int64   `json:"peak_memory_bytes,omitempty"`
	// Epochs and Steps are what was run.
	Epochs       float64 `json:"epochs"`
	Steps        int     `json:"steps,omitempty"`
	LearningRate float64 `json:"learning_rate,omitempty"`
	BatchSize    int     `json:"batch_size,omitempty"`
	Accumulation int     `json:"accumulation,omitempty"`
	Precision    string  `json:"precision,omitempty"`
	// Resumed is how often the training went on from a checkpoint.
	Resumed int `json:"resumed,omitempty"`
	// GradientBytes are exchanged between the workers at each step.
	GradientBytes int64    `json:"gradient_bytes,omitempty"`
	Stopped       string   `json:"stopped"`
	PerWorker     []Worker `json:"per_worker,omitempty"`
}

// The reasons for which a training ends.
const (
	StoppedEarly    = "early stopping"
	StoppedByTime   = "time limit"
	stoppedByHand   = "stopped by a person"
	StoppedDiverged = "diverged"
)

// StoppedByHand reports whether a person ended the training early.
func (t Training) StoppedByHand() bool { return t.Stopped == stoppedByHand }

// Worker is what one worker of a training used.
type Worker struct {
	Rank             int     `json:"rank"`
	Node             string  `json:"node,omitempty"`
	SamplesPerSecond float64 `json:"samples_per_second"`
	CPUSeconds       float64 `json:"cpu_seconds"`
	Seconds          float64 `json:"seconds"`
	PeakMemoryBytes  int64   `json:"peak_memory_bytes"`
	// FileMemoryBytes are mapped files, such as libraries and the graph, of which the workers of a machine share one copy.
	FileMemoryBytes    int64 `json:"file_memory_bytes,omitempty"`
	GPUPeakMemoryBytes int64 `json:"gpu_peak_memory_bytes,omitempty"`
	// WaitingShare is the share of the step time that was spent waiting for other workers.
	WaitingShare *float64 `json:"waiting_share,omitempty"`
}

// Calibration compares how sure the model is with how often it is right. ECE is the mean gap, 0..1.
type Calibration struct {
	ECE  float64          `json:"ece"`
	Bins []CalibrationBin `json:"bins"`
}

// CalibrationBin is the test rows whose confidence lies between Low and High.
type CalibrationBin struct {
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	N          int     `json:"n"`
	Confidence float64 `json:"confidence"`
	Accuracy   float64 `json:"accuracy"`
}

// Binary is what only two classes have. ROC holds [false positive rate, true positive rate], PR [recall, precision].
type Binary struct {
	Positive   string      `json:"positive"`
	ROC        [][]float64 `json:"roc"`
	PR         [][]float64 `json:"pr"`
	Thresholds []Threshold `json:"thresholds"`
}

// Threshold is what the model scores if it says Positive from a probability of Threshold on.
type Threshold struct {
	Threshold float64 `json:"threshold"`
	Precision float64 `json:"precision"`
	Recall    float64 `json:"recall"`
	F1        float64 `json:"f1"`
}

// Regression is what only regression has. Points hold [true, predicted]; Residuals are true minus predicted.
type Regression struct {
	Points    [][]float64 `json:"points"`
	Residuals Histogram   `json:"residuals"`
}

// Champion is the best earlier version of the model, measured on the test rows of this run. Where it could not be, Why says
// so.
type Champion struct {
	Run        string `json:"run"`
	Name       string `json:"name"`
	Version    int    `json:"version"`
	Comparable bool   `json:"comparable"`
	Why        string `json:"why,omitempty"`
	Test       Scores `json:"test,omitempty"`
}

// Splits yields the scores by the name of the split, in the order train, validation, test.
func (r *Result) Splits() func(yield func(string, Scores) bool) {
	return func(yield func(string, Scores) bool) {
		_ = yield(SplitTrain, r.Metrics.Train) && yield(SplitValidation, r.Metrics.Validation) && yield(SplitTest, r.Metrics.Test)
	}
}

// Bounds is the interval of the score, or its value twice.
func (s Score) Bounds() (low, high float64) {
	low, high = s.Value, s.Value
	if s.Low != nil {
		low = *s.Low
	}
	if s.High != nil {
		high = *s.High
	}
	return low, high
}
