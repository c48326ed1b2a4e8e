//go:build docker

package docker_test

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// service is what is looked at of a service in the file as Compose understands it.
type service struct {
	Build       any               `json:"build"`
	Restart     string            `json:"restart"`
	ReadOnly    bool              `json:"read_only"`
	Privileged  bool              `json:"privileged"`
	CapDrop     []string          `json:"cap_drop"`
	SecurityOpt []string          `json:"security_opt"`
	HealthCheck any               `json:"healthcheck"`
	Environment map[string]string `json:"environment"`
	Networks    map[string]any    `json:"networks"`
	Volumes     []struct {
		ReadOnly bool `json:"read_only"`
	} `json:"volumes"`
	Ports []struct {
		HostIP string `json:"host_ip"`
	} `json:"ports"`
}

// folder is where the Compose file lies.
const folder = "../../deploy/compose"

// config asks Compose what it would do.
func config(t *testing.T, args ...string) (map[string]service, string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "./compose.sh", append([]string{"--project-directory", folder}, args...)...)
	cmd.Env = append(os.Environ(), "COMPOSE_FILE="+filepath.Join(folder, "docker-compose.yml"))
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit)
		return nil, string(exit.Stderr), err
	}
	var file struct {
		Services map[string]service `json:"services"`
	}
	require.NoError(t, json.Unmarshal(out, &file))
	return file.Services, "", nil
}

func TestTheServicesOfEachProfile(t *testing.T) {
	t.Parallel()
	ours := []string{"extractor", "predictor", "rabbitmq", "ray"}
	for profile, others := range map[string][]string{
		"first-look": {"clowder-double"},
		"clowder1":   {"clowder1", "mongo1"},
		"clowder": {
			"backend", "elasticsearch", "extractors-heartbeat", "extractors-messages", "frontend", "keycloak", "minio-nginx",
			"minio1", "minio2", "minio3", "minio4", "mongo", "postgres", "traefik",
		},
	} {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			services, stderr, err := config(t, "--env-file", filepath.Join(folder, ".env.example"), "--profile", profile, "config", "--format", "json")
			require.NoError(t, err, stderr)
			require.ElementsMatch(t, append(others, ours...), slices.Collect(maps.Keys(services)))
			for name, s := range services {
				require.Equal(t, "unless-stopped", s.Restart, name)
				if name != "predictor" {
					require.Contains(t, s.Networks, "clowder2", name)
				}
				require.False(t, s.Privileged, name)
				for _, port := range s.Ports {
					require.Equal(t, "127.0.0.1", port.HostIP, "%s is published to others", name)
				}
				if s.Build != nil {
					require.True(t, s.ReadOnly, name)
					require.Equal(t, []string{"ALL"}, s.CapDrop, name)
					require.Equal(t, []string{"no-new-privileges:true"}, s.SecurityOpt, name)
				}
			}
			require.NotNil(t, services["rabbitmq"].HealthCheck)
			require.NotNil(t, services["ray"].HealthCheck)
			require.Equal(t, "http://backend", services["extractor"].Environment["CLOWDER_URL"])
			require.Equal(t, services["ray"].Environment["RAY_AUTH_TOKEN"], services["extractor"].Environment["RAY_AUTH_TOKEN"])
		})
	}
}

// The predictor and TensorBoard ask for no token: nobody but the service may reach them.
func TestOnlyTheServiceReachesThePredictor(t *testing.T) {
	t.Parallel()
	services, stderr, err := config(t, "--env-file", filepath.Join(folder, ".env.example"), "--profile", "first-look", "--profile", "clowder", "--profile", "tensorboard", "config", "--format", "json")
	require.NoError(t, err, stderr)
	for name, s := range services {
		inside := name == "predictor" || name == "tensorboard"
		if _, reaches := s.Networks["predictor"]; reaches {
			require.True(t, inside || name == "extractor", name)
		}
		if inside {
			require.Len(t, s.Networks, 1, name)
			require.Empty(t, s.Ports, name)
			require.True(t, s.ReadOnly, name)
			require.Equal(t, []string{"ALL"}, s.CapDrop, name)
			require.NotNil(t, s.HealthCheck, name)
		}
	}
	require.Equal(t, "false", services["extractor"].Environment["TENSORBOARD"])
	require.Empty(t, services["tensorboard"].Volumes)
	require.True(t, services["predictor"].Volumes[0].ReadOnly)
}

// What the service keeps to itself on the volume that both mount, no training can change; what a training leaves, the service can remove.
func TestRayIsAnotherUserOfTheSameGroup(t *testing.T) {
	t.Parallel()
	users := regexp.MustCompile(`(?m)^USER (\d+):(\d+)$`)
	last := func(file string) []string {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		found := users.FindAllStringSubmatch(string(text), -1)
		require.NotEmpty(t, found, file)
		return found[len(found)-1][1:]
	}
	service, ray := last("../../Dockerfile"), last("../../deploy/images/ray/Dockerfile")
	require.NotEqual(t, service[0], ray[0])
	require.Equal(t, service[1], ray[1])
}

func TestWithoutSecretsNothingStarts(t *testing.T) {
	t.Parallel()
	_, stderr, err := config(t, "--env-file", os.DevNull, "--profile", "first-look", "config", "--format", "json")
	require.Error(t, err)
	require.Contains(t, stderr, "copy .env.example to .env and fill it in")
}

func TestTheExampleOfTheEnvironmentNamesEveryVariable(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile(filepath.Join(folder, "docker-compose.yml"))
	require.NoError(t, err)
	example, err := os.ReadFile(filepath.Join(folder, ".env.example"))
	require.NoError(t, err)
	names := func(pattern string, text []byte) []string {
		found := map[string]bool{}
		for _, m := range regexp.MustCompile(pattern).FindAllSubmatch(text, -1) {
			found[string(m[1])] = true
		}
		return slices.Sorted(maps.Keys(found))
	}
	used := append(names(`\$\{([A-Z0-9_]+)`, file), "COMPOSE_PROFILES")
	require.ElementsMatch(t, used, names(`(?m)^([A-Z0-9_]+)=`, example))
}
