package cluster

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// programs builds the programs that are missing, once per machine, and returns the folder that holds them.
func programs(ctx context.Context, names ...string) (string, error) {
	_, file, _, _ := runtime.Caller(0)
	cmd := exec.CommandContext(ctx, filepath.Join(filepath.Dir(file), "binaries.sh"), names...)
	cmd.Stderr = os.Stderr // a build takes minutes: the script says so
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("build %s: %w", strings.Join(names, ", "), err)
	}
	return strings.TrimSpace(string(out)), nil
}

// definitions is the folder with the definitions of RayJob and RayCluster of the module that the service is built with.
func definitions(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/ray-project/kuberay/ray-operator").Output()
	if err != nil {
		return "", fmt.Errorf("find KubeRay's module: %w", err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "config", "crd", "bases"), nil
}
