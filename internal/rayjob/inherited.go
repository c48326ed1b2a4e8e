package rayjob

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The variables that trainings on this machine inherit from this program. Settings of the service, which may be secrets, and settings of
// a Ray are not passed on. The proxy, the certificates and uv's package index serve the installation of what networks need.
var (
	inherited = []string{
		"HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "LD_LIBRARY_PATH", "HF_HOME",
		"SSL_CERT_FILE", "SSL_CERT_DIR", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
	}
	inheritedPrefixes = []string{"LC_", "CUDA_", "NVIDIA_", "OMP_", "MKL_", "NCCL_", "XDG_", "UV_"}
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
