package kuberay

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"

	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	"github.com/ray-project/kuberay/ray-operator/controllers/ray/utils"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/rayjob/kuberay/explain"
)

// Labels of all objects of a run. Ray's own metadata has other keys, since Kubernetes labels need a domain.
const (
	labelManager  = "app.kubernetes.io/managed-by"
	labelInstance = "app.kubernetes.io/instance"
	labelRun      = domain + "/run"
	labelAttempt  = domain + "/attempt"
	labelOwner    = domain + "/owner"

	domain  = "clowder-ray.ncsa.illinois.edu"
	manager = "clowder-ray"
)

// spare is how much later than the service KubeRay ends a run, so that it does so only if the service is down.
const spare = 15 * time.Minute

// keptSeconds is how long an unreleased finished cluster is kept: long enough to read its logs.
const keptSeconds = 60

// newRayJob returns the RayJob of the attempt. Only annotations and Ray's metadata contain text of users.
func (c Config) newRayJob(a rayjob.Attempt, p Profile) (*rayv1.RayJob, error) {
	env, err := json.Marshal(map[string]any{"env_vars": c.environment(a, p)})
	if err != nil {
		return nil, fmt.Errorf("encode the environment of the training: %w", err)
	}
	rj := &rayv1.RayJob{
		ObjectMeta: metav1.ObjectMeta{
			Name: a.Name(), Namespace: c.Namespace, Labels: c.labels(a), Annotations: annotations(a),
		},
		Spec: rayv1.RayJobSpec{
			SubmissionMode: rayv1.HTTPMode, JobId: a.Name(), Entrypoint: a.Entrypoint(), RuntimeEnvYAML: string(env), Metadata: a.Labels(),
			BackoffLimit: ptr.To[int32](0), PreRunningDeadlineSeconds: seconds(c.PendingLimit + spare),
		},
	}
	if a.Resources.Limit > 0 {
		rj.Spec.ActiveDeadlineSeconds = seconds(c.PendingLimit + a.Resources.Limit + spare)
	}
	if p.Queue != "" {
		rj.Labels[explain.QueueLabel] = p.Queue
	}
	if p.Cluster != "" {
		rj.Spec.ClusterSelector = map[string]string{utils.RayJobClusterSelectorKey: p.Cluster}
	} else {
		shared, err := c.sharedMounts(a)
		if err != nil {
			return nil, err
		}
		rj.Spec.RayClusterSpec = c.newCluster(a, p, shared)
		if a.Script {
			rj.Spec.RayClusterSpec = c.newScriptCluster(a, p, shared)
		}
		rj.Spec.ShutdownAfterJobFinishes, rj.Spec.TTLSecondsAfterFinished = true, keptSeconds
	}
	return rj, check(rj)
}

// growthEnv tells the trainer which workers the cluster may get on demand: their number, and the resources of each as Ray names them.
const growthEnv = "CLUSTER_GROWS_TO"

// environment is that of the driver and the workers. A cluster that ends with the attempt keeps no warm processes for later ones.
func (c Config) environment(a rayjob.Attempt, p Profile) map[string]string {
	workers := p.MaxWorkers
	switch {
	case p.Cluster == "":
		a.Warm, workers = 0, c.workers(a, p)
	case p.MinWorkers != nil:
		a.Warm = min(a.Warm, 1) // on the head alone: the autoscaler takes no worker for idle that has a warm process
	}
	env := a.Environment()
	if p.MinWorkers != nil {
		env[growthEnv] = fmt.Sprintf(`{"workers": %d, "each": {"CPU": %d, "GPU": %d, "memory": %d}}`, workers, cpus(p.Machine), p.GPU, p.Memory.Value())
	}
	return env
}

// check applies KubeRay's own rules. The API server accepts any RayJob, and the KubeRay operator would reject it later.
func check(rj *rayv1.RayJob) error {
	err := utils.ValidateRayJobMetadata(rj.ObjectMeta)
	if err == nil {
		err = utils.ValidateRayJobSpec(rj)
	}
	if err == nil && rj.Spec.RayClusterSpec != nil {
		err = utils.ValidateRayClusterMetadata(metav1.ObjectMeta{Name: rj.Name + "-12345"}) // a name as KubeRay will choose
	}
	if err != nil {
		return job.Permanent(fmt.Errorf("invalid RayJob: %w; ask the administrator of the extractor to correct KUBERAY_CONFIG", err))
	}
	return nil
}

