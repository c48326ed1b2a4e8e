package kuberay

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

// refused tells what keeps KubeRay from making the cluster of the job or its pods.
func (s scene) refused() string {
	message := s.refusal(s.job.Name, jobRefusals, jobMade)
	if message == "" && s.cluster != nil {
		message = s.refusalOfPods()
	}
	if message == "" {
		return ""
	}
	return refusal(message).String()
}

// The events of KubeRay that tell that something could not be made, and that it was made after all.
var (
	jobRefusals     = []string{string(utils.FailedToCreateRayCluster), string(utils.FailedToCreateService)}
	jobMade         = []string{string(utils.CreatedRayCluster), string(utils.CreatedService), string(utils.UpdatedService)}
	clusterRefusals = []string{
		string(utils.FailedToCreateHeadPod), string(utils.FailedToCreateWorkerPod), string(utils.FailedToCreateService),
		string(utils.InvalidRayClusterSpec), string(utils.InvalidRayClusterMetadata), string(utils.FailedToCreateServiceAccount),
		string(utils.AutoscalerServiceAccountNotFound), string(utils.FailedToCreateRole), string(utils.FailedToCreateRoleBinding),
	}
	clusterMade = []string{string(utils.CreatedHeadPod), string(utils.CreatedWorkerPod)}
)

// refusal is the last word on what KubeRay wanted to make for the object; empty where it has made it since.
func (s scene) refusal(object string, refusals, made []string) string {
	e := s.latest(object, slices.Concat(refusals, made)...)
	// The operator's view may lag behind: then it makes a thing twice, and the second is refused as it should be.
	if e == nil || !slices.Contains(refusals, e.Reason) || strings.Contains(e.Message, "already exists") {
		return ""
	}
	return e.Message
}

// refusalOfPods is refusal for the pods of the cluster, of which its status tells too. Where all are there it is history.
func (s scene) refusalOfPods() string {
	if s.complete() {
		return ""
	}
	c := meta.FindStatusCondition(s.cluster.Status.Conditions, string(rayv1.RayClusterReplicaFailure))
	if c != nil && strings.HasPrefix(c.Reason, "FailedCreate") {
		return c.Message
	}
	return s.refusal(s.cluster.Name, clusterRefusals, clusterMade)
}

var (
	quotaExceeded   = regexp.MustCompile(`exceeded quota: (\S+), requested: (\S+), used: (\S+), limited: (\S+)`)
	quotaIncomplete = regexp.MustCompile(`failed quota: (\S+): must specify (.+)`)
	sizeBound       = regexp.MustCompile(`(?:maximum|minimum) \S+ usage per \S+ is .+|\S+ max limit to request ratio per .+`)
	webhookDenied   = regexp.MustCompile(`admission webhook "([^"]+)" denied the request:? ?(.*)`)
	policyDenied    = regexp.MustCompile(`ValidatingAdmissionPolicy '([^']+)' .*denied request: (.*)`)
	webhookSilent   = regexp.MustCompile(`failed calling webhook "([^"]+)"`)
	securityDenied  = regexp.MustCompile(`violates PodSecurity "([^":]+)[^"]*": (.*)`)
	nameUnknown     = regexp.MustCompile(`no PriorityClass with name \S+ was found|RuntimeClass "[^"]+" not found|serviceaccount "[^"]+" not found`)
)

// refusal words why the API server did not let KubeRay make something. It is the one table of the admission's answers.
func refusal(message string) fault {
	message = strings.ReplaceAll(message, "\n", " ")
	if m := quotaExceeded.FindStringSubmatch(message); m != nil {
		return overQuota(m[1], m[2], m[3], m[4])
	}
	if m := quotaIncomplete.FindStringSubmatch(message); m != nil {
		return fault{fmt.Sprintf("the quota %q wants limits that the pods do not have%s", detail(m[1]), bracket(m[2])), askOperator}
	}
	if m := securityDenied.FindStringSubmatch(message); m != nil {
		return fault{fmt.Sprintf("the security level %q of the namespace forbids the pods%s", detail(m[1]), bracket(m[2])), askOperator}
	}
	for _, rule := range []*regexp.Regexp{webhookDenied, policyDenied} {
		if m := rule.FindStringSubmatch(message); m != nil {
			return fault{fmt.Sprintf("the rule %q of the cluster forbids it%s", detail(m[1]), bracket(m[2])), askOperator}
		}
	}
	if m := webhookSilent.FindStringSubmatch(message); m != nil {
		return fault{fmt.Sprintf("the webhook %q of the cluster does not answer", detail(m[1])), askOperator + " if this lasts"}
	}
	if m := nameUnknown.FindString(message); m != "" {
		return fault{"the profile names something that the cluster does not have" + bracket(m), askOperator + " to mend it"}
	}
	if m := sizeBound.FindString(message); m != "" {
		return fault{"the cluster bounds the size of pods" + bracket(m), "choose a smaller profile, or " + askOperator}
	}
	if _, after, ok := strings.Cut(message, "is forbidden: "); ok {
		message = after
	}
	return fault{"the cluster refuses the Ray cluster of the training" + bracket(message), askOperator}
}

// overQuota words a quota that has no room, by the first of the resources that it lacks.
func overQuota(quota, requested, used, limited string) fault {
	name, want, ok := parseAmount(requested, "")
	_, have, known := parseAmount(limited, name)
	_, taken, busy := parseAmount(used, name)
	if !ok || !known || !busy {
		return fault{fmt.Sprintf("the quota %q is used up", detail(quota)), "choose a smaller profile, or " + askOperator + " for a larger quota"}
	}
	kind := corev1.ResourceName(name)
	wish := detail(amount(kind, want))
	if want.Cmp(have) > 0 {
		return fault{
			fmt.Sprintf("one pod asks for %s, and the quota %q allows %s in all", wish, detail(quota), figure(kind, have)),
			"choose a smaller profile, or " + askOperator + " for a larger quota",
		}
	}
	return fault{
		fmt.Sprintf("the quota %q has no room for %s (%s of %s are in use)", detail(quota), wish, figure(kind, taken), figure(kind, have)),
		"it starts when other work ends, or " + askOperator + " for a larger quota",
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
