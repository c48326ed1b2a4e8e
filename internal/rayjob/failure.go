package rayjob

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Failure is what Ray reports about a failed job.
type Failure struct {
	// ErrorType is Ray's name for the kind of failure; older versions and KubeRay report none.
	ErrorType string
	// Message is Ray's text: the first line says what happened, the end of the program's output may follow.
	Message string
	// ExitCode is the exit code of the program; nil means the one in the message, if any.
	ExitCode *int
}

// exitCode matches the exit code in Ray's message.
var exitCode = regexp.MustCompile(`^Job entrypoint command failed with exit code (-?\d{1,9})\b`)

// Reason says in plain words why the job failed: what happened, and the most useful line of the program's output.
func (f Failure) Reason() string {
	what, log := f.cause()
	line := LastError(log)
	if line == "" {
		return OneLine(what, MaxReason)
	}
	return OneLine(what+": "+line, MaxReason)
}

// cause returns what happened and the text that may explain it.
func (f Failure) cause() (what, log string) {
	switch f.ErrorType {
	case "RUNTIME_ENV_SETUP_FAILURE":
		return "Ray could not prepare the environment of the training", strings.TrimPrefix(f.Message, "runtime_env setup failed: ")
	case "JOB_SUPERVISOR_ACTOR_START_TIMEOUT":
		return "the Ray cluster had no free resources to start the training in time", ""
	case "JOB_SUPERVISOR_ACTOR_UNSCHEDULABLE":
		return "the Ray cluster has no node that can run the training", ""
	case "JOB_SUPERVISOR_ACTOR_DIED":
		return "the node or the Ray process that ran the training was lost", ""
	case "JOB_SUPERVISOR_ACTOR_START_FAILURE", "JOB_SUPERVISOR_ACTOR_UNKNOWN_FAILURE":
		return "Ray could not start the training", strings.TrimPrefix(f.Message, "Unexpected error occurred: ")
	case "JOB_ENTRYPOINT_COMMAND_START_ERROR":
		return "Ray could not start the training program", f.Message
	}
	// The first line repeats the exit code, the output of the program follows it.
	head, log, _ := strings.Cut(f.Message, "\n")
	code, ok := f.code(head)
	if !ok {
		if !strings.HasPrefix(head, "Job entrypoint command") {
			log = f.Message
		}
		return "the training failed on the Ray cluster", log
	}
	switch code {
	case -9, 137:
		return "the training was killed, probably because its node ran out of memory", ""
	case -15, 143:
		return "the training was terminated by another process", ""
	case 126, 127:
		return fmt.Sprintf("the Python interpreter of the training could not be started on the Ray cluster (exit code %d)", code), log
	default:
		return fmt.Sprintf("the training program ended with exit code %d", code), log
	}
}

// code returns the exit code of the program, if Ray reports it.
func (f Failure) code(head string) (int, bool) {
	if f.ExitCode != nil {
		return *f.ExitCode, true
	}
	found := exitCode.FindStringSubmatch(head)
	if found == nil {
		return 0, false
	}
	n, err := strconv.Atoi(found[1])
	return n, err == nil
}
