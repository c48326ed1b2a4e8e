package main

import (
	"fmt"
	"os/exec"
	"path/filepath"

	"github.com/ncsa/clowder-ray/cmd/extractor/machine"
	"github.com/ncsa/clowder-ray/cmd/extractor/settings"
	"github.com/ncsa/clowder-ray/internal/disk"
)

// checkPython says which Python trains on this machine. None is a fault only where no other machine has one: without a Ray cluster and
// Kubernetes.
func checkPython(set settings.Settings) (string, error) {
	python, err := exec.LookPath(localPython(set))
	elsewhere := set.RayAddress != "" || set.KubeRayConfig != ""
	switch {
	case err != nil && elsewhere:
		return "none that trains on this machine; the machines of Ray have their own", nil
	case err != nil:
		return "", fmt.Errorf("no Python that trains: %w; without a Ray cluster, %s", err, machine.Remedy)
	}
	venv := disk.Folder{Volume: filepath.Dir(filepath.Dir(python))}
	root, err := venv.Open()
	if err != nil {
		return python, nil
	}
	defer func() { _ = root.Close() }()
	if _, err := root.Stat("core"); err == nil {
		if _, err := root.Stat("networks"); err != nil {
			return python + ", without what networks need: the first run that trains one adds it, 3.1 GB", nil
		}
	}
	return python, nil
}
