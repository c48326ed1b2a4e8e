//go:build integration

package helm

import (
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
)

const predictorName = fullName + "-predictor"

var withPredictor = append([]string{"--set", "studio.enabled=true,studio.url=https://s.example.org,predictor.enabled=true,predictor.tokenSecret=token"}, least...)

func TestThePredictorReadsAndReachesNothing(t *testing.T) {
	t.Parallel()
	objects := render(t, withPredictor...)
	pod := find[*appsv1.Deployment](t, objects, predictorName).Spec.Template
	container := pod.Spec.Containers[0]
	require.True(t, container.VolumeMounts[0].ReadOnly)
	require.True(t, *container.SecurityContext.ReadOnlyRootFilesystem)
	require.False(t, *pod.Spec.AutomountServiceAccountToken)
	policy := find[*networkingv1.NetworkPolicy](t, objects, predictorName)
	require.Empty(t, policy.Spec.Egress)
	require.Contains(t, policy.Spec.PolicyTypes, networkingv1.PolicyTypeEgress)
	require.Equal(t, "extractor", policy.Spec.Ingress[0].From[0].PodSelector.MatchLabels["app.kubernetes.io/component"])
	require.Equal(t, pod.Labels, find[*corev1.Service](t, objects, predictorName).Spec.Selector)

	settings := find[*corev1.ConfigMap](t, objects, fullName).Data
	require.Equal(t, "http://"+predictorName+":8080", settings["PREDICTOR_URL"])
	require.Equal(t, "/etc/clowder-ray-predictor/token", settings["PREDICTOR_TOKEN_FILE"])
}

func TestThePredictorNeedsAToken(t *testing.T) {
	t.Parallel()
	_, err := template(t, append([]string{"--set", "predictor.enabled=true"}, least...)...)
	require.ErrorContains(t, err, "predictor.tokenSecret is empty")
	for _, o := range render(t, least...) {
		require.NotEqual(t, predictorName, nameOf(o))
	}
}

func TestTensorBoardStandsBesideThePredictorWithoutTheVolume(t *testing.T) {
	t.Parallel()
	objects := render(t, append([]string{"--set", "predictor.tensorboard=true"}, withPredictor...)...)
	containers := find[*appsv1.Deployment](t, objects, predictorName).Spec.Template.Spec.Containers
	require.Len(t, containers, 2)
	for _, mount := range containers[1].VolumeMounts {
		require.NotEqual(t, "shared", mount.Name)
	}
	require.Len(t, find[*corev1.Service](t, objects, predictorName).Spec.Ports, 2)
	require.Len(t, find[*networkingv1.NetworkPolicy](t, objects, predictorName).Spec.Ingress[0].Ports, 2)
	settings := find[*corev1.ConfigMap](t, objects, fullName).Data
	require.Equal(t, "true", settings["TENSORBOARD"])
	require.Equal(t, "http://"+predictorName+":8081", settings["TENSORBOARD_URL"])
	require.Equal(t, settings["PREDICTOR_TOKEN_FILE"], settings["TENSORBOARD_TOKEN_FILE"])
	require.NotContains(t, find[*corev1.ConfigMap](t, render(t, withPredictor...), fullName).Data, "TENSORBOARD")
}
