package kuberay

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/ncsa/clowder-ray/internal/rayjob"
)

const (
	// rayUser is the uid of the pods unless the operator sets another one. It is not the service's: what the service keeps to
	// itself, such as the bodies that several runs link, no pod can change.
	rayUser = 1001
	// rayGroup is the gid of the pods and of the service: through it both write into a run folder.
	rayGroup = 1000
	// rayName is what the user of the pods is called, for libraries that ask: an image need not know its uid.
	rayName = "ray"
	// scratchDir is the one place besides the volumes where a pod can write.
	scratchDir = "/tmp"
	// agentPort is where Ray tells its health.
	agentPort = 52365
	// podGraceSeconds is what a pod gets to end. A training that is stopped saves itself before its pods are asked to go,
	// and a pod that is replaced is waited for.
	podGraceSeconds = 10
)

// newPod is the template of a head or a worker. It passes the Pod Security level restricted.
func (c Config) newPod(a rayjob.Attempt, p Profile, m Machine, shared []corev1.VolumeMount) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: c.labels(a), Annotations: annotations(a)},
		Spec: corev1.PodSpec{
			ServiceAccountName: c.ServiceAccount, AutomountServiceAccountToken: new(false), EnableServiceLinks: new(false),
			TerminationGracePeriodSeconds: ptr.To[int64](podGraceSeconds),
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot: new(true), RunAsUser: c.User, RunAsGroup: ptr.To[int64](rayGroup), FSGroup: ptr.To[int64](rayGroup),
				FSGroupChangePolicy: new(corev1.FSGroupChangeOnRootMismatch), // a shared volume holds very many files
				SeccompProfile:      &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			NodeSelector: maps.Clone(m.NodeSelector), Tolerations: tolerations(m),
			PriorityClassName: p.PriorityClass, RuntimeClassName: optional(c.RuntimeClass), ImagePullSecrets: c.pullSecrets(),
			Containers: []corev1.Container{c.newContainer(m, shared)},
			Volumes: []corev1.Volume{
				{Name: sharedVolume, VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: c.Claim}}},
				{Name: "scratch", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: new(c.Scratch)}}},
				{Name: "memory", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{
					Medium: corev1.StorageMediumMemory, SizeLimit: new(c.SharedMemory),
				}}},
			},
		},
	}
}

func (c Config) newContainer(m Machine, shared []corev1.VolumeMount) corev1.Container {
	return corev1.Container{
		Name: "ray", Image: c.Image, ImagePullPolicy: corev1.PullIfNotPresent,
		SecurityContext:          containerSecurity(),
		Args:                     []string{"umask", "002"},                       // KubeRay puts its own command behind it: what Ray writes is open to the group
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError, // Ray's last words say why it ended
		Env: []corev1.EnvVar{
			{Name: "HOME", Value: scratchDir}, // caches of libraries
			{Name: "USER", Value: rayName},
			{Name: "LOGNAME", Value: rayName},
			{Name: "RAY_USAGE_STATS_ENABLED", Value: "0"},
			{Name: "RAY_IMAGE", Value: c.Image}, // for the manifest of a run
		},
		Resources: resources(m),
		// KubeRay's own probe first looks after ten seconds.
		ReadinessProbe: &corev1.Probe{
			ProbeHandler:        corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/api/healthz", Port: intstr.FromInt32(agentPort)}},
			InitialDelaySeconds: 1, PeriodSeconds: 1, TimeoutSeconds: 5, FailureThreshold: 60,
		},
		VolumeMounts: append(slices.Clone(shared),
			corev1.VolumeMount{Name: "scratch", MountPath: scratchDir}, corev1.VolumeMount{Name: "memory", MountPath: "/dev/shm"}),
	}
}

// resources asks for all that the machine has, and limits what cannot be shared.
func resources(m Machine) corev1.ResourceRequirements {
	r := corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: m.CPU, corev1.ResourceMemory: m.Memory},
		Limits:   corev1.ResourceList{corev1.ResourceMemory: m.Memory},
	}
	if m.GPU > 0 {
		gpus := *resource.NewQuantity(int64(m.GPU), resource.DecimalSI)
		r.Requests[corev1.ResourceName(m.GPUResource)], r.Limits[corev1.ResourceName(m.GPUResource)] = gpus, gpus
	}
	return r
}

// tolerations are the operator's, and for a machine with GPUs the one that keeps others off such nodes.
func tolerations(m Machine) []corev1.Toleration {
	all := slices.Clone(m.Tolerations)
	if m.GPU > 0 {
		all = append(all, corev1.Toleration{Key: m.GPUResource, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule})
	}
	return all
}

func containerSecurity() *corev1.SecurityContext {
	return &corev1.SecurityContext{
		AllowPrivilegeEscalation: new(false), ReadOnlyRootFilesystem: new(true), Privileged: new(false),
		Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
}

func (c Config) pullSecrets() (refs []corev1.LocalObjectReference) {
	for _, name := range c.PullSecrets {
		refs = append(refs, corev1.LocalObjectReference{Name: name})
	}
	return refs
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
