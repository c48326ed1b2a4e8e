package kuberay

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	helpers "k8s.io/component-helpers/resource"
)

// overQuotas compares what all pods ask for together with the quotas of the namespace.
func overQuotas(asks []ask, quotas []corev1.ResourceQuota) string {
	total := totals(asks)
	for _, quota := range quotas {
		if !concerns(quota.Spec) {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(quota.Spec.Hard)) {
			want, hard := total[name], quota.Spec.Hard[name]
			if want.Cmp(hard) > 0 {
				return fault{
					fmt.Sprintf("the training asks for %s in all, and the quota %q allows %s", amount(name, want), detail(quota.Name), amount(name, hard)),
					"choose fewer workers or a smaller profile, or " + askOperator + " for a larger quota",
				}.String()
			}
		}
	}
	return ""
}

// concerns reports whether a quota surely counts our pods, which have requests and no deadline of their own. One for some
// classes of pods only proves nothing.
func concerns(spec corev1.ResourceQuotaSpec) bool {
	return spec.ScopeSelector == nil && !slices.ContainsFunc(spec.Scopes, func(scope corev1.ResourceQuotaScope) bool {
		return scope != corev1.ResourceQuotaScopeNotTerminating && scope != corev1.ResourceQuotaScopeNotBestEffort
	})
}

// totals are the sums over all pods, under all the names that quotas have for them.
func totals(asks []ask) corev1.ResourceList {
	total := corev1.ResourceList{}
	for _, a := range asks {
		add := func(name corev1.ResourceName, q resource.Quantity) {
			q.Mul(int64(a.count))
			sum := total[name]
			sum.Add(q)
			total[name] = sum
		}
		one := *resource.NewQuantity(1, resource.DecimalSI)
		add(corev1.ResourcePods, one)
		add("count/pods", one)
		for name, q := range requests(a.pod) {
			add(name, q)
			add("requests."+name, q)
		}
		for name, q := range helpers.PodLimits(a.pod, helpers.PodResourcesOptions{}) {
			add("limits."+name, q)
		}
	}
	return total
}
