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

// Labels of everything that belongs to a run. They are not those that Ray shows beside a job: Kubernetes wants a domain.
const (
	labelManager  = "app.kubernetes.io/managed-by"
	labelInstance = "app.kubernetes.io/instance"
	labelRun      = domain + "/run"
	labelAttempt  = domain + "/attempt"
	labelOwner    = domain + "/owner"

	domain  = "clowder-ray.ncsa.illinois.edu"
	manager = "clowder-ray"
)

// spare is how much later than the service KubeRay gives up a run, so that it does so only where the service is not there.
const spare = 15 * time.Minute

// keptSeconds is how long a finished cluster stays where nobody releases it: long enough to look at its logs.
const keptSeconds = 60

// newRayJob describes the attempt to KubeRay. Nothing in it is text of a user but annotations and Ray's metadata.
func (c Config) newRayJob(a rayjob.Attempt, p Profile) (*rayv1.RayJob, error) {
	env, err := json.Marshal(map[string]any{"env_vars": a.Environment()})
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
		rj.Spec.ShutdownAfterJobFinishes, rj.Spec.TTLSecondsAfterFinished = true, keptSeconds
	}
	return rj, check(rj)
}

// check applies KubeRay's own rules. The API server accepts anything, and the operator would refuse it later and for good.
func check(rj *rayv1.RayJob) error {
	err := utils.ValidateRayJobMetadata(rj.ObjectMeta)
	if err == nil {
		err = utils.ValidateRayJobSpec(rj)
	}
	if err == nil && rj.Spec.RayClusterSpec != nil {
		err = utils.ValidateRayClusterMetadata(metav1.ObjectMeta{Name: rj.Name + "-12345"}) // the name that the operator will choose
	}
	if err != nil {
		return job.Permanent(fmt.Errorf("KubeRay would refuse the training, ask the operator of the extractor to mend KUBERAY_CONFIG: %w", err))
	}
	return nil
}

// newCluster is the Ray cluster of one attempt: a head without CPUs for Ray and a group of equal workers, which all see the same of
// the shared volume.
func (c Config) newCluster(a rayjob.Attempt, p Profile, shared []corev1.VolumeMount) *rayv1.RayClusterSpec {
	workers := new(int32(c.workers(a, p))) //nolint:gosec // bounded by MaxWorkers
	group := rayv1.WorkerGroupSpec{
		GroupName: "worker", Replicas: workers, MinReplicas: workers, MaxReplicas: workers,
		RayStartParams: c.startParams(cpus(p.Machine)), Template: c.newPod(a, p, p.Machine, shared),
	}
	spec := &rayv1.RayClusterSpec{
		RayVersion:    c.RayVersion,
		AuthOptions:   &rayv1.AuthOptions{Mode: rayv1.AuthModeToken, SecretName: new(a.Name())},
		HeadGroupSpec: rayv1.HeadGroupSpec{RayStartParams: c.startParams(0), Template: c.newPod(a, p, c.Head, shared)},
	}
	if p.MinWorkers != nil {
		group.MinReplicas = new(min(int32(*p.MinWorkers), *workers)) //nolint:gosec // bounded by MaxWorkers
		c.scale(spec, &group)
	}
	spec.WorkerGroupSpecs = []rayv1.WorkerGroupSpec{group}
	return spec
}

// scale lets Ray's autoscaler take idle workers away. It runs beside the head and talks to the API server, with rights that
// KubeRay makes for it.
func (c Config) scale(spec *rayv1.RayClusterSpec, group *rayv1.WorkerGroupSpec) {
	spec.EnableInTreeAutoscaling = new(true)
	spec.AutoscalerOptions = &rayv1.AutoscalerOptions{
		Version: new(rayv1.AutoscalerVersionV2), SecurityContext: containerSecurity(),
		Env:          []corev1.EnvVar{{Name: "HOME", Value: scratchDir}, {Name: "USER", Value: rayName}, {Name: "LOGNAME", Value: rayName}},
		VolumeMounts: []corev1.VolumeMount{{Name: "scratch", MountPath: scratchDir}},
	}
	head := &spec.HeadGroupSpec.Template.Spec
	head.AutomountServiceAccountToken, head.ServiceAccountName = new(true), ""
	head.RestartPolicy, group.Template.Spec.RestartPolicy = corev1.RestartPolicyNever, corev1.RestartPolicyNever
}

// startParams keeps the object store within /dev/shm. Ray by itself takes a share of the memory, which may be more.
func (c Config) startParams(cpus int) map[string]string {
	return map[string]string{"num-cpus": strconv.Itoa(cpus), "object-store-memory": strconv.FormatInt(c.SharedMemory.Value()/10*8, 10)}
}

func (c Config) workers(a rayjob.Attempt, p Profile) int {
	if a.Resources.Workers > 0 {
		return a.Resources.Workers
	}
	return p.Workers
}

// cpus are whole ones for Ray, at least one: a worker without a CPU gets no work.
func cpus(m Machine) int { return max(1, int(math.Ceil(m.CPU.AsApproximateFloat64()))) }

func (c Config) labels(a rayjob.Attempt) map[string]string {
	labels := map[string]string{labelManager: manager, labelInstance: c.Instance, labelRun: a.Run, labelAttempt: strconv.Itoa(a.Number)}
	if c.Owner != "" {
		labels[labelOwner] = c.Owner
	}
	return labels
}

// selector finds what labels mark; what an earlier store made is among it, unless the owner is asked for.
func (c Config) selector(owner string) string {
	s := labelManager + "=" + manager + "," + labelInstance + "=" + c.Instance
	if owner != "" {
		s += "," + labelOwner + "=" + owner
	}
	return s
}

// annotations carry what the caller tells of the attempt, for people who look at the cluster.
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
