package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/cmd/extractor/settings"
)

func TestDoctorSaysWhichPythonTrains(t *testing.T) {
	t.Parallel()
	venv := t.TempDir()
	python, absent := filepath.Join(venv, "bin", "python"), filepath.Join(venv, "bin", "absent")
	require.NoError(t, os.Mkdir(filepath.Dir(python), 0o750))
	require.NoError(t, os.WriteFile(python, nil, 0o700))
	for name, tc := range map[string]struct {
		set     settings.Settings
		markers []string
		want    string
		fails   bool
	}{
		"none, and no Ray":          {settings.Settings{RayPython: absent}, nil, "make setup", true},
		"none, and a Ray":           {settings.Settings{RayPython: absent, RayAddress: "http://ray:8265"}, nil, "the machines of Ray have their own", false},
		"none, and Kubernetes":      {settings.Settings{RayPython: absent, KubeRayConfig: "kuberay.yaml"}, nil, "the machines of Ray have their own", false},
		"of another kind":           {settings.Settings{RayPython: python}, nil, python, false},
		"core libraries alone":      {settings.Settings{RayPython: python}, []string{"core"}, "without what networks need: the first run that trains one adds it, 3.1 GB", false},
		"all libraries of networks": {settings.Settings{RayPython: python}, []string{"core", "networks"}, python, false},
	} {
		t.Run(name, func(t *testing.T) {
			for _, marker := range tc.markers {
				require.NoError(t, os.WriteFile(filepath.Join(venv, marker), nil, 0o600))
				t.Cleanup(func() { _ = os.Remove(filepath.Join(venv, marker)) })
			}
			found, err := checkPython(tc.set)
			if tc.fails {
				require.ErrorContains(t, err, tc.want)
				return
			}
			require.NoError(t, err)
			require.True(t, strings.HasSuffix(found, tc.want), found)
		})
	}
}
