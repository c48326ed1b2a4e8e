package kuberay

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ray-project/kuberay/ray-operator/controllers/ray/utils"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"

	"github.com/ncsa/clowder-ray/internal/rayjob"
)

// Config describes the RayJobs. It is read from a file; the program sets the fields without a JSON name.
type Config struct {
	// Namespace contains all objects of the runs; empty means the namespace of the credentials.
	Namespace string `json:"namespace,omitempty"`
	// Image contains Ray, torch, transformers and Python; RayVersion is the version of its Ray.
	Image      string `json:"image,omitempty"`
	RayVersion string `json:"rayVersion,omitempty"`
	// PullSecrets are the Secrets for pulling the image.
	PullSecrets []string `json:"pullSecrets,omitempty"`
	// Claim is the PersistentVolumeClaim of the shared volume; ReadWriteMany if the cluster has several nodes.
	Claim string `json:"claim,omitempty"`
	// User is the uid of the pods (default 1001). It must be neither root nor the user of the service.
	User *int64 `json:"user,omitempty"`
	// Scratch is the size limit of each pod's /tmp, where Ray writes its logs and spills objects.
	Scratch resource.Quantity `json:"scratch"`
	// SharedMemory is the size of each pod's /dev/shm; it counts as memory of the container.
	SharedMemory resource.Quantity `json:"sharedMemory"`
	// RuntimeClass is set on every pod, e.g. gvisor.
	RuntimeClass string `json:"runtimeClass,omitempty"`
	// ServiceAccount is the service account of the pods; its token is not mounted.
	ServiceAccount string `json:"serviceAccount,omitempty"`
	// Script says how the pods of users' own code are isolated.
	Script Script `json:"script,omitzero"`
	// Head is the size of the pod of the driver and of Ray itself. No training runs on it.
	Head Machine `json:"head"`
	// Profiles are the clusters that users can choose by name. The first is the default.
	Profiles []Profile `json:"profiles,omitempty"`

	// Instance distinguishes the RayJobs of this service from those of other services in the namespace.
	Instance string `json:"-"`
	// Owner identifies the job store of this service. Only RayJobs of the same owner are listed, so that two services of one
	// instance do not end each other's jobs.
	Owner string `json:"-"`
	// Mount is the path of the shared volume in the pods, and Volume its path on this machine. With an empty Volume, folders are
	// not checked before they are mounted.
	Mount  string `json:"-"`
	Volume string `json:"-"`
	// ServiceUser is the uid of the service, which no pod may use.
	ServiceUser int64 `json:"-"`
	// PendingLimit is how long a RayJob may wait for its cluster before KubeRay itself fails it.
	PendingLimit time.Duration `json:"-"`
}

// Machine is the size of a pod and where it may run. Memory is both request and limit; CPUs have no limit, since sharing is
// faster than throttling.
type Machine struct {
	CPU    resource.Quantity `json:"cpu"`
	Memory resource.Quantity `json:"memory"`
	// GPU is the number of GPUs of a pod; GPUResource is their resource name (default nvidia.com/gpu).
	GPU          int                 `json:"gpu,omitempty"`
	GPUResource  string              `json:"gpuResource,omitempty"`
	NodeSelector map[string]string   `json:"nodeSelector,omitempty"`
	Tolerations  []corev1.Toleration `json:"tolerations,omitempty"`
}

// Profile describes a cluster. With Cluster it is an existing RayCluster; then only MaxWorkers and Window apply, and with MinWorkers the
// size of a worker.
type Profile struct {
	Name    string `json:"name"`
	Cluster string `json:"cluster,omitempty"`
	Machine `json:",inline"`
	// Workers is the default number of workers of a run, MaxWorkers the largest number that a run may request; 0 means no limit
	// on a standing cluster.
	Workers    int `json:"workers,omitempty"`
	MaxWorkers int `json:"maxWorkers,omitempty"`
	// MinWorkers, if set, turns on Ray's autoscaler: a cluster starts with so many workers, gets more when its run asks for them, and loses
	// those that are idle for IdleSeconds (default 60). On a standing cluster it says that the cluster has an autoscaler, which starts
	// up to MaxWorkers machines of this size.
	MinWorkers  *int `json:"minWorkers,omitempty"`
	IdleSeconds int  `json:"idleSeconds,omitempty"`
	// Queue is a local queue of Kueue; PriorityClass is the priority class of the pods.
	Queue         string `json:"queue,omitempty"`
	PriorityClass string `json:"priorityClass,omitempty"`
	// Window, if set, is the daily time window in which runs may start.
	Window *Window `json:"window,omitempty"`
}

// oldestRay is the first version with token authentication.
const oldestRay = "2.52.0"

const gpuResource = "nvidia.com/gpu"

// ReadConfig reads a configuration file. Unknown fields are errors, so that a misspelt setting is found at the start.
func ReadConfig(path string) (Config, error) {
	doc, err := os.ReadFile(path)
	if err != nil {
		return Config{}, err
	}
	var c Config
	if err := yaml.UnmarshalStrict(doc, &c); err != nil {
		text := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "error unmarshaling JSON: "), "while decoding JSON: ")
		return Config{}, fmt.Errorf("%s: %s", path, rayjob.OneLine(text, rayjob.MaxReason))
	}
	return c, nil
}

// Names lists the profiles, the default first.
func (c Config) Names() []string {
	names := make([]string, len(c.Profiles))
	for i, p := range c.Profiles {
		names[i] = p.Name
	}
	return names
}

