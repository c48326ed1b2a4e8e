package rayjob

// Verdict is how an attempt stands, in the words of this service and not of a Ray version. That Ray cannot be reached is
// an error and no verdict.
type Verdict string

// The verdicts. Only the last four are ends.
const (
	// Pending: Ray has the attempt and has not started the training program.
	Pending Verdict = "pending"
	// Running: the training program runs, or Ray says something that this service does not know.
	Running Verdict = "running"
	// Succeeded: the training program ended with exit code 0. Whether it left a result is for the caller to see.
	Succeeded Verdict = "succeeded"
	// Failed: the attempt ended in another way by itself.
	Failed Verdict = "failed"
	// Stopped: somebody asked Ray to stop the attempt.
	Stopped Verdict = "stopped"
	// Lost: Ray does not know the attempt (any more). The training may have ended before; the run folder tells.
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

// Observation is one look at an attempt.
type Observation struct {
	Verdict Verdict
	// Reason says for Failed, Stopped and Lost in plain words what happened: one printable line of at most MaxReason
	// characters that a scientist may read. It never decides anything.
	Reason string
	// Notice says in the same form what a pending attempt waits for, or what hinders a running one; empty where nothing is
	// known.
	Notice string
	// Final says that another attempt would end in the same way.
	Final bool
}
