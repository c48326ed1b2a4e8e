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
	// Dir is the run folder as Ray sees it, absolute; spec.json lies in it.
	Dir string
	// TrainerPath is put on PYTHONPATH so that Python finds the trainer; empty where the image holds it.
	TrainerPath string
	// Reads are the folders of the shared volume that the attempt reads besides its own and the trainer's: base models, and the
	// registered models that spec.json names. They are paths below the volume, with slashes. A backend that makes machines for
	// the attempt shows it no other; a folder that is not there is left out.
	Reads []string
	// Python is the interpreter on the side of Ray: a path, or a name that is looked up there.
	Python string
	// Env is set for the driver and every worker, over what Environment sets by itself.
	Env map[string]string
	// Metadata is shown by Ray beside the job, and by Kubernetes: nothing in it names a person. Keys of the attempt itself are
	// added to it.
	Metadata map[string]string
	// Resources is what the attempt asks of a backend that makes a cluster for it; on a cluster that stands it takes what
	// there is.
	Resources Resources
}

// Resources is what an attempt asks for.
type Resources struct {
	// Profile names the kind of machines, as the operator has called it; empty is the default.
	Profile string
	// Workers is how many processes train together; 0 leaves it to the profile.
	Workers int
	// GPU asks for a GPU for each worker, whatever the default profile has.
	GPU bool
	// Limit is the longest that the attempt may run; 0 is no limit.
	Limit time.Duration
}

// The keys of Labels that tie a job on Ray to its attempt, and the one by which a backend finds those of its own service.
const (
	LabelRun      = "clowder_ray_run"
	LabelAttempt  = "clowder_ray_attempt"
	LabelInstance = "clowder_ray_instance"
)

// StopGrace is how many seconds a training has between the request to stop and its end by force: enough to write a
// checkpoint. Ray itself gives 3.
const StopGrace = 30

// The entrypoint goes through a shell, so its parts may hold only characters that no shell looks at. They are refused and
// never quoted: a quoting that is right for one shell is wrong for the next one on the way.
var (
	safePath   = regexp.MustCompile(`^/[A-Za-z0-9_.,:@%+=/-]*$`)
	safePython = regexp.MustCompile(`^(/[A-Za-z0-9_.,:@%+=/-]+|[A-Za-z][A-Za-z0-9_.-]*)$`)
	safeRun    = regexp.MustCompile(`^[a-z]([a-z0-9-]{0,38}[a-z0-9])?$`)
	safeBelow  = regexp.MustCompile(`^[A-Za-z0-9_.,:@%+=/-]+$`)
	safeEnv    = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// Name is the attempt's name on Ray; submitting it twice starts one job.
func (a Attempt) Name() string { return a.Run + "-a" + strconv.Itoa(a.Number) }

// Check reports every fault of the attempt at once, as a permanent error for the operator: no user can cause one.
func (a Attempt) Check() error {
	var faults []string
	fault := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Sprintf(format, args...))
		}
	}
	fault(safeRun.MatchString(a.Run), "the run name %q is not a DNS label of at most 40 characters", a.Run)
	fault(a.Number >= 1, "the number %d of the attempt is below 1", a.Number)
	fault(safePath.MatchString(a.Dir), "the run folder %q is not an absolute path of letters, digits and _.,:@%%+=/-", a.Dir)
	fault(a.TrainerPath == "" || safePath.MatchString(a.TrainerPath),
		"the folder of the trainer %q is not an absolute path of letters, digits and _.,:@%%+=/-", a.TrainerPath)
	fault(safePython.MatchString(a.Python), "the Python interpreter %q is neither a plain name nor an absolute path of letters, digits and _.,:@%%+=/-", a.Python)
	for _, name := range a.Reads {
		fault(fs.ValidPath(name) && name != "." && safeBelow.MatchString(name),
			"the folder %q is not a path below the shared volume of letters, digits and _.,:@%%+=/-", name)
	}
	for key := range a.Env {
		fault(safeEnv.MatchString(key), "the variable name %q is not a name", key)
	}
	if len(faults) == 0 {
		return nil
	}
	return job.Permanent(fmt.Errorf("the training cannot be described to Ray, ask the operator of the extractor to mend its settings: %s", strings.Join(faults, "; ")))
}

// Entrypoint is the command that Ray runs. It is meaningful only for an attempt that passed Check.
func (a Attempt) Entrypoint() string {
	return a.Python + " -m trainer run " + path.Join(a.Dir, "spec.json")
}

// Owns says whether what runs under the attempt's name is the attempt, by the labels and the entrypoint that it was made
// with. The interpreter may differ: settings can have changed between a crash and the next start.
func (a Attempt) Owns(run, number, entrypoint string) bool {
	_, command, _ := strings.Cut(a.Entrypoint(), " ")
	return run == a.Run && number == strconv.Itoa(a.Number) && strings.HasSuffix(entrypoint, " "+command)
}

// Environment is what the driver and its workers find in their environment.
func (a Attempt) Environment() map[string]string {
	env := map[string]string{
		"RAY_TRAIN_V2_ENABLED":          "1",
		"RAY_JOB_STOP_WAIT_TIME_S":      strconv.Itoa(StopGrace),
		"HF_HUB_OFFLINE":                "1", // models come from the shared volume, never from the network
		"HF_HUB_DISABLE_TELEMETRY":      "1",
		"HF_HUB_DISABLE_IMPLICIT_TOKEN": "1",
		"PYTHONDONTWRITEBYTECODE":       "1", // the trainer holds its own files and no others, see trainer.Install
	}
	if a.TrainerPath != "" {
		env["PYTHONPATH"] = a.TrainerPath
	}
	maps.Copy(env, a.Env)
	return env
}

// Labels is the metadata of the job on Ray: the caller's, and the keys that tie it to this attempt.
func (a Attempt) Labels() map[string]string {
	labels := maps.Clone(a.Metadata)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[LabelRun], labels[LabelAttempt] = a.Run, strconv.Itoa(a.Number)
	return labels
}
