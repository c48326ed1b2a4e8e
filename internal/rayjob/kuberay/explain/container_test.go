package explain

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

func TestHeldUpContainers(t *testing.T) {
	t.Parallel()
	const (
		backoff = `Back-off pulling image "clowder-ray/ray:0.1.0": ErrImagePull: `
		pull    = `failed to pull and unpack image "registry.example.org/clowder-ray/ray:0.1.0": `
	)
	crash := waits("CrashLoopBackOff", "back-off 40s restarting failed container=ray pod=x_research(1)")
	last := func(t corev1.ContainerStateTerminated) change {
		return func(p *corev1.Pod) {
			crash(p)
			ended(time.Minute, t)(p)
		}
	}
	for name, tc := range map[string]struct {
		pod  change
		want string
	}{
		"a missing image": {
			waits("ImagePullBackOff", backoff+`rpc error: code = NotFound desc = `+pull+`failed to resolve reference: not found`),
			"the image clowder-ray/ray:0.1.0 does not exist" + toAdministrator + " to correct the image name",
		},
		"a missing image, told by the init container": {
			initWaits("ErrImagePull", `rpc error: code = NotFound desc = `+pull+`not found`),
			"the image clowder-ray/ray:0.1.0 does not exist" + toAdministrator + " to correct the image name",
		},
		"a private image": {
			waits("ErrImagePull", pull+"failed to authorize: failed to fetch anonymous token: unexpected status: 401 Unauthorized"),
			"the registry denies access to the image clowder-ray/ray:0.1.0" + toAdministrator + " to configure a pull secret or to correct the image name",
		},
		"a private image that is called missing": {
			waits("ErrImagePull", "pull access denied, repository does not exist or may require authorization: insufficient_scope: authorization failed"),
			"the registry denies access to the image clowder-ray/ray:0.1.0" + toAdministrator + " to configure a pull secret or to correct the image name",
		},
		"a registry out of reach": {
			waits("ErrImagePull", pull+"dial tcp: lookup registry.example.org: no such host"),
			"the image clowder-ray/ray:0.1.0 cannot be pulled (no such host)" + toAdministrator + " if this lasts",
		},
		"an image for no reason": {
			waits("ImagePullBackOff", `Back-off pulling image "x"`),
			`the image clowder-ray/ray:0.1.0 cannot be pulled (Back-off pulling image "x")` + toAdministrator + " if this lasts",
		},
		"a Secret that is gone": {
			waits("CreateContainerConfigError", `secret "ft-abc-a1" not found`),
			`its container cannot start (CreateContainerConfigError: secret "ft-abc-a1" not found)` + toAdministrator,
		},
		"a reason that is new": {
			waits("RunContainerError", "exec: no such file"),
			"its container cannot start (RunContainerError: exec: no such file)" + toAdministrator,
		},
		"crashes for want of memory": {
			last(corev1.ContainerStateTerminated{Reason: "OOMKilled", ExitCode: 1}),
			"out of memory (its limit is 4 GiB); choose a profile with more memory, or a smaller batch_size",
		},
		"kills without a reason": {
			last(corev1.ContainerStateTerminated{Reason: "Error", ExitCode: 137}),
			"it is killed repeatedly, probably because it runs out of memory; choose a profile with more memory, or a smaller batch_size",
		},
		"crashes with a last word": {
			last(corev1.ContainerStateTerminated{Reason: "Error", ExitCode: 1, Message: "Traceback (most recent call last):\n  File \"x\"\nOSError: " +
				"Read-only file system: '/tmp/ray'\n"}),
			"it exits repeatedly with exit code 1 (OSError: Read-only file system: '/tmp/ray')" + toAdministrator + " to check the log of the pod " +
				"ft-abc-a1-x2x4z-worker-worker-00001",
		},
		"crashes without a word": {
			crash,
			"it exits as soon as it starts" + toAdministrator + " to check the log of the pod ft-abc-a1-x2x4z-worker-worker-00001",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, "waiting for the worker: "+tc.want, newSnapshot(1, head(up), worker(1, tc.pod)).Waiting())
		})
	}
}

// An older kubelet says in the status only that it waits before the next try.
func TestReasonOfAPullInAnEvent(t *testing.T) {
	t.Parallel()
	s := newSnapshot(0, head(waits("ImagePullBackOff", `Back-off pulling image "clowder-ray/ray:0.1.0"`)))
	s.Events = []corev1.Event{
		event(s.Pods[0].Name, "BackOff", "Back-off pulling image", time.Second),
		event(s.Pods[0].Name, "Failed", "Error: ErrImagePull", time.Hour),
		event(s.Pods[0].Name, "Failed", `Failed to pull image "clowder-ray/ray:0.1.0": rpc error: code = Unknown desc = unauthorized`, time.Minute),
	}
	require.Contains(t, s.Waiting(), "the registry denies access to the image")
}

func TestUnpreparedPods(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason, message string
		want            string
	}{
		"a server that does not answer": {
			"FailedMount", "MountVolume.SetUp failed for volume \"pvc-1\" : mount failed: exit status 32\nOutput: mount.nfs: Connection timed out",
			"its node cannot prepare it (FailedMount: Connection timed out)" + toAdministrator + " if this lasts",
		},
		"a Secret that is gone": {
			"FailedMount", `MountVolume.SetUp failed for volume "token" : secret "ft-abc-a1" not found`,
			`its node cannot prepare it (FailedMount: secret "ft-abc-a1" not found)` + toAdministrator + " if this lasts",
		},
		"a machine that fails": {
			"FailedCreatePodSandBox", "Failed to create pod sandbox: rpc error: desc = boom",
			"its node cannot prepare it (FailedCreatePodSandBox: desc = boom)" + toAdministrator + " if this lasts",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSnapshot(1, head(up), worker(1, waits("ContainerCreating", "")))
			s.Events = []corev1.Event{event(s.Pods[1].Name, tc.reason, tc.message, time.Minute)}
			require.Equal(t, "waiting for the worker: "+tc.want, s.Waiting())
			s.Events = append(s.Events, event(s.Pods[1].Name, "Pulling", "Pulling image", time.Second))
			require.Equal(t, "starting 1 head and 1 worker: pulling the image; 1 of 2 is ready", s.Waiting(), "what came after shows that the problem is gone")
			s.Events = []corev1.Event{event(s.Pods[1].Name, tc.reason, tc.message, time.Hour)}
			require.Equal(t, "starting 1 head and 1 worker; 1 of 2 is ready", s.Waiting(), "the kubelet would have said it again")
		})
	}
	s := newSnapshot(0, head(waits("ContainerCreating", "")))
	s.Events = []corev1.Event{event(s.Pods[0].Name, "FailedMount", `MountVolume.SetUp failed for volume "ca" : object `+
		`"research"/"kube-root-ca.crt" not registered`, time.Second)}
	require.Equal(t, "starting the pod", s.Waiting(), "the kubelet catches up by itself")
}
