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
	// rayUser is the default uid of the pods. It differs from the uid of the service, so that no pod can change the service's own
	// files, such as cached files that several runs link.
	rayUser = 1001
	// rayGroup is the gid of the pods and of the service, so that both can write into a run folder.
	rayGroup = 1000
	// rayName is the user name in the pods for libraries that need one, since the image may not know the uid.
	rayName = "ray"
	// scratchDir is the only writable folder of a pod besides the volumes.
	scratchDir = "/tmp"
	// agentPort is the port of Ray's health check.
	agentPort = 52365
	// podGraceSeconds is how long a pod has to end. A training saves its checkpoint before its pods are deleted, and a
	// replacement waits for the old pod.
	podGraceSeconds = 10
)

// newPod returns the template of a head or a worker. It meets the Pod Security level restricted.
func (c Config) newPod(a rayjob.Attempt, p Profile, m Machine, shared []corev1.VolumeMount) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: c.labels(a), Annotations: annotations(a)},
		Spec: corev1.PodSpec{
			ServiceAccountName: c.ServiceAccount, AutomountServiceAccountToken: new(false), EnableServiceLinks: new(false),
			TerminationGracePeriodSeconds: ptr.To[int64](podGraceSeconds),
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot: new(true), RunAsUser: c.User, RunAsGroup: ptr.To[int64](rayGroup), FSGroup: ptr.To[int64](rayGroup),
				FSGroupChangePolicy: new(corev1.FSGroupChangeOnRootMismatch), // a shared volume has very many files
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
		Args:                     []string{"umask", "002"},                       // KubeRay appends its own command; the group can write what Ray creates
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError, // the end of Ray's log says why it ended
		Env: []corev1.EnvVar{
			{Name: "HOME", Value: scratchDir}, // caches of libraries
			{Name: "USER", Value: rayName},
			{Name: "LOGNAME", Value: rayName},
			{Name: "RAY_USAGE_STATS_ENABLED", Value: "0"},
			{Name: "RAY_IMAGE", Value: c.Image}, // for the manifest of a run
		},
		Resources: resources(m),
		// KubeRay's own probe starts only after ten seconds.
		ReadinessProbe: &corev1.Probe{
			ProbeHandler:        corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/api/healthz", Port: intstr.FromInt32(agentPort)}},
			InitialDelaySeconds: 1, PeriodSeconds: 1, TimeoutSeconds: 5, FailureThreshold: 60,
		},
		VolumeMounts: append(slices.Clone(shared),
			corev1.VolumeMount{Name: "scratch", MountPath: scratchDir}, corev1.VolumeMount{Name: "memory", MountPath: "/dev/shm"}),
	}
}

// resources requests the whole size of the machine, and limits what cannot be shared.
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

// tolerations returns the configured tolerations and, for a machine with GPUs, one for the taint of GPU nodes.
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
