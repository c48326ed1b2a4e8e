package explain

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

func TestRefusals(t *testing.T) {
	t.Parallel()
	const (
		event = "Failed to create worker Pod for the cluster research/ft-abc-a1-x2x4z, "
		pods  = event + `pods "ft-abc-a1-x2x4z-worker-worker-00001" is forbidden: `
	)
	for name, tc := range map[string]struct{ message, want string }{
		"a full quota": {
			pods + "exceeded quota: team, requested: limits.memory=4Gi,requests.cpu=2, used: limits.memory=6Gi,requests.cpu=7, limited: " +
				"limits.memory=8Gi,requests.cpu=8",
			`the quota "team" has no room for 4 GiB of memory (6 GiB of 8 GiB are in use); ` +
				`wait until other work ends, ` + orAdministrator + ` for a larger quota`,
		},
		"a small quota": {
			pods + "exceeded quota: team, requested: requests.nvidia.com/gpu=2, used: requests.nvidia.com/gpu=0, limited: requests.nvidia.com/gpu=1",
			`one pod requests 2 GPUs, but the quota "team" allows only 1 in total; choose a smaller profile, ` + orAdministrator + ` for a larger quota`,
		},
		"a quota in other words": {
			pods + "exceeded quota: team, requested: cpu=x, used: cpu=1, limited: cpu=1",
			`the quota "team" is used up; choose a smaller profile, ` + orAdministrator + ` for a larger quota`,
		},
		"Pod Security": {
			pods + `violates PodSecurity "restricted:latest": runAsNonRoot != true`,
			`Kubernetes rejected the Ray cluster of the training (violates PodSecurity "restricted:latest": runAsNonRoot != true)` + toAdministrator,
		},
		"a webhook": {
			event + `admission webhook "images.example.org" denied the request: only signed images`,
			`Kubernetes rejected the Ray cluster of the training (admission webhook "images.example.org" denied the request: only signed images)` + toAdministrator,
		},
		"something new": {pods + "not on Sundays", "Kubernetes rejected the Ray cluster of the training (not on Sundays)" + toAdministrator},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, admissionRefusal(tc.message).String())
		})
	}
}

func TestRefusalThatIsHistory(t *testing.T) {
	t.Parallel()
	s := newSnapshot(1, head(up))
	refused := event(s.Cluster.Name, "FailedToCreateWorkerPod", "not on Sundays", time.Minute)
	s.Events = []corev1.Event{refused}
	require.Contains(t, s.Waiting(), "not on Sundays")
	s.Events = []corev1.Event{refused, event(s.Cluster.Name, "CreatedWorkerPod", "Created worker Pod", time.Second)}
	require.Equal(t, "starting 1 head and 1 worker; 1 of 2 is ready", s.Waiting(), "a pod was made since")
	s.Events, s.Pods = []corev1.Event{refused}, []*corev1.Pod{head(up), worker(1, waits("ContainerCreating", ""))}
	require.Equal(t, "starting 1 head and 1 worker; 1 of 2 is ready", s.Waiting(), "all the pods are there")
}
