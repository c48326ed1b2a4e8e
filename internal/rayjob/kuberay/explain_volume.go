package kuberay

import (
	"fmt"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// unprepared tells what keeps a machine from preparing a pod that it has been given; only events say so.
func (s scene) unprepared(p *corev1.Pod) fault {
	if e := s.recent(p.Name, "FailedMount", "FailedAttachVolume", "FailedMapVolume", "SuccessfulMountVolume", "Pulling", "Pulled", "Started"); e != nil {
		if f := unmounted(e); f.what != "" {
			return f
		}
	}
	if e := s.recent(p.Name, "FailedCreatePodSandBox", "Pulling", "Pulled", "Started"); e != nil && e.Reason == "FailedCreatePodSandBox" {
		return sandbox(p, e.Message)
	}
	return fault{}
}

var volumeName = regexp.MustCompile(`(?:for volume|unmounted volumes=\[)\s*"?([^"\s,\]]+)`)

// unmounted words why a volume is not there. A Secret that is missing shows here too where it is mounted.
func unmounted(e *corev1.Event) fault {
	if !strings.HasPrefix(e.Reason, "Failed") {
		return fault{}
	}
	volume := "the shared volume"
	if m := volumeName.FindStringSubmatch(e.Message); m != nil {
		volume = fmt.Sprintf("the volume %q", detail(m[1]))
	}
	switch {
	case strings.Contains(e.Message, "Multi-Attach"):
		return fault{volume + " can be used on one machine only, and another one has it", askOperator + " to make it ReadWriteMany"}
	case strings.Contains(e.Message, "not registered"): // the kubelet has not caught up yet
		return fault{}
	case secretMissing.MatchString(e.Message):
		return misconfigured(e.Message)
	default:
		return fault{fmt.Sprintf("%s cannot be mounted%s", volume, bracket(cause(e.Message))), askOperator + " to look at the storage"}
	}
}

// cause is the end of a chain of errors, where what went wrong stands.
func cause(message string) string {
	message = strings.TrimSpace(message)
	return message[strings.LastIndex(message, ": ")+1:]
}

// sandbox words why a machine cannot set up the surroundings of a pod.
func sandbox(p *corev1.Pod, message string) fault {
	switch class := p.Spec.RuntimeClassName; {
	case class != nil && strings.Contains(message, "no runtime for"):
		return fault{fmt.Sprintf("its machine has no runtime for the class %q", detail(*class)), askOperator + " to install it or to choose other machines"}
	case strings.Contains(message, "network") || strings.Contains(message, "cni"):
		return fault{"its machine cannot set up the network" + bracket(cause(message)), askOperator + " if this lasts"}
	default:
		return fault{"its machine cannot set it up" + bracket(cause(message)), askOperator + " if this lasts"}
	}
}
