package kuberay

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/ncsa/clowder-ray/internal/rayjob"
)

// warmEnv tells the trainer that its pod has a warm process of its own. The value is the name of the attempt.
const warmEnv = "WARM_POD"

// wholeCPU is in thousandths. On less, imports beside the start of Ray delay it by more than they save.
const wholeCPU = 1000

// warm lets a pod do the slow imports of a role, "driver" or "worker", beside the start of Ray. Nothing depends on it: without the warm
// process, the trainer does its imports itself. A script of a user never runs in a copy of a warm process.
func warm(a rayjob.Attempt, pod *corev1.PodTemplateSpec, role string) {
	box := &pod.Spec.Containers[0]
	if a.Warm == 0 || a.Script || box.Resources.Requests.Cpu().MilliValue() < wholeCPU {
		return
	}
	box.Env = append(slices.Clone(box.Env), corev1.EnvVar{Name: warmEnv, Value: a.Name()})
	box.Args = append(slices.Clone(box.Args), "&&", "{", "("+a.WarmPodCommand(role)+")", "&", "}") // KubeRay appends "&& ray start ..."
}
