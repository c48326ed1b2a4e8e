package raytest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Python returns an interpreter that has Ray: that of the environment RAY_PYTHON_ENV, RAY_PYTHON, or the first on PATH.
// Where none has Ray the test is skipped.
func Python(t *testing.T) string {
	t.Helper()
	candidates := []string{os.Getenv("RAY_PYTHON"), "python", "python3"}
	if env := os.Getenv("RAY_PYTHON_ENV"); env != "" {
		candidates = []string{filepath.Join(env, "bin", "python")}
	}
	for _, name := range candidates {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		find := "import importlib.util as u, sys; sys.exit(u.find_spec('ray') is None)"
		if exec.CommandContext(t.Context(), path, "-c", find).Run() == nil { //nolint:gosec // the tester names the interpreter
			return path
		}
	}
	t.Skip("no Python with Ray is here: set RAY_PYTHON_ENV to an environment that has it")
	return ""
}
