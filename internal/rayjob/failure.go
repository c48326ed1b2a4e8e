package rayjob

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Failure is what Ray tells about a job that ended badly.
type Failure struct {
	// ErrorType is Ray's word for the kind of failure; older versions and KubeRay give none.
	ErrorType string
	// Message is Ray's text: the first line says what happened, the end of the program's output may follow.
	Message string
	// ExitCode is the program's; nil takes the one that the message names, if it does.
	ExitCode *int
}

// exitCode is how Ray's message names it.
var exitCode = regexp.MustCompile(`^Job entrypoint command failed with exit code (-?\d{1,9})\b`)

// Reason says in plain words why the job failed: what happened, and where the program said something useful, that.
func (f Failure) Reason() string {
	what, log := f.cause()
	line := LastError(log)
	if line == "" {
		return OneLine(what, MaxReason)
	}
	return OneLine(what+": "+line, MaxReason)
}

// cause is what happened and the text that may say more about it.
func (f Failure) cause() (what, log string) {
	switch f.ErrorType {
	case "RUNTIME_ENV_SETUP_FAILURE":
		return "Ray could not prepare the environment of the training", strings.TrimPrefix(f.Message, "runtime_env setup failed: ")
	case "JOB_SUPERVISOR_ACTOR_START_TIMEOUT":
		return "the Ray cluster had no room to start the training in time", ""
	case "JOB_SUPERVISOR_ACTOR_UNSCHEDULABLE":
		return "the Ray cluster has no machine that can hold the training", ""
	case "JOB_SUPERVISOR_ACTOR_DIED":
		return "the machine or the process of Ray that held the training was lost", ""
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
		return "the training was killed, most often because its machine ran out of memory", ""
	case -15, 143:
		return "the training was ended from outside", ""
	case 126, 127:
		return fmt.Sprintf("the Python interpreter of the training could not be started on the Ray cluster (exit code %d)", code), log
	default:
		return fmt.Sprintf("the training program ended with exit code %d", code), log
	}
}

// code is the exit code of the program, as far as Ray tells it.
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
