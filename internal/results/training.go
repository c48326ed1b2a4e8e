package results

import (
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/text"
)

// Metrics is metrics.json: the scores of the best model on each split. The test rows were never seen in training.
type Metrics struct {
	Task       string     `json:"task"`
	Metric     string     `json:"metric"`
	BestEpoch  float64    `json:"best_epoch"`
	BestStep   int        `json:"best_step" minimum:"0"`
	Train      Scores     `json:"train" maxProperties:"1000"`
	Validation Scores     `json:"validation" maxProperties:"1000"`
	Test       Scores     `json:"test" maxProperties:"1000"`
	Baselines  []Baseline `json:"baselines" maxItems:"100"`
}

// Scores maps the name of a metric to its score.
type Scores map[string]Score

// Score is one value with its 95 % interval, where there is one, and the number of rows it was taken over.
type Score struct {
	Value float64  `json:"value" minimum:"-1e300" maximum:"1e300"`
	Low   *float64 `json:"low,omitempty" minimum:"-1e300" maximum:"1e300"`
	High  *float64 `json:"high,omitempty" minimum:"-1e300" maximum:"1e300"`
	N     int      `json:"n" minimum:"0"`
}

// Baseline is a simple model on the same test rows. Title names it in a sentence: most frequent class, bag of words.
type Baseline struct {
	Name  string `json:"name" pattern:"^[a-z][a-z_-]{0,39}$"`
	Title string `json:"title"`
	Role  Role   `json:"role" enum:"constant,chance,simple,before,floor"`
	Test  Scores `json:"test" maxProperties:"1000"`
}

// Role says what a baseline tells about a model.
type Role string

// The roles of baselines.
const (
	// RoleConstant gives every example the same answer, and RoleChance answers at random. A model that is no better has learnt nothing.
	RoleConstant Role = "constant"
	RoleChance   Role = "chance"
	// RoleSimple is a simple model: nobody needs a larger one that is no better.
	RoleSimple Role = "simple"
	// RoleBefore is the same model before the training.
	RoleBefore Role = "before"
	// RoleFloor is so simple that a model which is worse is a bad one.
	RoleFloor Role = "floor"
)

// Baseline returns the first simple model of that role, nil where there is none.
func (r *Result) Baseline(role Role) *Baseline {
	for i := range r.Metrics.Baselines {
		if r.Metrics.Baselines[i].Role == role {
			return &r.Metrics.Baselines[i]
		}
	}
	return nil
}

// Model says what was trained.
type Model struct {
	// Kind is that of the data: the name of a folder in trainer/kinds.
	Kind string `json:"kind" pattern:"^[a-z][a-z_]{0,39}$"`
	// Base is <org>/<name> of the installed model, or the name of a shape that began with random weights.
	Base string `json:"base" minLength:"1" maxLength:"4096"`
	// BaseCommit is the commit of the repository that an installed base model comes from; empty where it is not known.
	BaseCommit  string `json:"base_commit,omitempty" pattern:"^[0-9a-f]{7,64}$"`
	FromScratch bool   `json:"from_scratch"`
	// GainsByBase says that an installed base model would spare this one from learning all that it knows from this data.
	GainsByBase bool `json:"gains_by_base,omitempty"`
	// License is that of the base model, empty where its card names none.
	License string `json:"license,omitempty" maxLength:"4096"`
	// Parameters is 0 for a formula that learns nothing.
	Parameters int64 `json:"parameters" minimum:"0"`
	// Labels is empty for regression.
	Labels []string `json:"labels" maxItems:"10000"`
	// MaxLength is in tokens (text), ImageSize in pixels (images).
	MaxLength int `json:"max_length,omitempty" minimum:"0"`
	ImageSize int `json:"image_size,omitempty" minimum:"0"`
	// ImageForm says how the images are stored, where they are not plain colours of 8 bits.
	ImageForm string `json:"image_form,omitempty" minLength:"1" maxLength:"4096"`
	// Columns are what a table model reads.
	Columns       []string `json:"columns,omitempty" maxItems:"10000"`
	WeightsSHA256 string   `json:"weights_sha256,omitempty" pattern:"^[0-9a-f]{64}$"`
	// AveragedWith names the estimator that answers together with a network, else empty.
	AveragedWith string `json:"averaged_with,omitempty" enum:"words"`
}

