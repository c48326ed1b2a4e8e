package rayjob

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The variables that trainings on this machine inherit from this program. Settings of the service, which may be secrets, and settings of
// a Ray are not passed on.
var (
	inherited         = []string{"HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "LD_LIBRARY_PATH", "HF_HOME"}
	inheritedPrefixes = []string{"LC_", "CUDA_", "NVIDIA_", "OMP_", "MKL_", "NCCL_", "XDG_"}
)

// Inherited returns the environment that trainings on this machine get from this program, KEY=value, and their PATH, on
// which the folder of the interpreter is the first.
func Inherited(python string) (env []string, path string) {
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		if slices.Contains(inherited, name) || slices.ContainsFunc(inheritedPrefixes, func(p string) bool { return strings.HasPrefix(name, p) }) {
			env = append(env, kv)
		}
	}
	return env, "PATH=" + filepath.Dir(python) + string(filepath.ListSeparator) + os.Getenv("PATH")
}
