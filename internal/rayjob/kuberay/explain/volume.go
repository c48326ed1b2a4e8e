package explain

import (
	"fmt"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// nodeSetup explains what keeps a node from preparing a pod that is assigned to it. Only events show it.
func (s Snapshot) nodeSetup(p *corev1.Pod) Diagnosis {
	if e := s.recentEvent(p.Name, "FailedMount", "FailedAttachVolume", "FailedMapVolume", "SuccessfulMountVolume", "Pulling", "Pulled", "Started"); e != nil {
		if f := mountFailure(e); f.Cause != "" {
			return f
		}
	}
	if e := s.recentEvent(p.Name, "FailedCreatePodSandBox", "Pulling", "Pulled", "Started"); e != nil && e.Reason == "FailedCreatePodSandBox" {
		return sandboxFailure(p, e.Message)
	}
	return Diagnosis{}
}

var volumeName = regexp.MustCompile(`(?:for volume|unmounted volumes=\[)\s*"?([^"\s,\]]+)`)

// mountFailure words why a volume cannot be mounted. A missing Secret that is mounted appears here too.
func mountFailure(e *corev1.Event) Diagnosis {
	if !strings.HasPrefix(e.Reason, "Failed") {
		return Diagnosis{}
	}
	volume := "the shared volume"
	if m := volumeName.FindStringSubmatch(e.Message); m != nil {
		volume = fmt.Sprintf("the volume %q", detail(m[1]))
	}
	switch {
	case strings.Contains(e.Message, "Multi-Attach"):
		return Diagnosis{volume + " can be attached to one node only, and another node uses it", askAdministrator + " to make it ReadWriteMany"}
	case strings.Contains(e.Message, "not registered"): // the kubelet's cache is not up to date yet
		return Diagnosis{}
	case secretMissing.MatchString(e.Message):
		return misconfigured(e.Message)
	default:
		return Diagnosis{fmt.Sprintf("%s cannot be mounted%s", volume, inParentheses(lastCause(e.Message))), askAdministrator + " to check the storage"}
	}
}

// lastCause returns the end of a chain of errors, which says what went wrong.
func lastCause(message string) string {
	message = strings.TrimSpace(message)
	return message[strings.LastIndex(message, ": ")+1:]
}

// sandboxFailure words why a node cannot create the sandbox of a pod.
func sandboxFailure(p *corev1.Pod, message string) Diagnosis {
	switch class := p.Spec.RuntimeClassName; {
	case class != nil && strings.Contains(message, "no runtime for"):
		return Diagnosis{fmt.Sprintf("its node has no runtime for the class %q", detail(*class)), askAdministrator + " to install it or to choose other nodes"}
	case strings.Contains(message, "network") || strings.Contains(message, "cni"):
		return Diagnosis{"its node cannot set up the network" + inParentheses(lastCause(message)), askAdministrator + " if this lasts"}
	default:
		return Diagnosis{"its node cannot create the pod sandbox" + inParentheses(lastCause(message)), askAdministrator + " if this lasts"}
	}
}
