package kuberay

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/ncsa/clowder-ray/internal/rayjob"
)

// containers are all of a pod's in the order in which they start: while one of the first kind is held up, the others say
// nothing but PodInitializing.
func containers(p *corev1.Pod) []corev1.ContainerStatus {
	return slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses)
}

// stuck tells what keeps a container of a pod from starting.
func (s scene) stuck(p *corev1.Pod) fault {
	for _, c := range containers(p) {
		if c.State.Waiting == nil {
			continue
		}
		if f := s.held(p, c); f.what != "" {
			return f
		}
	}
	return fault{}
}

// held words the kubelet's reason why a container waits. It is the one table of those; what is new is shown as it is.
func (s scene) held(p *corev1.Pod, c corev1.ContainerStatus) fault {
	w := c.State.Waiting
	switch w.Reason {
	case "", "ContainerCreating", "PodInitializing":
		return fault{}
	case "ImagePullBackOff", "ErrImagePull", "RegistryUnavailable":
		return noImage(c.Image, w.Message+" "+s.pullError(p))
	case "InvalidImageName":
		return fault{fmt.Sprintf("%q is no name of an image", detail(c.Image)), askOperator + " to mend it"}
	case "ErrImageNeverPull":
		return fault{fmt.Sprintf("the image %s is not on the machine, and pulling it is forbidden", detail(c.Image)), askOperator}
	case "SignatureValidationFailed":
		return fault{fmt.Sprintf("the signature of the image %s is not valid", detail(c.Image)), askOperator}
	case "CrashLoopBackOff":
		return crashing(p, c)
	case "CreateContainerConfigError":
		return misconfigured(w.Message)
	default:
		return fault{"its container cannot start" + bracket(w.Reason+": "+w.Message), askOperator}
	}
}

// pullError is what the last try to pull an image ended with: an older kubelet tells it in an event only.
func (s scene) pullError(p *corev1.Pod) string {
	if e := s.latest(p.Name, "Failed", "Pulled"); e != nil && strings.HasPrefix(e.Message, "Failed to pull image") {
		return e.Message
	}
	return ""
}

// The reasons for which images are not pulled, in the words of container runtimes and registries.
var (
	imageUnknown     = regexp.MustCompile(`(?i)not found|manifest unknown|notfound|does not exist`)
	imageForbidden   = regexp.MustCompile(`(?i)unauthorized|forbidden|denied|authentication|authorization failed|no basic auth`)
	registryLimits   = regexp.MustCompile(`(?i)toomanyrequests|too many requests|rate limit`)
	registryGone     = regexp.MustCompile(`(?i)no such host|time(d )?out|refused|deadline|unreachable|tls|x509|EOF|server misbehaving|reset by peer`)
	machineFull      = regexp.MustCompile(`(?i)no space left`)
	otherPlatform    = regexp.MustCompile(`(?i)no match for platform|no matching manifest`)
	secretMissing    = regexp.MustCompile(`(?:secret|configmap) "([^"]+)" not found`)
	secretIncomplete = regexp.MustCompile(`couldn't find key (\S+) in (?:Secret|ConfigMap) (\S+)`)
)

// noImage words why an image is not there. A registry that refuses a stranger often calls the image missing as well, so the
// refusal is looked for first.
func noImage(image, message string) fault {
	image = detail(image)
	switch {
	case machineFull.MatchString(message):
		return fault{"the disk of its machine is full, so that the image cannot be pulled", askOperator + " to make room"}
	case registryLimits.MatchString(message):
		return fault{"the registry of the image " + image + " gets too many requests", askOperator + " if this lasts"}
	case imageForbidden.MatchString(message):
		return fault{"the registry does not let the cluster pull the image " + image, askOperator + " to give it a pull secret, or to mend the name"}
	case imageUnknown.MatchString(message):
		return fault{"the image " + image + " does not exist", askOperator + " to mend its name"}
	case otherPlatform.MatchString(message):
		return fault{"the image " + image + " is not made for the processors of its machine", askOperator + " to choose other machines or another image"}
	case registryGone.MatchString(message):
		return fault{"the registry of the image " + image + " cannot be reached", askOperator + " if this lasts"}
	default:
		return fault{"the image " + image + " cannot be pulled", askOperator}
	}
}

// misconfigured words what the kubelet refuses in the description of a container.
func misconfigured(message string) fault {
	if m := secretMissing.FindStringSubmatch(message); m != nil {
		return fault{fmt.Sprintf("the Secret %q is gone", detail(m[1])), "submit again, or " + askOperator}
	}
	if m := secretIncomplete.FindStringSubmatch(message); m != nil {
		return fault{fmt.Sprintf("the Secret %q has no %s", detail(m[2]), detail(m[1])), askOperator}
	}
	switch {
	case strings.Contains(message, "non-numeric user"), strings.Contains(message, "run as root"):
		return fault{"the image does not say by number that it runs as another user than root", askOperator + " to mend the image"}
	case strings.Contains(message, "timed out waiting"): // the kubelet's cache; it tries again
		return fault{what: "its machine is slow to fetch what the pod needs"}
	default:
		return fault{"its container cannot be set up" + bracket(message), askOperator}
	}
}

// crashing words why a container ends again and again. That it is out of memory is known before (lossOf).
func crashing(p *corev1.Pod, c corev1.ContainerStatus) fault {
	t := c.LastTerminationState.Terminated
	if t == nil {
		return fault{"it ends as soon as it is started", askOperator + " to look at the log of the pod " + detail(p.Name)}
	}
	if t.ExitCode == 137 || t.Signal == 9 {
		f := outOfMemory(p, c)
		f.what = "it is killed again and again, most often for want of memory"
		return f
	}
	text := fmt.Sprintf("it ends again and again with exit code %d", t.ExitCode)
	return fault{text + bracket(rayjob.LastError(t.Message)), askOperator + " to look at the log of the pod " + detail(p.Name)}
}
