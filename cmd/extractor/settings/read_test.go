package settings_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/cmd/extractor/scripts"
	"github.com/ncsa/clowder-ray/cmd/extractor/settings"
	"github.com/ncsa/clowder-ray/cmd/extractor/studio"
	"github.com/ncsa/clowder-ray/internal/job"
)

// read reads settings from the arguments of a command and an environment.
func read(t *testing.T, arguments []string, environ ...string) (settings.Settings, error) {
	t.Helper()
	fs := pflag.NewFlagSet("t", pflag.ContinueOnError)
	settings.AddFlags(fs)
	require.NoError(t, fs.Parse(arguments))
	return settings.Read(fs, environ)
}

func TestSettingsComeFromFileEnvironmentAndFlagsInThisOrder(t *testing.T) {
	t.Parallel()
	defaults, err := read(t, nil)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "settings.yaml")
	require.NoError(t, os.WriteFile(file, []byte("max_jobs: 3\nmax_retry: 4\nheartbeat: 2m\nclowder_hosts: [http://a, http://b]\n"), 0o600))
	set, err := read(t, []string{"--config", file, "--max-retry", "6"}, "MAX_RETRY=5", "HEARTBEAT=90", "STALL_TIMEOUT=45m", "RABBITMQ_URI=amqp://u:canary@h/%2f", "MAX_JOBS=")
	require.NoError(t, err)
	require.Equal(t, 3, set.MaxJobs, "an empty variable is no value")
	require.Equal(t, 6, set.MaxRetry)
	require.Equal(t, 90*time.Second, set.Heartbeat, "pyclowder's bare number is seconds")
	require.Equal(t, 45*time.Minute, set.StallTimeout)
	require.Equal(t, 30*time.Minute, defaults.StallTimeout)
	require.Equal(t, []string{"http://a", "http://b"}, set.ClowderHosts)
	require.NotContains(t, fmt.Sprintf("%+v", set), "canary")
}

func TestAListInOneTextMayHaveBlanks(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		arguments, environ []string
	}{
		"a variable": {nil, []string{"CLOWDER_HOSTS= http://a ,http://b,, "}},
		"a flag":     {[]string{"--clowder-hosts", "http://a, http://b"}, nil},
	} {
		set, err := read(t, tc.arguments, tc.environ...)
		require.NoError(t, err, name)
		require.Equal(t, []string{"http://a", "http://b"}, set.ClowderHosts, name)
	}
}

func TestASettingThatIsOnOrOffHasAFlag(t *testing.T) {
	t.Parallel()
	set, err := read(t, []string{"--tensorboard", "--studio-embed=false"})
	require.NoError(t, err)
	require.True(t, set.Studio.TensorBoard)
	require.False(t, set.Studio.Embed)
}

func TestTheExampleOfADeploymentIsValid(t *testing.T) {
	t.Parallel()
	set, err := read(t, []string{"--config", filepath.Join("..", "..", "..", "deploy", "settings.yaml")})
	require.NoError(t, err)
	require.Equal(t, "/shared", set.SharedDir)
}

func TestASettingsFileOfTheVersionBeforeIsRead(t *testing.T) {
	t.Parallel()
	got, err := read(t, []string{"--config", filepath.Join("..", "..", "..", "test", "stored", "settings.yaml")})
	require.NoError(t, err)
	defaults, err := read(t, nil)
	require.NoError(t, err)
	require.Equal(t, defaults.Scripts, got.Scripts, "there were none about scripts")
	got.Scripts = scripts.Settings{}
	require.Equal(t, defaults.Studio, got.Studio, "there was none")
	got.Studio = studio.Settings{}
	const day = 24 * time.Hour
	require.Equal(t, settings.Settings{
		RabbitMQURI: "amqp://user:word@broker/vhost", RabbitMQQueue: "own.train", AdvancedQueue: "own.advanced", PredictQueue: "own.predict",
		RunsQueue: "own.runs", RabbitMQExchange: "clowder", ClowderURL: "https://clowder.example.org",
		ClowderHosts:   []string{"https://clowder.example.org", "https://other.example.org"},
		ClowderVersion: 2, ClowderEmail: "operator@example.org", ExtractorKey: "a-key", Heartbeat: 45 * time.Second,
		MaxRetry: 7, MaxAttempts: 4, MaxJobs: 200, MaxJobsPerUser: 50, MaxRunning: 12, MaxRunningPerUser: 3, UserJobsPerHour: 20,
		UserRequestsPerHour: 300, FeedJobsPerDay: 20, MaxFiles: 500, MaxBytes: 1_000_000_000,
		PendingTimeout: 2 * time.Hour, StallTimeout: 20 * time.Minute, RecoverEvery: 5 * time.Minute,
		RayAddress: "http://ray-head:8265", RayToken: "a-token", RayPython: "/opt/python", RayPoll: 3 * time.Second, KubeRayInstance: "own", WarmWorkers: 4,
		SharedDir: "/tmp/shared", RaySharedDir: "/mnt/shared", StateDir: "/tmp/state", StateKey: job.Secret("MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="),
		RetainRecords: 60 * day, RetainRuns: 20 * day, RetainKeys: 3 * day, CacheBytes: 5_000_000_000, MinFreeBytes: 1_000_000,
		Listen: ":8780", LogLevel: "debug", LogFormat: "json", ShutdownTimeout: 30 * time.Second,
	}, got)
}

func TestDurationsAreReadInAllTheirForms(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"90": 90 * time.Second, "1.5": 1500 * time.Millisecond, "90s": 90 * time.Second, "1h30m": 90 * time.Minute, "7d": 7 * 24 * time.Hour,
	} {
		set, err := read(t, nil, "STALL_TIMEOUT="+text)
		require.NoError(t, err, text)
		require.Equal(t, want, set.StallTimeout, text)
	}
	_, err := read(t, nil, "STALL_TIMEOUT=soon")
	require.ErrorContains(t, err, "STALL_TIMEOUT")
}

func TestNumbersAreReadInBaseTen(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"10": 10, "010": 10, "1_000": 1000} {
		set, err := read(t, nil, "MAX_JOBS= "+text)
		require.NoError(t, err, text)
		require.Equal(t, want, set.MaxJobs, text)
	}
}

func TestAnEmptyTextInAFileIsNothing(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "settings.yaml")
	require.NoError(t, os.WriteFile(file, []byte("max_running: ''\nstudio_embed: ''\n"), 0o600))
	set, err := read(t, []string{"--config", file})
	require.NoError(t, err)
	require.Zero(t, set.MaxRunning)
	require.False(t, set.Studio.Embed)
}

func TestEachValueOfAWrongTypeIsOneLine(t *testing.T) {
	t.Parallel()
	_, err := read(t, nil, "MAX_JOBS=many", "MAX_BYTES=0x10", "STUDIO_EMBED=maybe", "HEARTBEAT=5x", "RETAIN_RUNS=1e99d")
	require.ErrorContains(t, err, `MAX_JOBS: must be a whole number, got "many"`)
	require.ElementsMatch(t, []string{
		`HEARTBEAT: must be a time like 90s, 5m, 2h or 7d, got "5x"`,
		`MAX_BYTES: must be a whole number, got "0x10"`,
		`MAX_JOBS: must be a whole number, got "many"`,
		`RETAIN_RUNS: must be a time like 90s, 5m, 2h or 7d, got "1e99d"`,
		`STUDIO_EMBED: must be true or false, got "maybe"`,
	}, strings.Split(err.Error(), "\n"))
}