// maxUnit is how many characters the name of an example has at most.
const maxUnit = 20

// Unit is what the splits of a training consist of: row, edge or node.
func (r *Result) Unit() string { return text.Shorten(Plain(r.UnitName, "row"), maxUnit) }

// PredictsNumbers reports whether the answers of the model are numbers on a scale.
func (r *Result) PredictsNumbers() bool { return r.Data.Target != nil }

// Data says what it was trained on.
type Data struct {
	Rows         Rows     `json:"rows"`
	Files        []string `json:"files" maxItems:"1000000"`
	InputColumns []string `json:"input_columns" maxItems:"10000"`
	// LabelColumn is empty where folders are the labels.
	LabelColumn string `json:"label_column"`
	// LabelWords say where the labels are if no column has them.
	LabelWords string `json:"label_words,omitempty" maxLength:"4096"`
	// Enough is how many training examples are enough for a reliable training, 0 where their number says nothing.
	Enough int `json:"enough,omitempty" minimum:"0"`
	// Counts are how many things the data has, such as nodes.
	Counts Counts `json:"counts,omitempty" maxProperties:"20"`
	// Labels is the number of training rows of each label (classification), Target the spread of the target (regression).
	Labels Counts        `json:"labels,omitempty" maxProperties:"10000"`
	Target *TargetSpread `json:"target,omitempty"`
	// SplitSHA256 is over which example is in which split.
	SplitSHA256 string `json:"split_sha256,omitempty" pattern:"^[0-9a-f]{64}$"`
	// TruncatedShare is the share of texts that were longer than the model reads.
	TruncatedShare float64   `json:"truncated_share,omitempty" minimum:"-1e-6" maximum:"1.000001"`
	Dropped        []Dropped `json:"dropped,omitempty" maxItems:"1000"`
	// NotRead are files of the dataset that were not read.
	NotRead []job.NotRead `json:"not_read,omitempty" maxItems:"1000"`
	Lengths *Histogram    `json:"lengths,omitempty"`
	Samples Samples       `json:"samples,omitempty" maxItems:"100"`
}

// Rows is the number of rows of each split.
type Rows struct {
	_ struct{} `additionalProperties:"true"`

	Train      int `json:"train" minimum:"1" maximum:"1000000000000"`
	Validation int `json:"validation" minimum:"0" maximum:"1000000000000"`
	Test       int `json:"test" minimum:"0" maximum:"1000000000000"`
}

// TargetSpread is the spread of a regression's target over the training rows.
type TargetSpread struct {
	Min    float64 `json:"min" minimum:"-1e300" maximum:"1e300"`
	Max    float64 `json:"max" minimum:"-1e300" maximum:"1e300"`
	Mean   float64 `json:"mean" minimum:"-1e300" maximum:"1e300"`
	Median float64 `json:"median" minimum:"-1e300" maximum:"1e300"`
}

// Dropped is how many rows were left out and why.
type Dropped struct {
	Reason string `json:"reason"`
	Rows   int    `json:"rows" minimum:"0" maximum:"1000000000000"`
}

