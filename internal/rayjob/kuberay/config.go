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

// Config says how RayJobs are made. It is read from a file, but for the last fields, which the program fills in.
type Config struct {
	// Namespace is where everything of the runs lives; empty is the namespace of the credentials.
	Namespace string `json:"namespace,omitempty"`
	// Image has Ray, torch, transformers and Python; RayVersion is the version of its Ray.
	Image      string `json:"image,omitempty"`
	RayVersion string `json:"rayVersion,omitempty"`
	// PullSecrets are Secrets with which the image is pulled.
	PullSecrets []string `json:"pullSecrets,omitempty"`
	// Claim is the PersistentVolumeClaim of the shared volume, ReadWriteMany where the cluster has several nodes.
	Claim string `json:"claim,omitempty"`
	// User is the uid of the pods; 1001 where nothing is set. It is neither root nor the user of the service.
	User *int64 `json:"user,omitempty"`
	// Scratch is the size limit of each pod's /tmp, where Ray keeps its logs and spills objects.
	Scratch resource.Quantity `json:"scratch"`
	// SharedMemory is the size of each pod's /dev/shm; it counts as memory of the container.
	SharedMemory resource.Quantity `json:"sharedMemory"`
	// RuntimeClass is set on every pod, e.g. gvisor.
	RuntimeClass string `json:"runtimeClass,omitempty"`
	// ServiceAccount is that of the pods; its token is not mounted.
	ServiceAccount string `json:"serviceAccount,omitempty"`
	// Head is the machine of the driver and of Ray itself. No training runs on it.
	Head Machine `json:"head"`
	// Profiles are the kinds of clusters that users can choose by name. The first is the default.
	Profiles []Profile `json:"profiles,omitempty"`

	// Instance tells the RayJobs of this service from those of others in the same namespace.
	Instance string `json:"-"`
	// Owner names the store of jobs that this service keeps. Only RayJobs of the same owner are listed, so that two services
	// of one instance do not end each other's.
	Owner string `json:"-"`
	// Mount is where the shared volume is in the pods, and Volume where it is here; without Volume nobody looks what lies on it.
	Mount  string `json:"-"`
	Volume string `json:"-"`
	// ServiceUser is the uid of the service, which no pod may have.
	ServiceUser int64 `json:"-"`
	// PendingLimit is how long a RayJob may wait for its cluster before KubeRay itself gives it up.
	PendingLimit time.Duration `json:"-"`
}

// Machine is the size of a pod and where it may run. Memory is both request and limit; CPUs are not limited, since a
// throttled training is slower than one that shares.
type Machine struct {
	CPU    resource.Quantity `json:"cpu"`
	Memory resource.Quantity `json:"memory"`
	// GPU is how many a pod has; GPUResource is their name, nvidia.com/gpu where it is empty.
	GPU          int                 `json:"gpu,omitempty"`
	GPUResource  string              `json:"gpuResource,omitempty"`
	NodeSelector map[string]string   `json:"nodeSelector,omitempty"`
	Tolerations  []corev1.Toleration `json:"tolerations,omitempty"`
}

// Profile is a kind of cluster. With Cluster it is a RayCluster that stands already, and of the rest only MaxWorkers and
// Window count.
type Profile struct {
	Name    string `json:"name"`
	Cluster string `json:"cluster,omitempty"`
	Machine `json:",inline"`
	// Workers is how many a run gets that asks for none in particular, MaxWorkers how many it may ask for; on a standing
	// cluster 0 is no limit.
	Workers    int `json:"workers,omitempty"`
	MaxWorkers int `json:"maxWorkers,omitempty"`
	// MinWorkers, where given, lets Ray's autoscaler take idle workers away, down to this number.
	MinWorkers *int `json:"minWorkers,omitempty"`
	// Queue is a local queue of Kueue, PriorityClass that of the pods.
	Queue         string `json:"queue,omitempty"`
	PriorityClass string `json:"priorityClass,omitempty"`
	// Window, where given, is the time of the day in which runs may begin.
	Window *Window `json:"window,omitempty"`
}

// oldestRay is the first version that has token authentication.
const oldestRay = "2.52.0"

const gpuResource = "nvidia.com/gpu"

// ReadConfig reads a configuration file. Unknown fields are faults, since a setting that is misspelt would be missed late.
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

// withDefaults fills in what is left out.
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
		if p.Cluster == "" { // a standing one has as many as it has
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

// version is a release of Ray.
var version = regexp.MustCompile(`^\d+\.\d+\.\d+$`)

// validate reports every fault at once.
func (c Config) validate() error {
	var faults []error
	fault := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	label := func(name string) bool { return len(validation.IsDNS1123Label(name)) == 0 }
	fault(label(c.Namespace), "namespace: %q is no name of a namespace", c.Namespace)
	fault(c.Instance == "" || len(validation.IsValidLabelValue(c.Instance)) == 0, "the name of the instance %q is no label", c.Instance)
	fault(len(c.Profiles) > 0, "profiles: at least one is needed")
	fault(strings.HasPrefix(c.Mount, "/"), "RAY_SHARED_DIR: %q is not an absolute path", c.Mount)
	seen := map[string]bool{}
	for i, p := range c.Profiles {
		where := fmt.Sprintf("profiles[%d]", i)
		fault(label(p.Name), "%s.name: %q must be letters, digits and dashes", where, p.Name)
		fault(!seen[p.Name], "%s.name: %q is there twice", where, p.Name)
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

// validateUser keeps the pods from being root, or the user whose files they must not change.
func (c Config) validateUser() error {
	switch user := *c.User; {
	case user < 1:
		return fmt.Errorf("user: %d is root or no user: set the uid that the pods run as, e.g. %d", user, rayUser)
	case user == c.ServiceUser:
		return fmt.Errorf("user: the service itself runs as %d: set another uid, so that no training can change the files of the service", user)
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
	fault(p.MinWorkers == nil || *p.MinWorkers >= 0 && *p.MinWorkers <= p.Workers, ".minWorkers: must lie between 0 and workers")
	fault(p.MinWorkers == nil || p.Queue == "", ".minWorkers: Kueue does not take clusters that scale themselves: leave out queue or minWorkers")
	fault(p.Cluster == "" || p.Queue == "", ".queue: Kueue does not count runs on a standing cluster: leave out queue or cluster")
	fault(len(p.Cluster) <= utils.MaxRayClusterNameLength, ".cluster: %q is longer than a RayCluster's name may be", p.Cluster)
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
