//go:build integration

package helm

import (
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// endpoint is one end of a connection: a pod, or an address outside the cluster.
type endpoint struct {
	namespace string
	labels    map[string]string
	address   string // of what is no pod
}

// network judges connections by NetworkPolicies as their specification says: a pod that no policy selects is open, one
// that is selected is open to what at least one policy allows, and a connection must be allowed at both ends.
// It knows port numbers, not names, since the chart uses none.
type network []*networkingv1.NetworkPolicy

// allows says whether from may open a connection to a port of to.
func (n network) allows(from, to endpoint, protocol corev1.Protocol, port int32) bool {
	return n.opens(networkingv1.PolicyTypeEgress, from, to, protocol, port) &&
		n.opens(networkingv1.PolicyTypeIngress, to, from, protocol, port)
}

// opens looks at one end: may the selected pod connect to, or be reached by, the peer?
func (n network) opens(direction networkingv1.PolicyType, pod, peer endpoint, protocol corev1.Protocol, port int32) bool {
	isolated := false
	for _, p := range n {
		if pod.address != "" || p.Namespace != pod.namespace || !matches(&p.Spec.PodSelector, pod.labels) || !slices.Contains(p.Spec.PolicyTypes, direction) {
			continue
		}
		isolated = true
		for _, r := range rules(p, direction) {
			if r.hasPort(protocol, port) && r.hasPeer(p.Namespace, peer) {
				return true
			}
		}
	}
	return !isolated
}

// rule is an ingress or an egress rule.
type rule struct {
	ports []networkingv1.NetworkPolicyPort
	peers []networkingv1.NetworkPolicyPeer
}

func rules(p *networkingv1.NetworkPolicy, direction networkingv1.PolicyType) (all []rule) {
	if direction == networkingv1.PolicyTypeIngress {
		for _, r := range p.Spec.Ingress {
			all = append(all, rule{r.Ports, r.From})
		}
		return all
	}
	for _, r := range p.Spec.Egress {
		all = append(all, rule{r.Ports, r.To})
	}
	return all
}

func (r rule) hasPort(protocol corev1.Protocol, port int32) bool {
	for _, p := range r.ports {
		if p.Protocol != nil && *p.Protocol == protocol && p.Port != nil && *p.Port == intstr.FromInt32(port) {
			return true
		}
	}
	return len(r.ports) == 0
}

func (r rule) hasPeer(home string, peer endpoint) bool {
	for _, p := range r.peers {
		if isPeer(p, home, peer) {
			return true
		}
	}
	return len(r.peers) == 0
}

func isPeer(p networkingv1.NetworkPolicyPeer, home string, peer endpoint) bool {
	if p.IPBlock != nil {
		block, err := netip.ParsePrefix(p.IPBlock.CIDR)
		address, parseErr := netip.ParseAddr(peer.address)
		return err == nil && parseErr == nil && block.Contains(address)
	}
	if peer.address != "" {
		return false
	}
	namespace := p.NamespaceSelector == nil && peer.namespace == home ||
		p.NamespaceSelector != nil && matches(p.NamespaceSelector, map[string]string{corev1.LabelMetadataName: peer.namespace})
	return namespace && (p.PodSelector == nil || matches(p.PodSelector, peer.labels))
}

func matches(s *metav1.LabelSelector, set map[string]string) bool {
	selector, err := metav1.LabelSelectorAsSelector(s)
	return err == nil && selector.Matches(labels.Set(set))
}
