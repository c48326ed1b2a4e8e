package kuberay

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/rayjob/kuberay/explain"
)

// Script says how pods isolate the code of users. Without a runtime class and without SharedKernel, scripts are refused.
type Script struct {
	// RuntimeClass is the class of the pods that run scripts, e.g. gvisor; empty means the class of all pods.
	RuntimeClass string `json:"runtimeClass,omitempty"`
	// SharedKernel allows pods without a runtime class: the script then uses the kernel of the node, and every report says so.
	SharedKernel bool `json:"sharedKernel,omitempty"`
	// OpenNetwork allows scripts in a cluster that does not enforce NetworkPolicies. Otherwise each script is refused there, since
	// its pod tries the network before the script starts.
	OpenNetwork bool `json:"openNetwork,omitempty"`
	// MaxNodes is the largest number of machines of a script (default 1). With more than one, the service creates a NetworkPolicy
	// for each run, which needs a right of its own.
	MaxNodes int `json:"maxNodes,omitempty"`
}

const (
	// labelNodes marks the pods of scripts on several machines, which need DNS to find each other.
	labelNodes   = domain + "/nodes"
	severalNodes = "several"

	// The trainer reads these variables before it starts a script in its pod.
	classEnv   = "POD_RUNTIME_CLASS"
	networkEnv = "POD_NETWORK"
)

// Isolates implements rayjob.Isolator: pods of an own cluster isolate a script, while on a standing cluster the trainer has to.
func (c *Client) Isolates(r rayjob.Resources) (bool, error) {
	p, err := c.profile(r)
	if err != nil || p.Cluster != "" {
		return false, err
	}
	return true, c.cfg.checkScript(r.Workers)
}

// scriptClass is the runtime class of the pods that run scripts; empty means the default of the nodes.
func (c Config) scriptClass() string {
	if c.Script.RuntimeClass != "" {
		return c.Script.RuntimeClass
	}
	return c.RuntimeClass
}

// checkScript says why a script cannot run on this number of machines.
func (c Config) checkScript(nodes int) error {
	if c.scriptClass() == "" && !c.Script.SharedKernel {
		return job.Permanent(errors.New("scripts cannot run here, because no RuntimeClass isolates their pods: ask the administrator of the extractor to " +
			"install gVisor on the nodes and to set script.runtimeClass in KUBERAY_CONFIG"))
	}
	if most := max(1, c.Script.MaxNodes); nodes > most {
		return job.Permanent(fmt.Errorf("%d machines exceed the limit of %d for scripts: choose fewer machines, or ask the administrator of the extractor "+
			"to raise script.maxNodes in KUBERAY_CONFIG", nodes, most))
	}
	return nil
}

// newScriptCluster returns the cluster of a script. On one machine it is a single pod, which Ray, the driver and the script share, so
// that no pod needs to reach another one. On several machines the head has no part in the script.
func (c Config) newScriptCluster(a rayjob.Attempt, p Profile, shared []corev1.VolumeMount) *rayv1.RayClusterSpec {
	c.RuntimeClass = c.scriptClass()
	p.MinWorkers = nil // the autoscaler has a token of the API server
	several := a.Resources.Workers > 1
	if !several {
		a.Resources.Workers = 1
	}
	spec := c.newCluster(a, p, shared)
	if !several {
		spec.HeadGroupSpec.RayStartParams, spec.HeadGroupSpec.Template = c.headParams(cpus(p.Machine)), spec.WorkerGroupSpecs[0].Template
		spec.WorkerGroupSpecs = nil
	}
	c.isolate(&spec.HeadGroupSpec.Template, several)
	for i := range spec.WorkerGroupSpecs {
		c.isolate(&spec.WorkerGroupSpecs[i].Template, several)
	}
	return spec
}

// isolate marks a pod as one that runs the code of a user, and limits what trainings are trusted to share.
func (c Config) isolate(pod *corev1.PodTemplateSpec, several bool) {
	pod.Labels = maps.Clone(pod.Labels)
	pod.Labels[explain.KindLabel] = explain.KindScript
	if several {
		pod.Labels[labelNodes] = severalNodes
	}
	network := "closed"
	if c.Script.OpenNetwork {
		network = "open"
	}
	box := &pod.Spec.Containers[0]
	box.Env = append(slices.Clone(box.Env), corev1.EnvVar{Name: classEnv, Value: c.RuntimeClass}, corev1.EnvVar{Name: networkEnv, Value: network})
	limit := box.Resources.Requests[corev1.ResourceCPU]
	if one := resource.MustParse("1"); limit.Cmp(one) < 0 { // with less, Ray's agents may need more than the 15 s that they have to start
		limit = one
	}
	box.Resources.Limits[corev1.ResourceCPU] = limit
}
