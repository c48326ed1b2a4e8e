package jobsapi

import (
	"fmt"
	"strings"

	"github.com/ncsa/clowder-ray/internal/rayjob"
)

// reason says in plain words why the job failed: what happened, and where the program said something useful, that.
func (d details) reason() string {
	what, log := d.cause()
	line := rayjob.LastError(log)
	if line == "" {
		return rayjob.OneLine(what, rayjob.MaxReason)
	}
	return rayjob.OneLine(what+": "+line, rayjob.MaxReason)
}

// cause is what happened and the text that may say more about it.
func (d details) cause() (what, log string) {
	switch d.ErrorType {
	case "RUNTIME_ENV_SETUP_FAILURE":
		return "Ray could not prepare the environment of the training", strings.TrimPrefix(d.Message, "runtime_env setup failed: ")
	case "JOB_SUPERVISOR_ACTOR_START_TIMEOUT":
		return "the Ray cluster had no room to start the training in time", ""
	case "JOB_SUPERVISOR_ACTOR_UNSCHEDULABLE":
		return "the Ray cluster has no machine that can hold the training", ""
	case "JOB_SUPERVISOR_ACTOR_DIED":
		return "the machine or the process of Ray that held the training was lost", ""
	case "JOB_SUPERVISOR_ACTOR_START_FAILURE", "JOB_SUPERVISOR_ACTOR_UNKNOWN_FAILURE":
		return "Ray could not start the training", strings.TrimPrefix(d.Message, "Unexpected error occurred: ")
	case "JOB_ENTRYPOINT_COMMAND_START_ERROR":
		return "Ray could not start the training program", d.Message
	}
	// The first line repeats the exit code, the output of the program follows it.
	head, log, _ := strings.Cut(d.Message, "\n")
	if d.ExitCode == nil {
		if !strings.HasPrefix(head, "Job entrypoint command") {
			log = d.Message
		}
		return "the training failed on the Ray cluster", log
	}
	switch *d.ExitCode {
	case -9, 137:
		return "the training was killed, most often because its machine ran out of memory", ""
	case -15, 143:
		return "the training was ended from outside", ""
	case 126, 127:
		return fmt.Sprintf("the Python interpreter of the training could not be started on the Ray cluster (exit code %d)", *d.ExitCode), log
	default:
		return fmt.Sprintf("the training program ended with exit code %d", *d.ExitCode), log
	}
}
