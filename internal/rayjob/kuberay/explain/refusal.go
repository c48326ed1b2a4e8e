package explain

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	"github.com/ray-project/kuberay/ray-operator/controllers/ray/utils"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
)

// creationRefused explains what keeps KubeRay from creating the cluster of the job or its pods.
func (s Snapshot) creationRefused() string {
	message := s.lastRefusal(s.Job.Name, jobRefusals, jobCreated)
	if message == "" && s.Cluster != nil {
		message = s.podRefusal()
	}
	if message == "" {
		return ""
	}
	return admissionRefusal(message).String()
}

// The events by which KubeRay reports that it could not create something, or that it has created it.
var (
	jobRefusals     = []string{string(utils.FailedToCreateRayCluster), string(utils.FailedToCreateService)}
	jobCreated      = []string{string(utils.CreatedRayCluster), string(utils.CreatedService), string(utils.UpdatedService)}
	clusterRefusals = []string{
		string(utils.FailedToCreateHeadPod), string(utils.FailedToCreateWorkerPod), string(utils.FailedToCreateService),
		string(utils.InvalidRayClusterSpec), string(utils.InvalidRayClusterMetadata), string(utils.FailedToCreateServiceAccount),
		string(utils.AutoscalerServiceAccountNotFound), string(utils.FailedToCreateRole), string(utils.FailedToCreateRoleBinding),
	}
	clusterCreated = []string{string(utils.CreatedHeadPod), string(utils.CreatedWorkerPod)}
)

// lastRefusal returns why KubeRay could not create what the object needs, or "" if it has created it since.
func (s Snapshot) lastRefusal(object string, refusals, created []string) string {
	e := s.latestEvent(object, slices.Concat(refusals, created)...)
	// KubeRay's cache may lag behind. It then creates an object twice, and the second attempt is rejected as it should be.
	if e == nil || !slices.Contains(refusals, e.Reason) || strings.Contains(e.Message, "already exists") {
		return ""
	}
	return e.Message
}

// podRefusal is lastRefusal for the pods of the cluster, whose status reports it too. It returns "" if all pods exist.
func (s Snapshot) podRefusal() string {
	if s.complete() {
		return ""
	}
	c := meta.FindStatusCondition(s.Cluster.Status.Conditions, string(rayv1.RayClusterReplicaFailure))
	if c != nil && strings.HasPrefix(c.Reason, "FailedCreate") {
		return c.Message
	}
	return s.lastRefusal(s.Cluster.Name, clusterRefusals, clusterCreated)
}

var (
	// operatorPrefix is what KubeRay puts before the words of the API server.
	operatorPrefix = regexp.MustCompile(`^Failed to create [^,]+, `)
	quotaExceeded  = regexp.MustCompile(`exceeded quota: (\S+), requested: (\S+), used: (\S+), limited: (\S+)`)
)

// admissionRefusal words why the API server rejected an object of KubeRay. What is no quota is shown as it is.
func admissionRefusal(message string) Diagnosis {
	if m := quotaExceeded.FindStringSubmatch(message); m != nil {
		return quotaRefusal(m[1], m[2], m[3], m[4])
	}
	if _, after, ok := strings.Cut(message, "is forbidden: "); ok {
		message = after
	}
	return Diagnosis{"Kubernetes rejected the Ray cluster of the training" + inParentheses(operatorPrefix.ReplaceAllString(message, "")), askAdministrator}
}

// quotaRefusal words a quota that has no room, by the first resource that is short.
func quotaRefusal(quota, requested, used, limited string) Diagnosis {
	name, want, ok := parseAmount(requested, "")
	_, have, known := parseAmount(limited, name)
	_, taken, busy := parseAmount(used, name)
	if !ok || !known || !busy {
		return Diagnosis{fmt.Sprintf("the quota %q is used up", detail(quota)), "choose a smaller profile, or " + askAdministrator + " for a larger quota"}
	}
	kind := corev1.ResourceName(name)
	request := detail(amount(kind, want))
	if want.Cmp(have) > 0 {
		return Diagnosis{
			fmt.Sprintf("one pod requests %s, but the quota %q allows only %s in total", request, detail(quota), quantityText(kind, have)),
			"choose a smaller profile, or " + askAdministrator + " for a larger quota",
		}
	}
	return Diagnosis{
		fmt.Sprintf("the quota %q has no room for %s (%s of %s are in use)", detail(quota), request, quantityText(kind, taken), quantityText(kind, have)),
		"wait until other work ends, or " + askAdministrator + " for a larger quota",
	}
}

// parseAmount reads the amount of a resource from a list "limits.memory=4Gi,pods=1"; an empty name takes the first.
func parseAmount(list, name string) (string, resource.Quantity, bool) {
	for part := range strings.SplitSeq(list, ",") {
		key, value, _ := strings.Cut(part, "=")
		if name != "" && key != name {
			continue
		}
		q, err := resource.ParseQuantity(value)
		return key, q, err == nil
	}
	return "", resource.Quantity{}, false
}