// withDefaults sets the fields that are empty.
func (c Config) withDefaults() Config {
	quantity(&c.Scratch, "20Gi")
	quantity(&c.SharedMemory, "1Gi")
	if c.User == nil {
		c.User = new(int64(rayUser))
	}
	quantity(&c.Head.CPU, "1")
	quantity(&c.Head.Memory, "4Gi")
	if c.Instance == "" {
		c.Instance = "clowder-ray"
	}
	if c.PendingLimit == 0 {
		c.PendingLimit = time.Hour
	}
	c.Profiles = slices.Clone(c.Profiles)
	for i := range c.Profiles {
		p := &c.Profiles[i]
		quantity(&p.CPU, "1")
		quantity(&p.Memory, "4Gi")
		if p.IdleSeconds == 0 {
			p.IdleSeconds = 60
		}
		if p.Cluster == "" { // a standing cluster has a fixed number
			p.Workers = max(1, p.Workers)
			p.MaxWorkers = max(p.Workers, p.MaxWorkers)
		}
		if p.GPU > 0 && p.GPUResource == "" {
			p.GPUResource = gpuResource
		}
	}
	return c
}

func quantity(q *resource.Quantity, value string) {
	if q.IsZero() {
		*q = resource.MustParse(value)
	}
}

// version matches a release of Ray.
var version = regexp.MustCompile(`^\d+\.\d+\.\d+$`)

// validate reports all invalid fields at once.
func (c Config) validate() error {
	var faults []error
	fault := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	label := func(name string) bool { return len(validation.IsDNS1123Label(name)) == 0 }
	fault(label(c.Namespace), "namespace: %q is not a valid namespace name", c.Namespace)
	fault(c.Instance == "" || len(validation.IsValidLabelValue(c.Instance)) == 0, "the instance name %q is not a valid label value", c.Instance)
	fault(len(c.Profiles) > 0, "profiles: at least one profile is required")
	fault(c.Script.MaxNodes >= 0, "script.maxNodes: must not be negative")
	fault(strings.HasPrefix(c.Mount, "/"), "RAY_SHARED_DIR: %q is not an absolute path", c.Mount)
	seen := map[string]bool{}
	for i, p := range c.Profiles {
		where := fmt.Sprintf("profiles[%d]", i)
		fault(label(p.Name), "%s.name: %q must consist of lowercase letters, digits and dashes", where, p.Name)
		fault(!seen[p.Name], "%s.name: %q is used twice", where, p.Name)
		seen[p.Name] = true
		faults = append(faults, p.validate(where)...)
	}
	if slices.ContainsFunc(c.Profiles, func(p Profile) bool { return p.Cluster == "" }) {
		fault(c.Image != "", "image: set it to the image with Ray and torch")
		fault(c.Claim != "", "claim: set it to the PersistentVolumeClaim of the shared volume")
		faults = append(faults, c.validateUser())
		fault(version.MatchString(c.RayVersion), "rayVersion: %q must be the version of Ray in the image, e.g. 2.60.0", c.RayVersion)
		fault(!version.MatchString(c.RayVersion) || !older(c.RayVersion, oldestRay), "rayVersion: %s has no token authentication: use %s or newer", c.RayVersion, oldestRay)
		fault(c.SharedMemory.Cmp(c.Head.Memory) < 0, "sharedMemory: %s does not fit into the head's memory of %s", &c.SharedMemory, &c.Head.Memory)
		for _, p := range c.Profiles {
			fault(p.Cluster != "" || c.SharedMemory.Cmp(p.Memory) < 0, "sharedMemory: %s does not fit into the memory of profile %s, %s", &c.SharedMemory, p.Name, &p.Memory)
		}
	}
	return errors.Join(faults...)
}

// validateUser keeps the pods from running as root, or as the user of the service.
func (c Config) validateUser() error {
	switch user := *c.User; {
	case user < 1:
		return fmt.Errorf("user: %d is not allowed: set a uid other than root for the pods, e.g. %d", user, rayUser)
	case user == c.ServiceUser:
		return fmt.Errorf("user: %d is the uid of the service: set another uid, so that no training can change the files of the service", user)
	default:
		return nil
	}
}

func (p Profile) validate(where string) (faults []error) {
	fault := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Errorf(where+format, args...))
		}
	}
	fault(p.GPU >= 0 && p.Workers >= 0 && p.MaxWorkers >= 0, ": numbers must not be negative")
	fault(p.CPU.Sign() >= 0 && p.Memory.Sign() >= 0, ": cpu and memory must not be negative")
	if p.MinWorkers != nil {
		fault(*p.MinWorkers >= 0 && (p.Cluster != "" || *p.MinWorkers <= p.Workers), ".minWorkers: must be between 0 and workers")
		fault(p.MaxWorkers > 0, ".maxWorkers: set it to the largest number of workers that the autoscaler of the standing cluster starts")
	}
	fault(p.IdleSeconds >= 0, ".idleSeconds: must not be negative")
	fault(p.MinWorkers == nil || p.Queue == "", ".minWorkers: Kueue does not support autoscaling clusters: remove queue or minWorkers")
	fault(p.Cluster == "" || p.Queue == "", ".queue: Kueue does not manage runs on a standing cluster: remove queue or cluster")
	fault(len(p.Cluster) <= utils.MaxRayClusterNameLength, ".cluster: %q is too long for the name of a RayCluster", p.Cluster)
	if p.Window != nil {
		if err := p.Window.validate(); err != nil {
			fault(false, ".window: %w", err)
		}
	}
	return faults
}

// older compares two releases.
func older(a, b string) bool {
	var x, y [3]int
	_, _ = fmt.Sscanf(a, "%d.%d.%d", &x[0], &x[1], &x[2]) // both have this form
	_, _ = fmt.Sscanf(b, "%d.%d.%d", &y[0], &y[1], &y[2])
	return slices.Compare(x[:], y[:]) < 0
}
