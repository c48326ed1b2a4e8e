package kuberay

import (
	"context"
	"strconv"

	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/rayjob/kuberay/explain"
)

// needsPolicy reports that the pods of an attempt must reach each other and no other pods. A static policy cannot tell one run from
// another.
func needsPolicy(a rayjob.Attempt, p Profile) bool {
	return a.Script && a.Resources.Workers > 1 && p.Cluster == ""
}

// newPolicy returns the NetworkPolicy that lets the pods of one attempt reach each other.
func newPolicy(a rayjob.Attempt, rj *rayv1.RayJob) *networkingv1.NetworkPolicy {
	own := metav1.LabelSelector{MatchLabels: map[string]string{labelRun: a.Run, labelAttempt: strconv.Itoa(a.Number), explain.KindLabel: explain.KindScript}}
	peers := []networkingv1.NetworkPolicyPeer{{PodSelector: &own}}
	return &networkingv1.NetworkPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: rj.Name, Namespace: rj.Namespace, Labels: rj.Labels},
		Spec: networkingv1.NetworkPolicySpec{
			PodSelector: own,
			PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress},
			Ingress:     []networkingv1.NetworkPolicyIngressRule{{From: peers}},
			Egress:      []networkingv1.NetworkPolicyEgressRule{{To: peers}},
		},
	}
}

// createPolicy creates the policy before the pods.
func (c *Client) createPolicy(ctx context.Context, policy *networkingv1.NetworkPolicy) error {
	return create(ctx, c, c.core.NetworkingV1().NetworkPolicies(policy.Namespace), policy, "a NetworkPolicy")
}

// givePolicy makes the RayJob the owner of its policy, so that Kubernetes deletes the policy with it.
func (c *Client) givePolicy(ctx context.Context, rj *rayv1.RayJob) error {
	patch, err := ownedBy(rj)
	if err != nil {
		return err
	}
	_, err = c.core.NetworkingV1().NetworkPolicies(c.cfg.Namespace).Patch(ctx, rj.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: manager})
	if apierrors.IsNotFound(err) {
		return nil // an earlier release deleted it
	}
	return c.fault(err, "change a NetworkPolicy")
}

// removePolicy deletes the policy of an attempt without a RayJob. The policy has no owner if the service was killed before it created
// the RayJob. Without scripts on several machines there is none, and the service may not ask for one.
func (c *Client) removePolicy(ctx context.Context, name string) error {
	if c.cfg.Script.MaxNodes < 2 {
		return nil
	}
	err := c.core.NetworkingV1().NetworkPolicies(c.cfg.Namespace).Delete(ctx, name, metav1.DeleteOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return c.fault(err, "delete a NetworkPolicy")
}
