package explain

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	helpers "k8s.io/component-helpers/resource"
)

// quotaShortfall compares the sum of all requests with the quotas of the namespace.
func quotaShortfall(groups []podGroup, quotas []corev1.ResourceQuota) string {
	total := totals(groups)
	for _, quota := range quotas {
		if !appliesToPods(quota.Spec) {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(quota.Spec.Hard)) {
			want, hard := total[name], quota.Spec.Hard[name]
			if want.Cmp(hard) > 0 {
				return Diagnosis{
					fmt.Sprintf("the training requests %s in total, but the quota %q allows %s", amount(name, want), detail(quota.Name), amount(name, hard)),
					"choose fewer workers or a smaller profile, or " + askAdministrator + " for a larger quota",
				}.String()
			}
		}
	}
	return ""
}

// appliesToPods reports whether a quota certainly counts our pods, which have requests and no deadline of their own. A quota
// for some classes of pods may not count them.
func appliesToPods(spec corev1.ResourceQuotaSpec) bool {
	return spec.ScopeSelector == nil && !slices.ContainsFunc(spec.Scopes, func(scope corev1.ResourceQuotaScope) bool {
		return scope != corev1.ResourceQuotaScopeNotTerminating && scope != corev1.ResourceQuotaScopeNotBestEffort
	})
}

// totals sums the requests and limits of all pods, under all the names that quotas use.
func totals(groups []podGroup) corev1.ResourceList {
	total := corev1.ResourceList{}
	for _, a := range groups {
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
