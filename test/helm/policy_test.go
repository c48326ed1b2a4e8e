//go:build integration

package helm

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	"k8s.io/utils/ptr"
)

// podTemplates are the templates of whatever makes pods.
func podTemplates(objects []runtime.Object) (templates []corev1.PodTemplateSpec) {
	for _, o := range objects {
		switch o := o.(type) {
		case *appsv1.StatefulSet:
			templates = append(templates, o.Spec.Template)
		case *appsv1.Deployment:
			templates = append(templates, o.Spec.Template)
		case *appsv1.DaemonSet:
			templates = append(templates, o.Spec.Template)
		case *batchv1.Job:
			templates = append(templates, o.Spec.Template)
		case *batchv1.CronJob:
			templates = append(templates, o.Spec.JobTemplate.Spec.Template)
		case *corev1.Pod:
			templates = append(templates, corev1.PodTemplateSpec{ObjectMeta: o.ObjectMeta, Spec: o.Spec})
		}
	}
	return templates
}

func TestEveryPodIsRestricted(t *testing.T) {
	t.Parallel()
	rules, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	require.NoError(t, err)
	for name, values := range variants(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			templates := podTemplates(render(t, values...))
			require.NotEmpty(t, templates)
			for _, pod := range templates {
				level := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
				for _, result := range rules.EvaluatePod(level, &pod.ObjectMeta, &pod.Spec) {
					require.True(t, result.Allowed, "%s: %s", result.ForbiddenReason, result.ForbiddenDetail)
				}
				for _, c := range append(pod.Spec.Containers, pod.Spec.InitContainers...) {
					require.True(t, ptr.Deref(c.SecurityContext.ReadOnlyRootFilesystem, false), "%s can write to its image", c.Name)
					require.Contains(t, c.Resources.Limits, corev1.ResourceMemory, "%s has no limit of memory", c.Name)
				}
			}
		})
	}
}

// TestTheServiceIsInTheGroupOfRayAndAnotherUser: both write into the folders of the runs, which NFS ties to numbers, and what the
// service keeps to itself no training can change.
func TestTheServiceIsInTheGroupOfRayAndAnotherUser(t *testing.T) {
	t.Parallel()
	objects := render(t, least...)
	require.EqualValues(t, 1001, *readConfig(t, find[*corev1.ConfigMap](t, objects, fullName+"-kuberay")).User)
	security := statefulSet(t, objects).Spec.Template.Spec.SecurityContext
	require.Equal(t, []int64{1000, 1000, 1000}, []int64{*security.RunAsUser, *security.RunAsGroup, *security.FSGroup})
	require.Equal(t, corev1.FSGroupChangeOnRootMismatch, *security.FSGroupChangePolicy, "a large volume is not walked at each start")
}

func TestOnePodThatHasTimeToStop(t *testing.T) {
	t.Parallel()
	objects := render(t, append(least, "--set", "shutdownSeconds=45")...)
	set := statefulSet(t, objects)
	require.EqualValues(t, 1, *set.Spec.Replicas)
	limit, err := time.ParseDuration(find[*corev1.ConfigMap](t, objects, fullName).Data["SHUTDOWN_TIMEOUT"])
	require.NoError(t, err)
	require.Equal(t, 45*time.Second, limit)
	require.EqualValues(t, 55, *set.Spec.Template.Spec.TerminationGracePeriodSeconds)
}

func TestThePodIsProbed(t *testing.T) {
	t.Parallel()
	c := statefulSet(t, render(t, least...)).Spec.Template.Spec.Containers[0]
	require.Equal(t, "/livez", c.StartupProbe.HTTPGet.Path)
	require.Equal(t, "/livez", c.LivenessProbe.HTTPGet.Path)
	require.Equal(t, "/readyz", c.ReadinessProbe.HTTPGet.Path)
}

// TestAChangeOfSettingsRestartsThePod: the service reads them once, at its start.
func TestAChangeOfSettingsRestartsThePod(t *testing.T) {
	t.Parallel()
	annotations := func(args ...string) map[string]string {
		made := []string{"--set", "clowderUrl=https://clowder.example.org,shared.existingClaim=data", "--set", "secret.values.RABBITMQ_URI=amqp://broker"}
		return statefulSet(t, render(t, append(made, args...)...)).Spec.Template.Annotations
	}
	before := annotations()
	require.Equal(t, before, annotations("--set", "metrics.serviceMonitor.enabled=true"), "nothing that the pod reads")
	for key, change := range map[string]string{
		"checksum/settings": "settings.MAX_JOBS=3",
		"checksum/kuberay":  "ray.scratch=30Gi",
		"checksum/secret":   "secret.values.RABBITMQ_URI=amqp://other",
	} {
		after := annotations("--set", change)
		require.NotEqual(t, before[key], after[key], change)
	}
}

// TestSecretsAreInSecretsOnly looks for a password in everything else that the chart makes.
func TestSecretsAreInSecretsOnly(t *testing.T) {
	t.Parallel()
	text, err := template(t, "--set", "clowderUrl=https://clowder.example.org,shared.existingClaim=data",
		"--set", "secret.values.RABBITMQ_URI=amqp://user:canary@broker,secret.values.EXTRACTOR_KEY=canary")
	require.NoError(t, err)
	for doc := range strings.SplitSeq(text, "\n---\n") {
		require.Equal(t, strings.Contains(doc, "kind: Secret\n"), strings.Contains(doc, "canary"), doc)
	}
}

// TestNothingClusterWideUnasked: a person with rights in one namespace can install the chart.
func TestNothingClusterWideUnasked(t *testing.T) {
	t.Parallel()
	for _, o := range render(t, least...) {
		switch o.(type) {
		case *rbacv1.ClusterRole, *rbacv1.ClusterRoleBinding, *corev1.PersistentVolume, *corev1.Namespace:
			require.Failf(t, "cluster-wide", "%T %s", o, nameOf(o))
		}
	}
	find[*rbacv1.ClusterRole](t, render(t, append(least, "--set", "rbac.nodes=true")...), namespace+"-"+fullName+"-nodes")
}

// TestRayUnderGVisor: the class is named to the service, and made where that is asked for.
func TestRayUnderGVisor(t *testing.T) {
	t.Parallel()
	objects := render(t, append(least, "--set", "ray.runtimeClass=gvisor,runtimeClass.create=true")...)
	require.Equal(t, "runsc", find[*nodev1.RuntimeClass](t, objects, "gvisor").Handler)
	require.Contains(t, find[*corev1.ConfigMap](t, objects, fullName+"-kuberay").Data["kuberay.yaml"], "runtimeClass: gvisor\n")
}

func TestTheMonitorFindsTheService(t *testing.T) {
	t.Parallel()
	objects := render(t, append(least, "--set", "metrics.serviceMonitor.enabled=true,metrics.serviceMonitor.labels.prometheus=main")...)
	monitor := find[*unstructured.Unstructured](t, objects, fullName)
	require.Equal(t, "main", monitor.GetLabels()["prometheus"])
	selector, _, err := unstructured.NestedStringMap(monitor.Object, "spec", "selector", "matchLabels")
	require.NoError(t, err)
	service := find[*corev1.Service](t, objects, fullName)
	require.Subset(t, service.Labels, selector)
	require.True(t, service.Spec.PublishNotReadyAddresses, "metrics matter most while the broker is away")
}
