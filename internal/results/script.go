package results

import (
	"errors"
	"fmt"

	"github.com/ncsa/clowder-ray/internal/text"
)

// The sandboxes that a script can run in.
const (
	SandboxBubblewrap = "bubblewrap"
	SandboxGVisor     = "gvisor"
	SandboxPod        = "pod"
	// SandboxNone says that the script ran with the rights of the trainer.
	SandboxNone = "none"
)

// Script is what a script of a user did. What it printed or wrote itself (Numbers, Metric, Series, Findings, names of files) is its own
// word, and nothing of it was checked.
type Script struct {
	// Entry is the file that was started, as the user sees it. Launcher is python or torchrun; Command is what the last start executed.
	Entry    string   `json:"entry"`
	Launcher string   `json:"launcher"`
	Command  []string `json:"command"`
	// Processes counts those on each of Nodes.
	Processes int     `json:"processes"`
	Nodes     int     `json:"nodes"`
	Sandbox   Sandbox `json:"sandbox"`
	// Seconds is of all starts together, Exit of the last one.
	Seconds float64    `json:"seconds"`
	Exit    ScriptExit `json:"exit"`
	// Stopped says who ended the script early: the user, or the time limit. It is nil where nobody did.
	Stopped *string       `json:"stopped"`
	Starts  []ScriptStart `json:"starts"`
	// Code are the files of the dataset that count as code, CodeSHA256 is one digest of them.
	Code       []Output  `json:"code"`
	CodeSHA256 string    `json:"code_sha256"`
	Findings   []Finding `json:"findings"`
	// Requirements are the packages that the user's requirements.txt added, as name==version.
	Requirements []string `json:"requirements"`
	// Numbers has the last value of each number that the script gave, Metric the one that a report names first, nil for none.
	Numbers map[string]ScriptNumber `json:"numbers"`
	Metric  *ScriptMetric           `json:"metric"`
	// Series maps a name to pairs of step and value, as the script printed them.
	Series  map[string][][]float64 `json:"series"`
	LeftOut []LeftOut              `json:"left_out"`
	// Lines counts what the script printed, LogCut the bytes of that which log.txt lacks.
	Lines  int64       `json:"lines"`
	LogCut int64       `json:"log_cut"`
	Usage  ScriptUsage `json:"usage"`
}

// Sandbox is what kept a script from everything else. Network says whether it could reach other machines.
type Sandbox struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Network bool   `json:"network"`
}

// ScriptExit is how a start ended: with a code, by a signal, or, where both are nil, nobody knows how.
type ScriptExit struct {
	Code   *int `json:"code"`
	Signal *int `json:"signal"`
	// Exceeded is the limit that ended it: memory, processes, disk, files or time. It is empty for none.
	Exceeded string `json:"exceeded,omitempty"`
}

// ScriptStart is one start of a script. ResumedFrom is the checkpoint that it found, nil where it began from the start.
type ScriptStart struct {
	Attempt     int        `json:"attempt"`
	Start       int        `json:"start"`
	ResumedFrom *string    `json:"resumed_from"`
	Seconds     float64    `json:"seconds"`
	Exit        ScriptExit `json:"exit"`
}

// Finding is a place in the code that the static check points at.
type Finding struct {
	ID         string `json:"id"`
	File       string `json:"file"`
	Line       int    `json:"line"`
	Severity   string `json:"severity"`
	Confidence string `json:"confidence"`
	Text       string `json:"text"`
}

// ScriptNumber is a number of a script. Source is the file that it came from, or "tensorboard" or "log".
type ScriptNumber struct {
	Value  float64 `json:"value"`
	Source string  `json:"source"`
}

// ScriptMetric is a number with its name.
type ScriptMetric struct {
	Name   string  `json:"name"`
	Value  float64 `json:"value"`
	Source string  `json:"source"`
}

// LeftOut is a file that the script left and that is not delivered.
type LeftOut struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// ScriptUsage is what the script used of the machine, 0 where that is not known.
type ScriptUsage struct {
	PeakMemoryBytes int64   `json:"peak_memory_bytes,omitempty"`
	CPUSeconds      float64 `json:"cpu_seconds,omitempty"`
}

// StoppedBy is "user", "time", or empty where nobody ended the script early.
func (s *Script) StoppedBy() string {
	if s == nil || s.Stopped == nil {
		return ""
	}
	return *s.Stopped
}

// Resumes counts the starts after the first.
func (s *Script) Resumes() int { return max(0, len(s.Starts)-1) }

const (
	maxSeries       = 64
	maxSeriesPoints = 2000
)

// checkSizes bounds the lists of a script and checks its series, which the schema is not held against.
func (s *Script) checkSizes() error {
	if s == nil {
		return nil
	}
	err := errors.Join(
		atMost("words of a command", len(s.Command), maxList), atMost("starts", len(s.Starts), maxList), atMost("files of code", len(s.Code), maxOutputs),
		atMost("findings", len(s.Findings), maxList), atMost("requirements", len(s.Requirements), maxList), atMost("numbers", len(s.Numbers), maxList),
		atMost("series", len(s.Series), maxSeries), atMost("files that were left out", len(s.LeftOut), maxOutputs))
	if err != nil {
		return err
	}
	for name, points := range s.Series {
		err := errors.Join(atMost("points", len(points), maxSeriesPoints), checkPoints(points))
		for _, p := range points {
			err = errors.Join(err, notFinite(p...))
		}
		if err != nil {
			return fmt.Errorf("the series %q: %w", text.Excerpt(name, 60), err)
		}
	}
	for _, n := range s.Numbers {
		err = errors.Join(err, notFinite(n.Value))
	}
	if s.Metric != nil {
		err = errors.Join(err, notFinite(s.Metric.Value))
	}
	return err
}

// slim is the script without what checkSizes has checked, for the schema.
func (s *Script) slim() *Script {
	if s == nil {
		return nil
	}
	c := *s
	if c.Series != nil {
		c.Series = map[string][][]float64{}
	}
	return &c
}

// checkScript checks what ties the parts of a script to each other and to the kind of the result.
func (r *Result) checkScript() error {
	switch {
	case r.Kind != ResultScript && (r.Partial || r.Script != nil):
		return errors.New("only a script has the parts of a script")
	case r.Kind != ResultScript:
		return nil
	case r.Script.Entry == "" || r.Script.Launcher == "":
		return errors.New("the script is not named")
	case r.Script.Processes < 1 || r.Script.Nodes < 1:
		return errors.New("the processes of the script are missing")
	}
	for _, n := range r.Script.Numbers {
		if n.Source == "" {
			return errors.New("a number of the script has no source")
		}
	}
	if m := r.Script.Metric; m != nil && (m.Name == "" || m.Source == "") {
		return errors.New("the metric of the script has no name or no source")
	}
	return nil
}
