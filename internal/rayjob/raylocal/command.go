package raylocal

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// layout is where the parts of one Ray listen.
type layout struct {
	gcs, dashboard, agent, agentGRPC, runtimeEnv, metrics, client int
}

func newLayout() (layout, error) {
	p, err := freePorts(7)
	if err != nil {
		return layout{}, err
	}
	return layout{gcs: p[0], dashboard: p[1], agent: p[2], agentGRPC: p[3], runtimeEnv: p[4], metrics: p[5], client: p[6]}, nil
}

// arguments start a head that stays in the foreground, which makes it the one process that all others depend on.
func (c Config) arguments(at layout, temp string) []string {
	args := []string{
		"-m", "ray.scripts.scripts", "start", "--head", "--block", "--disable-usage-stats", "--include-dashboard=true",
		"--node-ip-address=127.0.0.1", "--dashboard-host=127.0.0.1",
		// Every port is given: the defaults are shared with any other Ray on this machine, and some of them silently.
		"--port=" + strconv.Itoa(at.gcs),
		"--dashboard-port=" + strconv.Itoa(at.dashboard),
		"--dashboard-agent-listen-port=" + strconv.Itoa(at.agent),
		"--dashboard-agent-grpc-port=" + strconv.Itoa(at.agentGRPC),
		"--runtime-env-agent-port=" + strconv.Itoa(at.runtimeEnv),
		"--metrics-export-port=" + strconv.Itoa(at.metrics),
		"--ray-client-server-port=" + strconv.Itoa(at.client),
		"--temp-dir=" + temp,
		"--object-store-memory=" + strconv.FormatInt(c.ObjectStore, 10),
		"--no-monitor", // the autoscaler: there is nothing to scale, and it is one Python process less
	}
	if c.NumCPUs > 0 {
		args = append(args, "--num-cpus="+strconv.Itoa(c.NumCPUs))
	}
	if c.NumGPUs > 0 {
		args = append(args, "--num-gpus="+strconv.Itoa(c.NumGPUs))
	}
	return args
}

// What Ray and the trainings see of the environment of this program. Settings of the service, which may be secrets, and
// those of another Ray stay out.
var (
	kept         = []string{"HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "LD_LIBRARY_PATH", "HF_HOME"}
	keptPrefixes = []string{"LC_", "CUDA_", "NVIDIA_", "OMP_", "MKL_", "NCCL_", "XDG_"}
)

// environment is that of every process of the Ray with a mark.
func (c Config) environment(mark string) []string {
	var env []string
	path := os.Getenv("PATH")
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		if slices.Contains(kept, name) || slices.ContainsFunc(keptPrefixes, func(p string) bool { return strings.HasPrefix(name, p) }) {
			env = append(env, kv)
		}
	}
	env = append(env, c.Env...)
	return append(env,
		"PATH="+filepath.Dir(c.Python)+string(filepath.ListSeparator)+path,
		markName+"="+mark,
		"RAY_AUTH_MODE=token",
		"RAY_AUTH_TOKEN_PATH="+tokenPath(c.Dir),
		"RAY_USAGE_STATS_ENABLED=0",
		// Without this Ray takes the address of the machine in place of loopback and then listens on all interfaces. It is
		// the switch that makes a Ray on macOS and Windows stay by itself, and it works on Linux as well.
		"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER=0",
		"RAY_enable_metrics_collection=0",
	)
}
