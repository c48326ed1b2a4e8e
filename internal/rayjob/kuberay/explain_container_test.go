package kuberay

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
			"the image clowder-ray/ray:0.1.0 does not exist" + toOperator + " to mend its name",
		},
		"a missing image, told by the init container": {
			initWaits("ErrImagePull", `rpc error: code = NotFound desc = `+pull+`not found`),
			"the image clowder-ray/ray:0.1.0 does not exist" + toOperator + " to mend its name",
		},
		"a private image": {
			waits("ErrImagePull", pull+"failed to authorize: failed to fetch anonymous token: unexpected status: 401 Unauthorized"),
			"the registry does not let the cluster pull the image clowder-ray/ray:0.1.0" + toOperator + " to give it a pull secret, or to mend the name",
		},
		"a private image that is called missing": {
			waits("ErrImagePull", "pull access denied, repository does not exist or may require authorization: insufficient_scope: authorization failed"),
			"the registry does not let the cluster pull the image clowder-ray/ray:0.1.0" + toOperator + " to give it a pull secret, or to mend the name",
		},
		"a registry out of reach": {
			waits("ErrImagePull", pull+"dial tcp: lookup registry.example.org: no such host"),
			"the registry of the image clowder-ray/ray:0.1.0 cannot be reached" + toOperator + " if this lasts",
		},
		"a registry with enough": {
			waits("ErrImagePull", pull+"429 Too Many Requests - toomanyrequests: You have reached your pull rate limit"),
			"the registry of the image clowder-ray/ray:0.1.0 gets too many requests" + toOperator + " if this lasts",
		},
		"a full disk": {
			waits("ErrImagePull", pull+"write /var/lib/x: no space left on device"),
			"the disk of its machine is full, so that the image cannot be pulled" + toOperator + " to make room",
		},
		"an image for other processors": {
			waits("ErrImagePull", pull+"no match for platform in manifest"),
			"the image clowder-ray/ray:0.1.0 is not made for the processors of its machine" + toOperator + " to choose other machines or another image",
		},
		"an image for no reason": {
			waits("ImagePullBackOff", `Back-off pulling image "x"`),
			"the image clowder-ray/ray:0.1.0 cannot be pulled" + toOperator,
		},
		"a bad name": {
			waits("InvalidImageName", "couldn't parse image reference"),
			`"clowder-ray/ray:0.1.0" is no name of an image` + toOperator + " to mend it",
		},
		"an image that must be there": {
			waits("ErrImageNeverPull", "Container image is not present with pull policy of Never"),
			"the image clowder-ray/ray:0.1.0 is not on the machine, and pulling it is forbidden" + toOperator,
		},
		"a bad signature": {waits("SignatureValidationFailed", "x"), "the signature of the image clowder-ray/ray:0.1.0 is not valid" + toOperator},
		"a Secret that is gone": {
			waits("CreateContainerConfigError", `secret "ft-abc-a1" not found`),
			`the Secret "ft-abc-a1" is gone; submit again, ` + orOperator,
		},
		"a Secret without its key": {
			waits("CreateContainerConfigError", "couldn't find key auth_token in Secret research/ft-abc-a1"),
			`the Secret "research/ft-abc-a1" has no auth_token` + toOperator,
		},
		"a user without a number": {
			waits("CreateContainerConfigError", "container has runAsNonRoot and image has non-numeric user (ray), cannot verify user is non-root"),
			"the image does not say by number that it runs as another user than root" + toOperator + " to mend the image",
		},
		"root": {
			waits("CreateContainerConfigError", "container has runAsNonRoot and image will run as root"),
			"the image does not say by number that it runs as another user than root" + toOperator + " to mend the image",
		},
		"a slow machine": {
			waits("CreateContainerConfigError", "failed to sync secret cache: timed out waiting for the condition"),
			"its machine is slow to fetch what the pod needs",
		},
		"another setting": {waits("CreateContainerConfigError", "cannot join"), "its container cannot be set up (cannot join)" + toOperator},
		"a reason that is new": {
			waits("RunContainerError", "exec: no such file"),
			"its container cannot start (RunContainerError: exec: no such file)" + toOperator,
		},
		"crashes for want of memory": {
			last(corev1.ContainerStateTerminated{Reason: "OOMKilled", ExitCode: 1}),
			"out of memory (its limit is 4 GiB); choose a profile with more memory, or a smaller batch_size",
		},
		"kills without a reason": {
			last(corev1.ContainerStateTerminated{Reason: "Error", ExitCode: 137}),
			"it is killed again and again, most often for want of memory; choose a profile with more memory, or a smaller batch_size",
		},
		"crashes with a last word": {
			last(corev1.ContainerStateTerminated{Reason: "Error", ExitCode: 1, Message: "Traceback (most recent call last):\n  File \"x\"\nOSError: " +
				"Read-only file system: '/tmp/ray'\n"}),
			"it ends again and again with exit code 1 (OSError: Read-only file system: '/tmp/ray')" + toOperator + " to look at the log of the pod " +
				"ft-abc-a1-x2x4z-worker-worker-00001",
		},
		"crashes without a word": {
			crash,
			"it ends as soon as it is started" + toOperator + " to look at the log of the pod ft-abc-a1-x2x4z-worker-worker-00001",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, "waiting for the worker: "+tc.want, newScene(1, head(up), worker(1, tc.pod)).waiting())
		})
	}
}

