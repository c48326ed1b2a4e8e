package explain

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/ncsa/clowder-ray/internal/rayjob"
)

// containers returns all containers of a pod in the order in which they start. While an init container waits, the others
// report only PodInitializing.
func containers(p *corev1.Pod) []corev1.ContainerStatus {
	return slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses)
}

// blockedContainer explains what keeps a container of a pod from starting.
func (s Snapshot) blockedContainer(p *corev1.Pod) Diagnosis {
	for _, c := range containers(p) {
		if c.State.Waiting == nil {
			continue
		}
		if f := s.waitingContainer(p, c); f.Cause != "" {
			return f
		}
	}
	return Diagnosis{}
}

// waitingContainer words the kubelet's reason why a container waits. A reason without a case is shown as it is.
func (s Snapshot) waitingContainer(p *corev1.Pod, c corev1.ContainerStatus) Diagnosis {
	w := c.State.Waiting
	switch w.Reason {
	case "", "ContainerCreating", "PodInitializing":
		return Diagnosis{}
	case "ImagePullBackOff", "ErrImagePull", "RegistryUnavailable":
		return imagePullFailure(c.Image, cmp.Or(s.pullError(p), w.Message))
	case "CrashLoopBackOff":
		return crashLoop(p, c)
	default:
		return Diagnosis{"its container cannot start" + reported(w.Reason, w.Message), askAdministrator}
	}
}

// pullError returns the error of the last image pull. Older kubelets report it only in an event.
func (s Snapshot) pullError(p *corev1.Pod) string {
	if e := s.latestEvent(p.Name, "Failed", "Pulled"); e != nil && strings.HasPrefix(e.Message, "Failed to pull image") {
		return e.Message
	}
	return ""
}

// What registries say of an image.
var (
	imageUnknown   = regexp.MustCompile(`(?i)not found|manifest unknown|notfound|does not exist`)
	imageForbidden = regexp.MustCompile(`(?i)unauthorized|forbidden|denied|authentication|authorization failed|no basic auth`)
)

// imagePullFailure words why an image cannot be pulled. A registry that denies access often calls the image missing as well,
// so the denial is checked first.
func imagePullFailure(image, message string) Diagnosis {
	image = detail(image)
	switch {
	case imageForbidden.MatchString(message):
		return Diagnosis{"the registry denies access to the image " + image, askAdministrator + " to configure a pull secret or to correct the image name"}
	case imageUnknown.MatchString(message):
		return Diagnosis{"the image " + image + " does not exist", askAdministrator + " to correct the image name"}
	default:
		return Diagnosis{"the image " + image + " cannot be pulled" + inParentheses(lastCause(message)), askAdministrator + " if this lasts"}
	}
}

// nodeSetup explains what keeps a node from preparing a pod that is assigned to it: a volume, a Secret or the network. Only
// events show it.
func (s Snapshot) nodeSetup(p *corev1.Pod) Diagnosis {
	e := s.recentEvent(p.Name, "FailedMount", "FailedAttachVolume", "FailedMapVolume", "FailedCreatePodSandBox", "SuccessfulMountVolume", "Pulling", "Pulled", "Started")
	if e == nil || !strings.HasPrefix(e.Reason, "Failed") || strings.Contains(e.Message, "not registered") { // the kubelet's cache is not up to date yet
		return Diagnosis{}
	}
	return Diagnosis{"its node cannot prepare it" + reported(e.Reason, lastCause(e.Message)), askAdministrator + " if this lasts"}
}

// crashLoop words why a container exits repeatedly. lossOf has already handled a container that the kernel killed.
func crashLoop(p *corev1.Pod, c corev1.ContainerStatus) Diagnosis {
	t := c.LastTerminationState.Terminated
	if t == nil {
		return Diagnosis{"it exits as soon as it starts", askAdministrator + " to check the log of the pod " + detail(p.Name)}
	}
	if t.ExitCode == 137 || t.Signal == 9 {
		f := outOfMemory(p, c)
		f.Cause = "it is killed repeatedly, probably because it runs out of memory"
		return f
	}
	text := fmt.Sprintf("it exits repeatedly with exit code %d", t.ExitCode)
	return Diagnosis{text + inParentheses(rayjob.LastError(t.Message)), askAdministrator + " to check the log of the pod " + detail(p.Name)}
}
