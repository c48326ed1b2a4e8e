package rayjob

// Verdict is the state of an attempt in the terms of this service, independent of the Ray version. An unreachable Ray is an
// error and no verdict.
type Verdict string

// The verdicts. The last four are final.
const (
	// Pending: Ray has the attempt and has not started the training program.
	Pending Verdict = "pending"
	// Running: the training program runs, or Ray reports a status that this service does not know.
	Running Verdict = "running"
	// Succeeded: the training program ended with exit code 0. The caller checks whether it left a result.
	Succeeded Verdict = "succeeded"
	// Failed: the attempt ended by itself in any other way.
	Failed Verdict = "failed"
	// Stopped: Ray was asked to stop the attempt.
	Stopped Verdict = "stopped"
	// Lost: Ray does not know the attempt. The training may have ended before; the run folder shows it.
	Lost Verdict = "lost"
)

// Terminal reports whether the attempt is over.
func (v Verdict) Terminal() bool {
	switch v {
	case Succeeded, Failed, Stopped, Lost:
		return true
	case Pending, Running:
		return false
	default:
		return false
	}
}

// Observation is the state of an attempt at one moment.
type Observation struct {
	Verdict Verdict
	// Reason says what happened, for Failed, Stopped and Lost: one printable line of at most MaxReason characters for users. It
	// never decides anything.
	Reason string
	// Notice says in the same form what a pending attempt waits for, or what is wrong with a running one; empty if nothing is
	// known.
	Notice string
	// Final says that another attempt would fail in the same way.
	Final bool
}
