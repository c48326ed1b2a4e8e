package manifests

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"sigs.k8s.io/yaml"

	"github.com/ncsa/clowder-ray/internal/registry"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var reviews = registry.Version{Name: "reviews", Version: 3, Clowder: "https://clowder.example.org", DatasetID: "655fd7c3e4b0a1b2c3d4e5f6"}

func documents(t *testing.T, kind string, v registry.Version, o Options) []map[string]any {
	t.Helper()
	doc, err := Write(kind, v, strings.Repeat("a", 64), o)
	require.NoError(t, err)
	var out []map[string]any
	for part := range strings.SplitSeq(doc, "\n---\n") {
		var m map[string]any
		require.NoError(t, yaml.UnmarshalStrict([]byte(part), &m), part)
		out = append(out, m)
	}
	return out
}

// at finds a value by its keys.
func at(t *testing.T, doc any, keys ...any) any {
	t.Helper()
	for _, key := range keys {
		switch k := key.(type) {
		case string:
			m, ok := doc.(map[string]any)
			require.True(t, ok, key)
			doc = m[k]
		case int:
			l, ok := doc.([]any)
			require.True(t, ok, key)
			doc = l[k]
		}
	}
	return doc
}

func TestADeploymentServesOneVersionAndNoOther(t *testing.T) {
	t.Parallel()
	docs := documents(t, Deployment, reviews, Options{Claim: "shared", Image: "images.example.org/ray:1"})
	require.Len(t, docs, 3)
	pod := at(t, docs[0], "spec", "template", "spec")
	container := at(t, pod, "containers", 0)
	require.Equal(t, "images.example.org/ray:1", at(t, container, "image"))
	require.Contains(t, at(t, container, "args"), strings.Repeat("a", 64))
	mount := at(t, container, "volumeMounts", 0)
	require.Equal(t, "registry/"+reviews.Folder()+"/reviews/3", at(t, mount, "subPath"))
	require.Equal(t, true, at(t, mount, "readOnly"))
	require.Equal(t, true, at(t, container, "securityContext", "readOnlyRootFilesystem"))
	require.Equal(t, false, at(t, pod, "automountServiceAccountToken"))
	require.Equal(t, at(t, docs[0], "spec", "selector", "matchLabels"), at(t, docs[1], "spec", "selector"))
	require.Equal(t, "model-reviews-3", at(t, docs[2], "spec", "scaleTargetRef", "name"))
}

func TestAnInferenceServiceReadsTheClaim(t *testing.T) {
	t.Parallel()
	doc := documents(t, KServe, reviews, Options{Claim: "shared"})[0]
	require.Equal(t, "InferenceService", doc["kind"])
	container := at(t, doc, "spec", "predictor", "containers", 0)
	require.Equal(t, "kserve-container", at(t, container, "name"), "KServe finds its container by this name")
	require.Equal(t, "pvc://shared/registry/"+reviews.Folder()+"/reviews/3", at(t, container, "env", 0, "value"))
	require.Equal(t, "v2", at(t, container, "env", 1, "value"))
}

func TestARayServiceHasAnApplication(t *testing.T) {
	t.Parallel()
	doc := documents(t, RayService, reviews, Options{})[0]
	config, ok := at(t, doc, "spec", "serveConfigV2").(string)
	require.True(t, ok)
	var serve map[string]any
	require.NoError(t, yaml.UnmarshalStrict([]byte(config), &serve))
	require.Equal(t, "trainer.answer.ray_serve:application", at(t, serve, "applications", 0, "import_path"))
	require.InDelta(t, 1, at(t, serve, "applications", 0, "deployments", 0, "autoscaling_config", "min_replicas"), 0)
}

func TestNamesFitKubernetes(t *testing.T) {
	t.Parallel()
	long := reviews
	long.Name, long.Version = strings.Repeat("very-long-", 6), 123456789
	for _, v := range []registry.Version{reviews, long, {Name: "3d", Version: 1}} {
		require.Regexp(t, `^model-[a-z0-9-]*[a-z0-9]-[0-9]+$`, name(v))
		require.LessOrEqual(t, len(name(v)), maxName)
	}
}

func TestWhatOperatorsWriteStaysAText(t *testing.T) {
	t.Parallel()
	doc := documents(t, Deployment, reviews, Options{Image: "a\"\n  evil: yes", Claim: "b: {c}"})[0]
	require.Equal(t, "a\"\n  evil: yes", at(t, doc, "spec", "template", "spec", "containers", 0, "image"))
	_, err := Write("helm", reviews, "", Options{})
	require.EqualError(t, err, `there is no manifest "helm": choose deployment, kserve or rayservice`)
}
