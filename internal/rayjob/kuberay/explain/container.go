package explain

import (
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

// waitingContainer words the kubelet's reason why a container waits. It is the only table of these reasons; an unknown one is
// shown as it is.
func (s Snapshot) waitingContainer(p *corev1.Pod, c corev1.ContainerStatus) Diagnosis {
	w := c.State.Waiting
	switch w.Reason {
	case "", "ContainerCreating", "PodInitializing":
		return Diagnosis{}
	case "ImagePullBackOff", "ErrImagePull", "RegistryUnavailable":
		return imagePullFailure(c.Image, w.Message+" "+s.pullError(p))
	case "InvalidImageName":
		return Diagnosis{fmt.Sprintf("%q is not a valid image name", detail(c.Image)), askAdministrator + " to correct it"}
	case "ErrImageNeverPull":
		return Diagnosis{fmt.Sprintf("the image %s is not on the node, and the pull policy forbids pulling it", detail(c.Image)), askAdministrator}
	case "SignatureValidationFailed":
		return Diagnosis{fmt.Sprintf("the signature of the image %s is not valid", detail(c.Image)), askAdministrator}
	case "CrashLoopBackOff":
		return crashLoop(p, c)
	case "CreateContainerConfigError":
		return misconfigured(w.Message)
	default:
		return Diagnosis{"its container cannot start" + inParentheses(w.Reason+": "+w.Message), askAdministrator}
	}
}

// pullError returns the error of the last image pull. Older kubelets report it only in an event.
func (s Snapshot) pullError(p *corev1.Pod) string {
	if e := s.latestEvent(p.Name, "Failed", "Pulled"); e != nil && strings.HasPrefix(e.Message, "Failed to pull image") {
		return e.Message
	}
	return ""
}

// The messages of container runtimes, registries and the kubelet about containers that cannot start.
var (
	imageUnknown        = regexp.MustCompile(`(?i)not found|manifest unknown|notfound|does not exist`)
	imageForbidden      = regexp.MustCompile(`(?i)unauthorized|forbidden|denied|authentication|authorization failed|no basic auth`)
	registryThrottles   = regexp.MustCompile(`(?i)toomanyrequests|too many requests|rate limit`)
	registryUnreachable = regexp.MustCompile(`(?i)no such host|time(d )?out|refused|deadline|unreachable|tls|x509|EOF|server misbehaving|reset by peer`)
	nodeDiskFull        = regexp.MustCompile(`(?i)no space left`)
	otherPlatform       = regexp.MustCompile(`(?i)no match for platform|no matching manifest`)
	secretMissing       = regexp.MustCompile(`(?:secret|configmap) "([^"]+)" not found`)
	secretIncomplete    = regexp.MustCompile(`couldn't find key (\S+) in (?:Secret|ConfigMap) (\S+)`)
)

// imagePullFailure words why an image cannot be pulled. A registry that denies access often calls the image missing as well,
// so the denial is checked first.
func imagePullFailure(image, message string) Diagnosis {
	image = detail(image)
	switch {
	case nodeDiskFull.MatchString(message):
		return Diagnosis{"the disk of its node is full, so the image cannot be pulled", askAdministrator + " to free disk space"}
	case registryThrottles.MatchString(message):
		return Diagnosis{"the registry of the image " + image + " is limiting the request rate", askAdministrator + " if this lasts"}
	case imageForbidden.MatchString(message):
		return Diagnosis{"the registry denies access to the image " + image, askAdministrator + " to configure a pull secret or to correct the image name"}
	case imageUnknown.MatchString(message):
		return Diagnosis{"the image " + image + " does not exist", askAdministrator + " to correct the image name"}
	case otherPlatform.MatchString(message):
		return Diagnosis{"the image " + image + " is not built for the processor architecture of its node", askAdministrator + " to choose another image or other nodes"}
	case registryUnreachable.MatchString(message):
		return Diagnosis{"the registry of the image " + image + " cannot be reached", askAdministrator + " if this lasts"}
	default:
		return Diagnosis{"the image " + image + " cannot be pulled", askAdministrator}
	}
}

// misconfigured words what the kubelet rejects in the configuration of a container.
func misconfigured(message string) Diagnosis {
	if m := secretMissing.FindStringSubmatch(message); m != nil {
		return Diagnosis{fmt.Sprintf("the Secret %q does not exist", detail(m[1])), "submit again, or " + askAdministrator}
	}
	if m := secretIncomplete.FindStringSubmatch(message); m != nil {
		return Diagnosis{fmt.Sprintf("the Secret %q has no key %s", detail(m[2]), detail(m[1])), askAdministrator}
	}
	switch {
	case strings.Contains(message, "non-numeric user"), strings.Contains(message, "run as root"):
		return Diagnosis{"the image does not set a numeric user other than root", askAdministrator + " to set one in the image"}
	case strings.Contains(message, "timed out waiting"): // of the kubelet's cache; the kubelet retries
		return Diagnosis{Cause: "its node is slow to fetch the configuration of the pod"}
	default:
		return Diagnosis{"its container cannot be created" + inParentheses(message), askAdministrator}
	}
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