// newCluster returns the Ray cluster of one attempt: a head without CPUs for Ray and a group of equal workers. All mount the same
// parts of the shared volume.
func (c Config) newCluster(a rayjob.Attempt, p Profile, shared []corev1.VolumeMount) *rayv1.RayClusterSpec {
	workers := new(int32(c.workers(a, p))) //nolint:gosec // bounded by MaxWorkers
	group := rayv1.WorkerGroupSpec{
		GroupName: "worker", Replicas: workers, MinReplicas: workers, MaxReplicas: workers,
		RayStartParams: c.startParams(cpus(p.Machine)), Template: c.newPod(a, p, p.Machine, shared),
	}
	warm(a, &group.Template, "worker")
	spec := &rayv1.RayClusterSpec{
		RayVersion:    c.RayVersion,
		AuthOptions:   &rayv1.AuthOptions{Mode: rayv1.AuthModeToken, SecretName: new(a.Name())},
		HeadGroupSpec: rayv1.HeadGroupSpec{RayStartParams: c.headParams(0), Template: c.newPod(a, p, c.Head, shared)},
	}
	warm(a, &spec.HeadGroupSpec.Template, "driver")
	if p.MinWorkers != nil {
		group.MinReplicas = new(min(int32(*p.MinWorkers), *workers)) //nolint:gosec // bounded by MaxWorkers
		group.Replicas = group.MinReplicas
		c.scale(spec, &group, p)
	}
	spec.WorkerGroupSpecs = []rayv1.WorkerGroupSpec{group}
	return spec
}

// scale lets Ray's autoscaler start the workers that the run asks for and remove idle ones. It runs in the head's pod and calls the API
// server with access rights that KubeRay creates for it.
func (c Config) scale(spec *rayv1.RayClusterSpec, group *rayv1.WorkerGroupSpec, p Profile) {
	spec.EnableInTreeAutoscaling = new(true)
	spec.AutoscalerOptions = &rayv1.AutoscalerOptions{
		Version: new(rayv1.AutoscalerVersionV2), SecurityContext: containerSecurity(),
		IdleTimeoutSeconds: new(int32(p.IdleSeconds)), //nolint:gosec // a number of seconds
		Env:                []corev1.EnvVar{{Name: "HOME", Value: scratchDir}, {Name: "USER", Value: rayName}, {Name: "LOGNAME", Value: rayName}},
		VolumeMounts:       []corev1.VolumeMount{{Name: "scratch", MountPath: scratchDir}},
	}
	head := &spec.HeadGroupSpec.Template.Spec
	head.AutomountServiceAccountToken, head.ServiceAccountName = new(true), ""
	head.RestartPolicy, group.Template.Spec.RestartPolicy = corev1.RestartPolicyNever, corev1.RestartPolicyNever
}

// startParams keeps the object store within /dev/shm. By default Ray uses a share of the memory, which may be more. Nobody reads what Ray's
// log monitor sends: the trainer writes the logs of its workers itself.
func (c Config) startParams(cpus int) map[string]string {
	return map[string]string{
		"num-cpus": strconv.Itoa(cpus), "object-store-memory": strconv.FormatInt(c.SharedMemory.Value()/10*8, 10),
		"include-log-monitor": "0", // KubeRay leaves out what is "false"
	}
}

// headParams leave out what would start machines, since the cluster has all of its own.
func (c Config) headParams(cpus int) map[string]string {
	params := c.startParams(cpus)
	params["no-monitor"] = "true"
	return params
}

func (c Config) workers(a rayjob.Attempt, p Profile) int {
	if a.Resources.Workers > 0 {
		return a.Resources.Workers
	}
	return p.Workers
}

// cpus returns whole CPUs for Ray, at least one: a worker without a CPU gets no work.
func cpus(m Machine) int { return max(1, int(math.Ceil(m.CPU.AsApproximateFloat64()))) }

func (c Config) labels(a rayjob.Attempt) map[string]string {
	labels := map[string]string{labelManager: manager, labelInstance: c.Instance, labelRun: a.Run, labelAttempt: strconv.Itoa(a.Number)}
	if c.Owner != "" {
		labels[labelOwner] = c.Owner
	}
	return labels
}

// selector matches the objects of this instance. An empty owner also matches objects that an earlier job store created.
func (c Config) selector(owner string) string {
	s := labelManager + "=" + manager + "," + labelInstance + "=" + c.Instance
	if owner != "" {
		s += "," + labelOwner + "=" + owner
	}
	return s
}

// annotations show the caller's metadata to people who inspect the cluster.
func annotations(a rayjob.Attempt) map[string]string {
	notes := map[string]string{}
	for key, value := range a.Metadata {
		notes[domain+"/"+key] = rayjob.OneLine(value, rayjob.MaxReason)
	}
	return notes
}

func seconds(d time.Duration) *int32 {
	return new(int32(min(math.MaxInt32, max(1, math.Ceil(d.Seconds())))))
}
