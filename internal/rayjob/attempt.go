package rayjob

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/ncsa/clowder-ray/internal/job"
)

// Attempt is one try of a run on Ray.
type Attempt struct {
	// Run is the name of the run and Number counts its tries from 1.
	Run    string
	Number int
	// Dir is the absolute path of the run folder on Ray's side. It contains spec.json.
	Dir string
	// TrainerPath is added to PYTHONPATH so that Python finds the trainer; empty if the image contains it.
	TrainerPath string
	// Reads are the folders of the shared volume that the attempt reads besides its run folder and the trainer: base models, and
	// the registered models that spec.json names. They are paths below the volume, with slashes. A backend that creates pods for
	// the attempt mounts no other folder; a missing folder is left out.
	Reads []string
	// Python is the interpreter on Ray's side: a path, or a name that is looked up there.
	Python string
	// Env is set for the driver and every worker. It overrides the values that Environment sets.
	Env map[string]string
	// Metadata is shown with the job by Ray and Kubernetes, so it must not name a person. Labels adds the keys of the attempt.
	Metadata map[string]string
	// Warm is how many machines of a standing Ray keep a process that has done the slow imports. 0 means none. The pods of a cluster
	// that is created for the attempt each start one if it is positive.
	Warm int
	// Resources are requested from a backend that creates a cluster for the attempt. A standing cluster ignores them.
	Resources Resources
	// Script says that the attempt runs code of a user. A backend that creates pods for it isolates them from everything else, and
	// Resources.Workers is the number of machines.
	Script bool
}

// Resources are what an attempt requests.
type Resources struct {
	// Profile is the name of a profile in the settings; empty means the default.
	Profile string
	// Workers is the number of training processes; 0 means the profile's number.
	Workers int
	// GPU requests a GPU for each worker.
	GPU bool
	// Limit is the longest time that the attempt may run; 0 means no limit.
	Limit time.Duration
}

// The keys of Labels that identify the attempt of a job on Ray, and the service that submitted it.
const (
	LabelRun      = "clowder_ray_run"
	LabelAttempt  = "clowder_ray_attempt"
	LabelInstance = "clowder_ray_instance"
)

// StopGrace is the number of seconds between the request to stop a training and its kill: enough to write a checkpoint.
// Ray's own default is 3.
const StopGrace = 30

// The entrypoint passes through a shell, so its parts may contain only characters that no shell interprets. Other characters
// are rejected and never quoted, since quoting that is right for one shell is wrong for the next one.
var (
	safePath   = regexp.MustCompile(`^/[A-Za-z0-9_.,:@%+=/-]*$`)
	safePython = regexp.MustCompile(`^(/[A-Za-z0-9_.,:@%+=/-]+|[A-Za-z][A-Za-z0-9_.-]*)$`)
	safeRun    = regexp.MustCompile(`^[a-z]([a-z0-9-]{0,38}[a-z0-9])?$`)
	safeBelow  = regexp.MustCompile(`^[A-Za-z0-9_.,:@%+=/-]+$`)
	safeEnv    = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// Name is the attempt's name on Ray. Submitting it twice starts one job.
func (a Attempt) Name() string { return a.Run + "-a" + strconv.Itoa(a.Number) }

// Check reports all invalid fields of the attempt at once, as a permanent error for the administrator: no user can cause one.
func (a Attempt) Check() error {
	var invalid []string
	expect := func(ok bool, format string, args ...any) {
		if !ok {
			invalid = append(invalid, fmt.Sprintf(format, args...))
		}
	}
	expect(safeRun.MatchString(a.Run), "the run name %q is not a DNS label of at most 40 characters", a.Run)
	expect(a.Number >= 1, "the attempt number %d is below 1", a.Number)
	expect(safePath.MatchString(a.Dir), "the run folder %q is not an absolute path of letters, digits and _.,:@%%+=/-", a.Dir)
	expect(a.TrainerPath == "" || safePath.MatchString(a.TrainerPath),
		"the trainer folder %q is not an absolute path of letters, digits and _.,:@%%+=/-", a.TrainerPath)
	expect(safePython.MatchString(a.Python), "the Python interpreter %q is neither a plain name nor an absolute path of letters, digits and _.,:@%%+=/-", a.Python)
	for _, name := range a.Reads {
		expect(fs.ValidPath(name) && name != "." && safeBelow.MatchString(name),
			"the folder %q is not a path below the shared volume of letters, digits and _.,:@%%+=/-", name)
	}
	for key := range a.Env {
		expect(safeEnv.MatchString(key), "the environment variable name %q is invalid", key)
	}
	if len(invalid) == 0 {
		return nil
	}
	return job.Permanent(fmt.Errorf("invalid Ray job settings: %s; ask the administrator of the extractor to fix them", strings.Join(invalid, "; ")))
}

// Entrypoint is the command that Ray runs. The attempt must have passed Check.
func (a Attempt) Entrypoint() string {
	return a.Python + " -m trainer run " + path.Join(a.Dir, "spec.json")
}

// WarmEntrypoint is the command that lets the machines of a standing Ray get their warm processes. The attempt must have passed Check.
func (a Attempt) WarmEntrypoint() string { return a.Python + " -m trainer warm" }

// WarmPodCommand is the shell command that becomes the warm process of a pod, for the role "driver" or "worker". The attempt must have
// passed Check.
func (a Attempt) WarmPodCommand(role string) string {
	command := a.Python + " -B -m trainer.standby.pod " + role
	if a.TrainerPath != "" {
		command = "PYTHONPATH=" + a.TrainerPath + " " + command
	}
	return "cd / && " + command
}

// Owns reports whether a job with the attempt's name belongs to the attempt, by the labels and the entrypoint of the job. The
// interpreter may differ, since the settings may have changed since the job was submitted.
func (a Attempt) Owns(run, number, entrypoint string) bool {
	_, command, _ := strings.Cut(a.Entrypoint(), " ")
	return run == a.Run && number == strconv.Itoa(a.Number) && strings.HasSuffix(entrypoint, " "+command)
}

// Environment is the environment of the driver and its workers.
func (a Attempt) Environment() map[string]string {
	env := map[string]string{
		"RAY_JOB_STOP_WAIT_TIME_S":      strconv.Itoa(StopGrace),
		"HF_HUB_OFFLINE":                "1", // models come from the shared volume and never from the network
		"HF_HUB_DISABLE_TELEMETRY":      "1",
		"HF_HUB_DISABLE_IMPLICIT_TOKEN": "1",
		"PYTHONDONTWRITEBYTECODE":       "1", // the trainer's folder must contain only its own files, see trainer.Install
	}
	if a.TrainerPath != "" {
		env["PYTHONPATH"] = a.TrainerPath
	}
	if a.Warm > 0 && !a.Script {
		env["WARM_WORKERS"] = strconv.Itoa(a.Warm)
	}
	maps.Copy(env, a.Env)
	return env
}

// Labels is the metadata of the job on Ray: Metadata and the keys that identify this attempt.
func (a Attempt) Labels() map[string]string {
	labels := maps.Clone(a.Metadata)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[LabelRun], labels[LabelAttempt] = a.Run, strconv.Itoa(a.Number)
	return labels
}
