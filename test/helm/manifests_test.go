//go:build integration

package helm

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/ncsa/clowder-ray/internal/answer/manifests"
	"github.com/ncsa/clowder-ray/internal/registry"
	"github.com/ncsa/clowder-ray/test/cluster"
)

// TestTheAPIServerTakesTheManifestsOfModels lets the API server check each field of what serves a model, in a namespace under the level
// restricted.
func TestTheAPIServerTakesTheManifestsOfModels(t *testing.T) {
	t.Parallel()
	plane := cluster.Shared(t)
	ns := plane.Namespace(t, restricted)
	client, err := dynamic.NewForConfig(plane.Config())
	require.NoError(t, err)
	v := registry.Version{Name: "reviews", Version: 3, Clowder: "https://clowder.example.org", DatasetID: "655fd7c3e4b0a1b2c3d4e5f6"}
	resources := map[string]string{
		"Deployment": "deployments", "Service": "services", "HorizontalPodAutoscaler": "horizontalpodautoscalers", "RayService": "rayservices",
	}
	for _, kind := range []string{manifests.Deployment, manifests.RayService} {
		doc, err := manifests.Write(kind, v, strings.Repeat("a", 64), manifests.Options{})
		require.NoError(t, err)
		for part := range strings.SplitSeq(doc, "\n---\n") {
			var object unstructured.Unstructured
			require.NoError(t, yaml.Unmarshal([]byte(part), &object.Object))
			group, err := schema.ParseGroupVersion(object.GetAPIVersion())
			require.NoError(t, err)
			_, err = client.Resource(group.WithResource(resources[object.GetKind()])).Namespace(ns).
				Create(t.Context(), &object, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict})
			require.NoError(t, err, object.GetKind())
		}
	}
}