// Training says how it was trained.
type Training struct {
	Seed             int64   `json:"seed"`
	Device           string  `json:"device" minLength:"1" maxLength:"4096"`
	Workers          int     `json:"workers" minimum:"1"`
	Threads          int     `json:"threads,omitempty" minimum:"0"`
	Seconds          float64 `json:"seconds" minimum:"0" maximum:"1e300"`
	SamplesPerSecond float64 `json:"samples_per_second" minimum:"0" maximum:"1e300"`
	PeakMemoryBytes  int64   `json:"peak_memory_bytes,omitempty" minimum:"0"`
	// Epochs and Steps are what was run.
	Epochs       float64 `json:"epochs" minimum:"0" maximum:"1e300"`
	Steps        int     `json:"steps,omitempty" minimum:"0"`
	LearningRate float64 `json:"learning_rate,omitempty" minimum:"0" maximum:"1e300"`
	BatchSize    int     `json:"batch_size,omitempty" minimum:"0"`
	Accumulation int     `json:"accumulation,omitempty" minimum:"0"`
	Precision    string  `json:"precision,omitempty" enum:"fp32,bf16,fp16"`
	// Resumed is how often the training went on from a checkpoint.
	Resumed int `json:"resumed,omitempty" minimum:"0"`
	// GradientBytes are exchanged between the workers at each step.
	GradientBytes int64  `json:"gradient_bytes,omitempty" minimum:"0"`
	Stopped       string `json:"stopped" enum:"all epochs done,stop_after reached,early stopping,time limit,stopped by a person,diverged"`
	// NetworkApart says that all this is about a network which is not delivered, or not alone.
	NetworkApart bool     `json:"network_apart,omitempty"`
	PerWorker    []Worker `json:"per_worker,omitempty" maxItems:"10000"`
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
	Rank             int     `json:"rank" minimum:"0"`
	Node             string  `json:"node,omitempty"`
	SamplesPerSecond float64 `json:"samples_per_second" minimum:"0" maximum:"1e300"`
	CPUSeconds       float64 `json:"cpu_seconds" minimum:"0" maximum:"1e300"`
	Seconds          float64 `json:"seconds" minimum:"0" maximum:"1e300"`
	PeakMemoryBytes  int64   `json:"peak_memory_bytes" minimum:"0"`
	// FileMemoryBytes are mapped files, such as libraries and the graph, of which the workers of a machine share one copy.
	FileMemoryBytes    int64 `json:"file_memory_bytes,omitempty" minimum:"0"`
	GPUPeakMemoryBytes int64 `json:"gpu_peak_memory_bytes,omitempty" minimum:"0"`
	// WaitingShare is the share of the step time that was spent waiting for other workers.
	WaitingShare *float64 `json:"waiting_share,omitempty" minimum:"-1e-6" maximum:"1.000001"`
}

// Calibration compares how sure the model is with how often it is right. ECE is the mean gap, 0..1.
type Calibration struct {
	ECE  float64          `json:"ece" minimum:"-1e-6" maximum:"1.000001"`
	Bins []CalibrationBin `json:"bins" maxItems:"1000"`
}

// CalibrationBin is the test rows whose confidence lies between Low and High.
type CalibrationBin struct {
	Low        float64 `json:"low" minimum:"-1e-6" maximum:"1.000001"`
	High       float64 `json:"high" minimum:"-1e-6" maximum:"1.000001"`
	N          int     `json:"n" minimum:"0" maximum:"1000000000000"`
	Confidence float64 `json:"confidence" minimum:"-1e-6" maximum:"1.000001"`
	Accuracy   float64 `json:"accuracy" minimum:"-1e-6" maximum:"1.000001"`
}

// Binary is what only two classes have. ROC holds [false positive rate, true positive rate], PR [recall, precision].
type Binary struct {
	Positive   string      `json:"positive"`
	ROC        Curve       `json:"roc" maxItems:"10000"`
	PR         Curve       `json:"pr" maxItems:"10000"`
	Thresholds []Threshold `json:"thresholds" maxItems:"1000"`
}

// Threshold is what the model scores if it says Positive from a probability of Threshold on.
type Threshold struct {
	Threshold float64 `json:"threshold" minimum:"-1e-6" maximum:"1.000001"`
	Precision float64 `json:"precision" minimum:"-1e-6" maximum:"1.000001"`
	Recall    float64 `json:"recall" minimum:"-1e-6" maximum:"1.000001"`
	F1        float64 `json:"f1" minimum:"-1e-6" maximum:"1.000001"`
}

// Regression is what only regression has. Points hold [true, predicted]; Residuals are true minus predicted.
type Regression struct {
	Points    Pairs     `json:"points" maxItems:"10000"`
	Residuals Histogram `json:"residuals"`
}

// Champion is the best earlier version of the model, measured on the test rows of this run. Where it could not be, Why says
// so.
type Champion struct {
	Run        string `json:"run" minLength:"1"`
	Name       string `json:"name" minLength:"1" maxLength:"4096"`
	Version    int    `json:"version" minimum:"1"`
	Comparable bool   `json:"comparable"`
	Why        string `json:"why,omitempty"`
	Test       Scores `json:"test,omitempty" maxProperties:"1000"`
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
