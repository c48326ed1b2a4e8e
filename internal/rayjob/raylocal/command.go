package raylocal

import (
	"strconv"

	"github.com/ncsa/clowder-ray/internal/rayjob"
)

// ports are the ports on which the parts of one Ray listen.
type ports struct {
	gcs, dashboard, agent, agentGRPC, runtimeEnv, metrics, client int
}

func newPorts() (ports, error) {
	p, err := freePorts(7)
	if err != nil {
		return ports{}, err
	}
	return ports{gcs: p[0], dashboard: p[1], agent: p[2], agentGRPC: p[3], runtimeEnv: p[4], metrics: p[5], client: p[6]}, nil
}

// arguments start a head in the foreground, so that all other processes depend on this one.
func (c Config) arguments(at ports, temp string) []string {
	args := []string{
		"-m", "ray.scripts.scripts", "start", "--head", "--block", "--disable-usage-stats", "--include-dashboard=true",
		"--node-ip-address=127.0.0.1", "--dashboard-host=127.0.0.1",
		// Every port is set: the defaults collide with any other Ray on this machine, some of them silently.
		"--port=" + strconv.Itoa(at.gcs),
		"--dashboard-port=" + strconv.Itoa(at.dashboard),
		"--dashboard-agent-listen-port=" + strconv.Itoa(at.agent),
		"--dashboard-agent-grpc-port=" + strconv.Itoa(at.agentGRPC),
		"--runtime-env-agent-port=" + strconv.Itoa(at.runtimeEnv),
		"--metrics-export-port=" + strconv.Itoa(at.metrics),
		"--ray-client-server-port=" + strconv.Itoa(at.client),
		"--temp-dir=" + temp,
		"--object-store-memory=" + strconv.FormatInt(c.ObjectStore, 10),
		"--no-monitor",                // no autoscaler: there is nothing to scale, and it saves a Python process
		"--include-log-monitor=false", // it would send what workers print to drivers, which do not print it
	}
	if c.NumCPUs > 0 {
		args = append(args, "--num-cpus="+strconv.Itoa(c.NumCPUs))
	}
	if c.NumGPUs > 0 {
		args = append(args, "--num-gpus="+strconv.Itoa(c.NumGPUs))
	}
	return args
}

// environment is the environment of every process of the Ray with this mark.
func (c Config) environment(mark string) []string {
	env, path := rayjob.Inherited(c.Python)
	return append(append(env, c.Env...),
		path,
		markName+"="+mark,
		"RAY_AUTH_MODE=token",
		"RAY_AUTH_TOKEN_PATH="+tokenPath(c.Dir),
		"RAY_USAGE_STATS_ENABLED=0",
		// Without this switch Ray uses the address of the machine instead of loopback and listens on all interfaces. It is
		// meant for macOS and Windows and works on Linux as well.
		"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER=0",
		"RAY_enable_metrics_collection=0",
	)
}
