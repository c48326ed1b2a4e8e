//go:build integration

package helm

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes/scheme"
)

const (
	chartDir = "../../deploy/helm/clowder-ray"
	examples = "../../deploy/helm/examples"

	// release and namespace are what the tests install as; fullName is what the chart makes of it.
	release, namespace = "rel", "research"
	fullName           = "rel-clowder-ray"
)

// least is the least that a person must set.
var least = []string{
	"--set", "clowderUrl=https://clowder.example.org",
	"--set", "secret.existing=broker",
	"--set", "shared.existingClaim=data",
}

// helmBinary is the Helm of the test cluster, built if it is missing, unless HELM names another.
var helmBinary = sync.OnceValues(func() (string, error) {
	if helm := os.Getenv("HELM"); helm != "" {
		return helm, nil
	}
	cmd := exec.Command("../cluster/binaries.sh", "helm")
	cmd.Stderr = os.Stderr // a build takes minutes: the script says so
	out, err := cmd.Output()
	return filepath.Join(strings.TrimSpace(string(out)), "helm"), err
})

// helm runs Helm with the test cluster's credentials, if there are any, and none of the user's own files.
func helm(t *testing.T, kubeconfig string, args ...string) (string, error) {
	t.Helper()
	binary, err := helmBinary()
	require.NoError(t, err, "get Helm")
	home := t.TempDir()
	cmd := exec.CommandContext(t.Context(), binary, args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+cmp.Or(kubeconfig, os.DevNull),
		"HELM_CACHE_HOME="+home, "HELM_CONFIG_HOME="+home, "HELM_DATA_HOME="+home)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("helm %s: %w\n%s", args[0], err, stderr.String())
	}
	return stdout.String(), nil
}

// template renders the chart without a cluster.
func template(t *testing.T, args ...string) (string, error) {
	t.Helper()
	return helm(t, "", append([]string{"template", release, chartDir, "-n", namespace, "--kube-version", "1.35.0"}, args...)...)
}

// render renders the chart and decodes it strictly: a field that Kubernetes does not know is a fault.
func render(t *testing.T, args ...string) []runtime.Object {
	t.Helper()
	text, err := template(t, args...)
	require.NoError(t, err)
	strict := serializer.NewCodecFactory(scheme.Scheme, serializer.EnableStrict).UniversalDeserializer()
	var objects []runtime.Object
	for docs := yaml.NewYAMLReader(bufio.NewReader(strings.NewReader(text))); ; {
		doc, err := docs.Read()
		if errors.Is(err, io.EOF) {
			return objects
		}
		require.NoError(t, err)
		object, _, err := strict.Decode(doc, nil, nil)
		if runtime.IsNotRegisteredError(err) { // ServiceMonitor is the Prometheus operator's
			object = &unstructured.Unstructured{}
			err = yaml.Unmarshal(doc, object)
		}
		require.NoError(t, err, "decode:\n%s", doc)
		objects = append(objects, object)
	}
}

// find returns the object of a type and a name.
func find[T runtime.Object](t *testing.T, objects []runtime.Object, name string) T {
	t.Helper()
	for _, o := range objects {
		if found, ok := o.(T); ok && nameOf(o) == name {
			return found
		}
	}
	var none T
	require.Failf(t, "missing", "the chart makes no %T %s", none, name)
	return none
}

func nameOf(o runtime.Object) string {
	accessor, err := meta.Accessor(o)
	if err != nil {
		return ""
	}
	return accessor.GetName()
}

func statefulSet(t *testing.T, objects []runtime.Object) *appsv1.StatefulSet {
	t.Helper()
	return find[*appsv1.StatefulSet](t, objects, fullName)
}

// variants are the values that every promise about all objects is tried with: the least, each example, and nearly all switches on.
func variants(t *testing.T) map[string][]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(examples, "*.yaml"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	all := map[string][]string{
		"the least":          least,
		"everything at once": {"--values", "testdata/everything.yaml"},
	}
	for _, file := range files {
		all[filepath.Base(file)] = []string{"--values", file}
	}
	return all
}
