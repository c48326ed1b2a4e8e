package explain

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	helpers "k8s.io/component-helpers/resource"

	"github.com/ncsa/clowder-ray/internal/text"
)

// requests returns the resources that the scheduler must find for a pod.
func requests(p *corev1.Pod) corev1.ResourceList {
	return helpers.PodRequests(p, helpers.PodResourcesOptions{})
}

// amount words a quantity of a resource, or of the request or limit of one: "2 CPUs", "4 GiB of memory", "1 GPU".
func amount(name corev1.ResourceName, q resource.Quantity) string {
	text := quantityText(name, q)
	switch bare := bareName(name); {
	case bare == corev1.ResourceMemory:
		return text + " of memory"
	case bare == corev1.ResourceEphemeralStorage:
		return text + " of local disk"
	case bare == corev1.ResourceCPU:
		return countedQuantity(text, "CPU")
	case bare == corev1.ResourcePods:
		return countedQuantity(text, "pod")
	case strings.HasSuffix(string(bare), "/gpu"):
		return countedQuantity(text, "GPU")
	default:
		return text + " " + string(bare)
	}
}

// quantityText is amount without the name of the resource: "4 GiB", "1".
func quantityText(name corev1.ResourceName, q resource.Quantity) string {
	switch bareName(name) {
	case corev1.ResourceMemory, corev1.ResourceEphemeralStorage:
		return size(q)
	default:
		return humanize.FtoaWithDigits(q.AsApproximateFloat64(), 2)
	}
}

// size words a number of bytes as "4 GiB".
func size(q resource.Quantity) string {
	return strings.Replace(humanize.IBytes(uint64(max(0, q.Value()))), ".0 ", " ", 1)
}

// bareName strips the prefixes that quotas put before the name of a resource.
func bareName(name corev1.ResourceName) corev1.ResourceName {
	for _, prefix := range []string{"requests.", "limits.", "count/"} {
		name = corev1.ResourceName(strings.TrimPrefix(string(name), prefix))
	}
	return name
}

func countedQuantity(figure, word string) string {
	if figure == "1" {
		return "1 " + word
	}
	return figure + " " + word + "s"
}

// amounts words the resources of a list. Names, if given, select among them.
func amounts(list corev1.ResourceList, names ...corev1.ResourceName) string {
	var parts []string
	for _, name := range sorted(list) {
		if q := list[name]; !q.IsZero() && (len(names) == 0 || slices.Contains(names, name)) {
			parts = append(parts, amount(name, q))
		}
	}
	return text.List(parts)
}

// sorted returns the resources of a list in a fixed order, the scarce ones first: devices such as GPUs, then CPUs.
func sorted(list corev1.ResourceList) []corev1.ResourceName {
	return slices.SortedFunc(maps.Keys(list), func(a, b corev1.ResourceName) int {
		device := func(name corev1.ResourceName) int { return strings.Count(string(name), "/") }
		return cmp.Or(cmp.Compare(device(b), device(a)), cmp.Compare(a, b)) // cpu, ephemeral-storage, memory
	})
}
