package kuberay

import (
	"context"
	"fmt"
	"slices"

	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	authv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ncsa/clowder-ray/internal/rayjob"
)

// Report is the result of Check.
type Report struct {
	// Server is the version of Kubernetes and Host its address.
	Server, Host, Namespace string
	// Running counts the RayJobs of this instance.
	Running int
	// Faults are sentences for the administrator about what keeps trainings from running, with the remedy. Warnings are about
	// risks.
	Faults, Warnings []string
}

// right is an access right in the namespace of the service.
type right struct {
	group, resource string
	verbs           []string
}

// basicRights are the access rights that the service needs in its namespace. The Role of the Helm chart grants the same.
var basicRights = []right{
	{rayv1.GroupVersion.Group, "rayjobs", []string{"get", "list", "watch", "create", "patch", "delete"}},
	{rayv1.GroupVersion.Group, "rayclusters", []string{"get", "list", "watch"}},
	{"", "pods", []string{"get", "list", "watch"}},
	{"", "events", []string{"list"}},
	{"", "secrets", []string{"get", "create", "patch", "delete"}},
}

// rights adds what scripts on several machines need.
func (c *Client) rights() []right {
	if c.cfg.Script.MaxNodes < 2 {
		return basicRights
	}
	return append(slices.Clone(basicRights), right{networkingv1.GroupName, "networkpolicies", []string{"get", "create", "patch", "delete"}})
}

// Check tests whether trainings can run: the API server and the access rights, KubeRay, the shared volume, the standing
// clusters and the capacity for each profile. It returns an error only if the check itself fails. It creates nothing.
func (c *Client) Check(ctx context.Context) (Report, error) {
	r := Report{Host: c.access.Config.Host, Namespace: c.cfg.Namespace}
	version, err := c.core.Discovery().ServerVersion()
	if err != nil {
		return r, c.fault(err, "read the version")
	}
	r.Server = version.GitVersion
	handles, err := c.List(ctx)
	if err != nil {
		return r, err
	}
	r.Running = len(handles)
	if err := c.checkRights(ctx, &r, c.rights()); err != nil {
		return r, err
	}
	c.checkClaim(ctx, &r)
	for _, p := range c.cfg.Profiles {
		c.checkProfile(ctx, &r, p)
	}
	return r, nil
}

// checkRights asks the API server what the credentials allow.
func (c *Client) checkRights(ctx context.Context, r *Report, rights []right) error {
	for _, right := range rights {
		for _, verb := range right.verbs {
			review, err := c.core.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authv1.SelfSubjectAccessReview{
				Spec: authv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authv1.ResourceAttributes{
					Namespace: c.cfg.Namespace, Group: right.group, Resource: right.resource, Verb: verb,
				}},
			}, metav1.CreateOptions{})
			if err != nil {
				return c.fault(err, "check its access rights")
			}
			if !review.Status.Allowed {
				r.Faults = append(r.Faults, fmt.Sprintf("the service is not allowed to %s %s in %s: grant its account the rights of the Helm chart's Role", verb, right.resource, c.cfg.Namespace))
			}
		}
	}
	return nil
}

// checkClaim checks the shared volume, as far as the access rights allow.
func (c *Client) checkClaim(ctx context.Context, r *Report) {
	if c.cfg.Claim == "" {
		return
	}
	claim, err := c.core.CoreV1().PersistentVolumeClaims(c.cfg.Namespace).Get(ctx, c.cfg.Claim, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		r.Faults = append(r.Faults, fmt.Sprintf("claim: the PersistentVolumeClaim %s does not exist in %s: create it or set another claim", c.cfg.Claim, c.cfg.Namespace))
	case err != nil:
		r.Warnings = append(r.Warnings, "claim: the PersistentVolumeClaim of the shared volume could not be read")
	case slices.Contains(claim.Spec.AccessModes, corev1.ReadOnlyMany) && len(claim.Spec.AccessModes) == 1:
		r.Faults = append(r.Faults, fmt.Sprintf("claim: %s is read-only, but trainings write to it: use a ReadWriteMany claim", c.cfg.Claim))
	case !slices.Contains(claim.Spec.AccessModes, corev1.ReadWriteMany) && !c.oneNode(ctx):
		r.Faults = append(r.Faults, fmt.Sprintf("claim: %s is not ReadWriteMany, but the pods of a training run on several nodes: use a storage class such as NFS or CephFS", c.cfg.Claim))
	case claim.Status.Phase == corev1.ClaimLost:
		r.Faults = append(r.Faults, fmt.Sprintf("claim: the volume of %s is lost: restore it or set another claim", c.cfg.Claim))
	case claim.Status.Phase == corev1.ClaimPending:
		r.Warnings = append(r.Warnings, fmt.Sprintf("claim: %s has no volume yet", c.cfg.Claim))
	}
}

// oneNode reports that the cluster has exactly one node, on which any volume works.
func (c *Client) oneNode(ctx context.Context) bool {
	nodes, err := c.core.CoreV1().Nodes().List(ctx, metav1.ListOptions{Limit: 2})
	return err == nil && len(nodes.Items) == 1
}

// checkProfile checks that a run with the default number of workers can start.
func (c *Client) checkProfile(ctx context.Context, r *Report, p Profile) {
	if p.Cluster != "" {
		if err := c.standing(ctx, p); err != nil {
			r.Faults = append(r.Faults, err.Error())
		}
		r.Warnings = append(r.Warnings, fmt.Sprintf("profile %s: "+rayjob.StandingWarning, p.Name))
		return
	}
	a := rayjob.Attempt{Run: "check", Number: 1, Dir: c.cfg.Mount + "/runs/check", Python: "python"}
	rj, err := c.cfg.newRayJob(a, p)
	if err != nil {
		r.Faults = append(r.Faults, err.Error())
		return
	}
	if why := c.impossible(ctx, rj.Spec.RayClusterSpec); why != "" {
		r.Faults = append(r.Faults, fmt.Sprintf("profile %s: %s", p.Name, why))
	}
}
