//go:build integration

package helm

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/ncsa/clowder-ray/internal/rayjob/kuberay"
)

// TestEveryFieldOfTheConfigurationHasAPlace compares the schema with the fields that the service reads.
func TestEveryFieldOfTheConfigurationHasAPlace(t *testing.T) {
	t.Parallel()
	computed := []string{"namespace", "claim", "pullSecrets"}
	require.ElementsMatch(t, fields(reflect.TypeFor[kuberay.Config]()), append(computed, properties(t, "properties", "ray")...))
	require.ElementsMatch(t, fields(reflect.TypeFor[kuberay.Machine]()), properties(t, "definitions", "machine"))
	require.ElementsMatch(t, fields(reflect.TypeFor[kuberay.Profile]()), properties(t, "definitions", "profile"))
}

// fields are the names of a struct's fields in JSON.
func fields(of reflect.Type) (names []string) {
	for field := range of.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case field.Anonymous:
			names = append(names, fields(field.Type)...)
		case name != "" && name != "-":
			names = append(names, name)
		}
	}
	return names
}

// TestTheServiceReadsItsConfiguration: what the chart writes is what the service's own reader accepts.
func TestTheServiceReadsItsConfiguration(t *testing.T) {
	t.Parallel()
	for name, values := range variants(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objects := render(t, values...)
			cfg := readConfig(t, find[*corev1.ConfigMap](t, objects, fullName+"-kuberay"))
			require.Equal(t, namespace, cfg.Namespace)
			require.NotEmpty(t, cfg.Profiles)
			mounted := statefulSet(t, objects).Spec.Template.Spec.Volumes
			require.True(t, slices.ContainsFunc(mounted, func(v corev1.Volume) bool {
				return v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == cfg.Claim
			}), "Ray and the service mount the same claim")
		})
	}
}

// readConfig reads the configuration as the service does.
func readConfig(t *testing.T, made *corev1.ConfigMap) kuberay.Config {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kuberay.yaml")
	require.NoError(t, os.WriteFile(file, []byte(made.Data["kuberay.yaml"]), 0o600))
	cfg, err := kuberay.ReadConfig(file)
	require.NoError(t, err)
	return cfg
}
