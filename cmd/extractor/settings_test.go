package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/pipeline/volume"
)

// readEnv reads settings from an environment.
func readEnv(environ ...string) (Settings, error) {
	fs := pflag.NewFlagSet("t", pflag.ContinueOnError)
	addFlags(fs)
	return readSettings(fs, environ)
}

func TestDurationsAreReadInAllTheirForms(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"90": 90 * time.Second, "1.5": 1500 * time.Millisecond, "90s": 90 * time.Second, "1h30m": 90 * time.Minute, "7d": 7 * 24 * time.Hour,
	} {
		set, err := readEnv("STALL_TIMEOUT=" + text)
		require.NoError(t, err, text)
		require.Equal(t, want, set.StallTimeout, text)
	}
	_, err := readEnv("STALL_TIMEOUT=soon")
	require.ErrorContains(t, err, "STALL_TIMEOUT")
}

func TestNumbersAreReadInBaseTen(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"10": 10, "010": 10, "1_000": 1000} {
		set, err := readEnv("MAX_JOBS= " + text)
		require.NoError(t, err, text)
		require.Equal(t, want, set.MaxJobs, text)
	}
}

func TestAnEmptyTextInAFileIsNothing(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "settings.yaml")
	require.NoError(t, os.WriteFile(file, []byte("max_running: ''\nstudio_embed: ''\n"), 0o600))
	fs := pflag.NewFlagSet("t", pflag.ContinueOnError)
	addFlags(fs)
	require.NoError(t, fs.Set("config", file))
	set, err := readSettings(fs, nil)
	require.NoError(t, err)
	require.Zero(t, set.MaxRunning)
	require.False(t, set.Studio.Embed)
}

func TestEachValueOfAWrongTypeIsOneLine(t *testing.T) {
	t.Parallel()
	_, err := readEnv("MAX_JOBS=many", "MAX_BYTES=0x10", "STUDIO_EMBED=maybe", "HEARTBEAT=5x", "RETAIN_RUNS=1e99d")
	require.ErrorContains(t, err, `MAX_JOBS: must be a whole number, got "many"`)
	require.ElementsMatch(t, []string{
		`HEARTBEAT: must be a time like 90s, 5m, 2h or 7d, got "5x"`,
		`MAX_BYTES: must be a whole number, got "0x10"`,
		`MAX_JOBS: must be a whole number, got "many"`,
		`RETAIN_RUNS: must be a time like 90s, 5m, 2h or 7d, got "1e99d"`,
		`STUDIO_EMBED: must be true or false, got "maybe"`,
	}, strings.Split(err.Error(), "\n"))
}

func TestInvalidSettingsNameTheSettingAndTheRule(t *testing.T) {
	t.Parallel()
	for env, want := range map[string]string{
		"CLOWDER_VERSION=3":    "CLOWDER_VERSION: must be 0, 1 or 2, got 3",
		"RAY_ADDRESS=ray:8265": `RAY_ADDRESS: "ray:8265" must look like http://host:port`,
		"EXTRACTOR_KEY=k":      "EXTRACTOR_KEY requires CLOWDER_EMAIL",
		"HEARTBEAT=0":          "HEARTBEAT: must be positive, got 0s",
		"MAX_FILES=0":          "MAX_FILES: must be at least 1, got 0",
		"MAX_RETRY=-1":         "MAX_RETRY: must not be negative, got -1",
		"RECOVER_EVERY=-5s":    "RECOVER_EVERY: must not be negative, got -5s",
		"LOG_FORMAT=xml":       `LOG_FORMAT: must be console or json, got "xml"`,
		"RETAIN_RECORDS=1d":    "RETAIN_RECORDS: must be at least 7d",
	} {
		_, err := readEnv(env)
		require.ErrorContains(t, err, want, env)
	}
}

func TestQueuesOfPrivateExtractorsHaveAPrefix(t *testing.T) {
	t.Parallel()
	set := Settings{}
	require.Equal(t, "ncsa.ray.predict", set.Queue("", "ncsa.ray.predict"))
	require.Equal(t, "mine", set.Queue("mine", "ncsa.ray.predict"))
	set.ExtractorKey = "k"
	require.Equal(t, "private.k.mine", set.Queue("mine", "ncsa.ray.predict"))
}

func TestExtractorsNeedDifferentQueuesAndReadableForms(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	broken := filepath.Join(dir, "info.json")
	require.NoError(t, os.WriteFile(broken, []byte("{"), 0o600))
	for env, want := range map[string]string{
		"RABBITMQ_QUEUE=ncsa.ray.runs":    "each extractor needs a different name and queue",
		"EXTRACTOR_INFO=" + dir + "/none": "EXTRACTOR_INFO",
		"EXTRACTOR_INFO=" + broken:        "extractor_info.json",
		"KUBERAY_CONFIG=" + dir + "/none": "KUBERAY_CONFIG",
	} {
		set, err := readEnv(env, "SHARED_DIR="+dir)
		require.NoError(t, err)
		_, err = extractors(set, volume.Volume{Dir: set.SharedDir})
		require.ErrorContains(t, err, want, env)
		kind, _ := job.Classify(err)
		require.Equal(t, job.KindPermanent, kind, env)
	}
	set, err := readEnv("SHARED_DIR=" + dir)
	require.NoError(t, err)
	all, err := extractors(set, volume.Volume{Dir: set.SharedDir})
	require.NoError(t, err)
	require.Equal(t, []string{finetuner, advanced, predictor, scripter, "ncsa.ray.runs"}, all.Names())
}

func TestProfilesComeFromTheKubeRayConfiguration(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "kuberay.yaml")
	require.NoError(t, os.WriteFile(file, []byte("profiles: [{name: small}, {name: gpu, gpu: 1}]\n"), 0o600))
	set := Settings{KubeRayConfig: file}
	names, err := set.profiles()
	require.NoError(t, err)
	require.Equal(t, []string{"small", "gpu"}, names)
	require.NoError(t, os.WriteFile(file, []byte("profile: []\n"), 0o600))
	_, err = set.profiles()
	require.ErrorContains(t, err, `unknown field "profile"`)
	_, err = newRay(set, "", zap.NewNop())
	require.ErrorContains(t, err, "KUBERAY_CONFIG")
}

func TestTheClientOfClowderNeedsReadableCertificates(t *testing.T) {
	t.Parallel()
	empty := filepath.Join(t.TempDir(), "ca.crt")
	require.NoError(t, os.WriteFile(empty, []byte("x"), 0o600))
	for file, want := range map[string]string{filepath.Join(t.TempDir(), "none"): "no such file", empty: "contains no certificate"} {
		set, err := readEnv("CLOWDER_URL=https://clowder.example.org", "CLOWDER_CA="+file)
		require.NoError(t, err)
		_, err = checkClowder(t.Context(), set)
		require.ErrorContains(t, err, want)
	}
}
