//go:build integration

package helm

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const studioName = fullName + "-studio"

func TestPeopleAreLedToTheStudio(t *testing.T) {
	t.Parallel()
	objects := render(t, "--values", "testdata/everything.yaml")
	service := find[*corev1.Service](t, objects, studioName)
	require.Equal(t, "studio", service.Spec.Ports[0].TargetPort.String())
	require.Len(t, service.Spec.Ports, 1, "the metrics are not behind it")
	require.Contains(t, statefulSet(t, objects).Spec.Template.Spec.Containers[0].Ports, corev1.ContainerPort{Name: "studio", ContainerPort: 8781, Protocol: ""})

	ingress := find[*networkingv1.Ingress](t, objects, studioName)
	require.Equal(t, "studio.example.org", ingress.Spec.Rules[0].Host)
	require.Equal(t, "/ray", ingress.Spec.Rules[0].HTTP.Paths[0].Path)
	require.Equal(t, []networkingv1.IngressTLS{{Hosts: []string{"studio.example.org"}, SecretName: "studio-tls"}}, ingress.Spec.TLS)
	require.Equal(t, "16m", ingress.Annotations["nginx.ingress.kubernetes.io/proxy-body-size"])

	route := find[*unstructured.Unstructured](t, objects, studioName)
	require.Equal(t, "HTTPRoute", route.GetKind())
	hosts, _, err := unstructured.NestedStringSlice(route.Object, "spec", "hostnames")
	require.NoError(t, err)
	require.Equal(t, []string{"studio.example.org"}, hosts)
}

// TestTheSecretOfTheClientStaysInItsSecret mounts the one key of the Secret that the values name.
func TestTheSecretOfTheClientStaysInItsSecret(t *testing.T) {
	t.Parallel()
	pod := statefulSet(t, render(t, "--values", "testdata/everything.yaml")).Spec.Template.Spec
	require.Contains(t, pod.Volumes, corev1.Volume{Name: "oidc", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{
		SecretName: "studio-client", Items: []corev1.KeyToPath{{Key: "secret", Path: "secret"}},
	}}})
	require.Contains(t, pod.Containers[0].VolumeMounts, corev1.VolumeMount{Name: "oidc", ReadOnly: true, MountPath: "/etc/clowder-ray-oidc"})
}

func TestThereIsNoStudioUnlessItIsOn(t *testing.T) {
	t.Parallel()
	for _, o := range render(t, least...) {
		require.NotEqual(t, studioName, nameOf(o))
	}
}

func TestAStudioNeedsAnAddress(t *testing.T) {
	t.Parallel()
	for values, want := range map[string]string{
		"studio.enabled=true": "studio.url is empty",
		"studio.enabled=true,studio.url=https://s.example.org,studio.login[0]=oidc":          "studio.oidc.issuer is empty",
		"studio.enabled=true,studio.url=https://s.example.org,studio.oidc.secret.existing=x": "studio.oidc.issuer is empty",
		"studio.enabled=true,studio.url=https://s.example.org/":                              "studio",
		"studio.login[0]=password": "studio",
	} {
		_, err := template(t, append(least, "--set", values)...)
		require.ErrorContains(t, err, want, values)
	}
}