// An older kubelet says in the status only that it waits before the next try.
func TestReasonOfAPullInAnEvent(t *testing.T) {
	t.Parallel()
	s := newScene(0, head(waits("ImagePullBackOff", `Back-off pulling image "clowder-ray/ray:0.1.0"`)))
	s.events = []corev1.Event{
		event(s.pods[0].Name, "BackOff", "Back-off pulling image", time.Second),
		event(s.pods[0].Name, "Failed", "Error: ErrImagePull", time.Hour),
		event(s.pods[0].Name, "Failed", `Failed to pull image "clowder-ray/ray:0.1.0": rpc error: code = Unknown desc = unauthorized`, time.Minute),
	}
	require.Contains(t, s.waiting(), "the registry does not let the cluster pull the image")
}

func TestUnpreparedPods(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason, message string
		want            string
	}{
		"a server that does not answer": {
			"FailedMount", "MountVolume.SetUp failed for volume \"pvc-1\" : mount failed: exit status 32\nOutput: mount.nfs: Connection timed out",
			`the volume "pvc-1" cannot be mounted (Connection timed out)` + toOperator + " to look at the storage",
		},
		"a timeout": {
			"FailedMount", "Unable to attach or mount volumes: unmounted volumes=[shared], unattached volumes=[], failed to process volumes=[]: " +
				"timed out waiting for the condition",
			`the volume "shared" cannot be mounted (timed out waiting for the condition)` + toOperator + " to look at the storage",
		},
		"a volume for one machine": {
			"FailedAttachVolume", `Multi-Attach error for volume "pvc-1" Volume is already used by pod(s) x`,
			`the volume "pvc-1" can be used on one machine only, and another one has it` + toOperator + " to make it ReadWriteMany",
		},
		"a Secret that is gone": {
			"FailedMount", `MountVolume.SetUp failed for volume "token" : secret "ft-abc-a1" not found`,
			`the Secret "ft-abc-a1" is gone; submit again, ` + orOperator,
		},
		"a runtime that is not there": {
			"FailedCreatePodSandBox", `Failed to create pod sandbox: rpc error: code = Unknown desc = failed to get sandbox runtime: no runtime for ` +
				`"runsc" is configured`,
			`its machine has no runtime for the class "gvisor"` + toOperator + " to install it or to choose other machines",
		},
		"a network that fails": {
			"FailedCreatePodSandBox", `Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "1": ` +
				`plugin type="x" failed (add): no free address`,
			`its machine cannot set up the network (no free address)` + toOperator + " if this lasts",
		},
		"a machine that fails": {
			"FailedCreatePodSandBox", "Failed to create pod sandbox: rpc error: desc = boom",
			"its machine cannot set it up (desc = boom)" + toOperator + " if this lasts",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(1, head(up), worker(1, waits("ContainerCreating", ""), func(p *corev1.Pod) { p.Spec.RuntimeClassName = new("gvisor") }))
			s.events = []corev1.Event{event(s.pods[1].Name, tc.reason, tc.message, time.Minute)}
			require.Equal(t, "waiting for the worker: "+tc.want, s.waiting())
			s.events = append(s.events, event(s.pods[1].Name, "Pulling", "Pulling image", time.Second))
			require.Equal(t, "starting 1 head and 1 worker: pulling the image; 1 of 2 is ready", s.waiting(), "what came after shows that it is mended")
			s.events = []corev1.Event{event(s.pods[1].Name, tc.reason, tc.message, time.Hour)}
			require.Equal(t, "starting 1 head and 1 worker; 1 of 2 is ready", s.waiting(), "the kubelet would have said it again")
		})
	}
	s := newScene(0, head(waits("ContainerCreating", "")))
	s.events = []corev1.Event{event(s.pods[0].Name, "FailedMount", `MountVolume.SetUp failed for volume "ca" : object `+
		`"research"/"kube-root-ca.crt" not registered`, time.Second)}
	require.Equal(t, "starting 1 head and 0 workers", s.waiting(), "the kubelet catches up by itself")
}
