package backend

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/cmd/extractor/settings"
)

func TestProfilesComeFromTheKubeRayConfiguration(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "kuberay.yaml")
	require.NoError(t, os.WriteFile(file, []byte("profiles: [{name: small}, {name: gpu, gpu: 1}]\n"), 0o600))
	set := settings.Settings{KubeRayConfig: file}
	names, err := Profiles(set)
	require.NoError(t, err)
	require.Equal(t, []string{"small", "gpu"}, names)
	require.NoError(t, os.WriteFile(file, []byte("profile: []\n"), 0o600))
	_, err = Profiles(set)
	require.ErrorContains(t, err, `unknown field "profile"`)
	_, err = New(set, "", zap.NewNop())
	require.ErrorContains(t, err, "KUBERAY_CONFIG")
}
