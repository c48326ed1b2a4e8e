package results

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
	Entry    string   `json:"entry" minLength:"1" maxLength:"4096"`
	Launcher string   `json:"launcher" enum:"python,torchrun"`
	Command  []string `json:"command" maxItems:"1000"`
	// Processes counts those on each of Nodes.
	Processes int     `json:"processes" minimum:"1"`
	Nodes     int     `json:"nodes" minimum:"1"`
	Sandbox   Sandbox `json:"sandbox"`
	// Seconds is of all starts together, Exit of the last one.
	Seconds float64    `json:"seconds" minimum:"0" maximum:"1e300"`
	Exit    ScriptExit `json:"exit"`
	// Stopped says who ended the script early: the user, or the time limit. It is nil where nobody did.
	Stopped *string       `json:"stopped" enum:"user,time"`
	Starts  []ScriptStart `json:"starts" maxItems:"1000"`
	// Code are the files of the dataset that count as code, CodeSHA256 is one digest of them.
	Code       []CodeFile `json:"code" maxItems:"10000"`
	CodeSHA256 string     `json:"code_sha256" pattern:"^[0-9a-f]{64}$"`
	Findings   []Finding  `json:"findings" maxItems:"1000"`
	// Requirements are the packages that the user's requirements.txt added, as name==version.
	Requirements []string `json:"requirements" maxItems:"1000"`
	// Numbers has the last value of each number that the script gave, Metric the one that a report names first, nil for none.
	Numbers map[string]ScriptNumber `json:"numbers" maxProperties:"1000"`
	Metric  *ScriptMetric           `json:"metric"`
	// Series maps a name to pairs of step and value, as the script printed them.
	Series  ScriptSeries `json:"series" maxProperties:"64"`
	LeftOut []LeftOut    `json:"left_out" maxItems:"10000"`
	// Lines counts what the script printed, LogCut the bytes of that which log.txt lacks.
	Lines  int64       `json:"lines" minimum:"0" maximum:"1000000000000"`
	LogCut int64       `json:"log_cut" minimum:"0" maximum:"1000000000000"`
	Usage  ScriptUsage `json:"usage"`
}

// Sandbox is what kept a script from everything else. Network says whether it could reach other machines.
type Sandbox struct {
	Name    string `json:"name" enum:"bubblewrap,gvisor,pod,none"`
	Version string `json:"version"`
	Network bool   `json:"network"`
}

// ScriptExit is how a start ended: with a code, by a signal, or, where both are nil, nobody knows how.
type ScriptExit struct {
	Code   *int `json:"code"`
	Signal *int `json:"signal"`
	// Exceeded is the limit that ended it: memory, processes, disk, files or time. It is empty for none.
	Exceeded string `json:"exceeded,omitempty" enum:"memory,processes,disk,files,time"`
}

// ScriptStart is one start of a script. ResumedFrom is the checkpoint that it found, nil where it began from the start.
type ScriptStart struct {
	Attempt     int        `json:"attempt" minimum:"1"`
	Start       int        `json:"start" minimum:"1"`
	ResumedFrom *string    `json:"resumed_from"`
	Seconds     float64    `json:"seconds" minimum:"0" maximum:"1e300"`
	Exit        ScriptExit `json:"exit"`
}

// CodeFile is a file of the dataset that counts as code.
type CodeFile struct {
	Path   string `json:"path"`
	Size   int64  `json:"size" minimum:"0"`
	SHA256 string `json:"sha256" pattern:"^[0-9a-f]{64}$"`
}

// Finding is a place in the code that the static check points at.
type Finding struct {
	ID         string `json:"id"`
	File       string `json:"file"`
	Line       int    `json:"line" minimum:"0"`
	Severity   string `json:"severity" enum:"low,medium,high"`
	Confidence string `json:"confidence" enum:"low,medium,high"`
	Text       string `json:"text"`
}

// ScriptNumber is a number of a script. Source is the file that it came from, or "tensorboard" or "log".
type ScriptNumber struct {
	Value  float64 `json:"value" minimum:"-1e300" maximum:"1e300"`
	Source string  `json:"source" minLength:"1"`
}

// ScriptMetric is a number with its name.
type ScriptMetric struct {
	_ struct{} `nullable:"true"`

	Name   string  `json:"name" minLength:"1"`
	Value  float64 `json:"value" minimum:"-1e300" maximum:"1e300"`
	Source string  `json:"source" minLength:"1"`
}

// LeftOut is a file that the script left and that is not delivered.
type LeftOut struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// ScriptUsage is what the script used of the machine, 0 where that is not known.
type ScriptUsage struct {
	PeakMemoryBytes int64   `json:"peak_memory_bytes,omitempty" minimum:"0"`
	CPUSeconds      float64 `json:"cpu_seconds,omitempty" minimum:"0" maximum:"1e300"`
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

// withoutPoints is the script without the points of its series, which checkSizes has looked at.
func (s *Script) withoutPoints() *Script {
	if s == nil || s.Series == nil {
		return s
	}
	c := *s
	c.Series = ScriptSeries{}
	return &c
}
