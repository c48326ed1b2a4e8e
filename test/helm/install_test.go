//go:build integration

package helm

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ncsa/clowder-ray/test/cluster"
)

// restricted is what the chart's README tells to put on the namespace.
var restricted = map[string]string{"pod-security.kubernetes.io/enforce": "restricted"}

// ownKinds leaves out what is not Kubernetes' own: neither the Prometheus operator nor the Gateway API is installed here.
var ownKinds = []string{"--set", "metrics.serviceMonitor.enabled=false", "--set", "studio.httpRoute=null"}

func install(t *testing.T, plane *cluster.Plane, ns string, values ...string) string {
	t.Helper()
	out, err := helm(t, plane.Kubeconfig(), append([]string{"install", release, chartDir, "-n", ns}, values...)...)
	require.NoError(t, err)
	return out
}

// TestTheAPIServerTakesEveryVariant installs each in a namespace under the level restricted and lets the API server judge the pod.
func TestTheAPIServerTakesEveryVariant(t *testing.T) {
	t.Parallel()
	plane := cluster.Shared(t)
	for name, values := range variants(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := plane.Namespace(t, restricted)
			install(t, plane, ns, append(values, ownKinds...)...)
			set, err := plane.Admin().AppsV1().StatefulSets(ns).Get(t.Context(), fullName, metav1.GetOptions{})
			require.NoError(t, err)
			require.NoError(t, tryPod(t.Context(), plane, set))

			set.Spec.Template.Spec.SecurityContext = nil
			require.True(t, apierrors.IsForbidden(tryPod(t.Context(), plane, set)), "the namespace lets anything pass")
		})
	}
}

// tryPod asks the API server whether it would take the pod of a StatefulSet.
func tryPod(ctx context.Context, plane *cluster.Plane, set *appsv1.StatefulSet) error {
	spec := set.Spec.Template.Spec.DeepCopy()
	spec.PriorityClassName = "" // of the values, not of this cluster
	for _, claim := range set.Spec.VolumeClaimTemplates {
		spec.Volumes = append(spec.Volumes, corev1.Volume{Name: claim.Name, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim.Name + "-" + set.Name + "-0"},
		}})
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "try"}, Spec: *spec}
	_, err := plane.Admin().CoreV1().Pods(set.Namespace).Create(ctx, pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return err
}

func TestTheNotesSayWhatToDo(t *testing.T) {
	t.Parallel()
	plane := cluster.Shared(t)
	ns := plane.Namespace(t, nil)
	notes := install(t, plane, ns, "--set", "clowderUrl=https://clowder.example.org,shared.existingClaim=data",
		"--set", "secret.values.RABBITMQ_URI=amqp://user:canary@broker", "--set", "networkPolicy.enabled=false")
	require.Contains(t, notes, "kubectl -n "+ns+" exec rel-clowder-ray-0 -- /extractor doctor")
	require.Contains(t, notes, "WARNING: the Secret rel-clowder-ray was created from values")
	require.Contains(t, notes, "WARNING: networkPolicy.enabled is false")
	require.NotContains(t, notes, "ray.io/v1", "KubeRay is installed here")
	require.NotContains(t, notes, "canary")
}

// TestNothingIsLostByUninstalling removes the release and installs it again: the volumes stay and are taken up.
func TestNothingIsLostByUninstalling(t *testing.T) {
	t.Parallel()
	plane := cluster.Shared(t)
	ns := plane.Namespace(t, nil)
	values := []string{"--values", examples + "/nfs.yaml"}
	install(t, plane, ns, values...)
	before := sharedVolume(t, plane, ns)

	_, err := helm(t, plane.Kubeconfig(), "uninstall", release, "-n", ns)
	require.NoError(t, err)
	_, err = plane.Admin().AppsV1().StatefulSets(ns).Get(t.Context(), fullName, metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err), "the service is gone")

	install(t, plane, ns, values...)
	require.Equal(t, before, sharedVolume(t, plane, ns), "the same claim and volume")
}

// sharedVolume returns the identities of the shared claim and its volume.
func sharedVolume(t *testing.T, plane *cluster.Plane, ns string) [2]string {
	t.Helper()
	claim, err := plane.Admin().CoreV1().PersistentVolumeClaims(ns).Get(t.Context(), fullName+"-shared", metav1.GetOptions{})
	require.NoError(t, err)
	volume, err := plane.Admin().CoreV1().PersistentVolumes().Get(t.Context(), claim.Spec.VolumeName, metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, claim.Name, volume.Spec.ClaimRef.Name)
	require.Equal(t, corev1.PersistentVolumeReclaimRetain, volume.Spec.PersistentVolumeReclaimPolicy)
	return [2]string{string(claim.UID), string(volume.UID)}
}

func TestAnUpgradeTakesNewSettings(t *testing.T) {
	t.Parallel()
	plane := cluster.Shared(t)
	ns := plane.Namespace(t, nil)
	install(t, plane, ns, least...)
	_, err := helm(t, plane.Kubeconfig(), append([]string{"upgrade", release, chartDir, "-n", ns, "--set", "settings.MAX_JOBS=8"}, least...)...)
	require.NoError(t, err)
	data, err := plane.Admin().CoreV1().ConfigMaps(ns).Get(t.Context(), fullName, metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, "8", data.Data["MAX_JOBS"])
}
