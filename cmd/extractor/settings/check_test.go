package settings_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/cmd/extractor/settings"
)

func TestSettingsReportAllFaultsAtOnce(t *testing.T) {
	t.Parallel()
	_, err := read(t, nil, "MAX_JOBS=0", "CLOWDER_URL=clowder", "EXTRACTOR_KEY=k", "LOG_FORMAT=xml", "HEARTBEAT=-1")
	for _, name := range []string{"MAX_JOBS", "CLOWDER_URL", "EXTRACTOR_KEY", "LOG_FORMAT", "HEARTBEAT"} {
		require.ErrorContains(t, err, name)
	}
	file := filepath.Join(t.TempDir(), "settings.yaml")
	require.NoError(t, os.WriteFile(file, []byte("max_jbos: 3\n"), 0o600))
	_, err = read(t, []string{"--config", file})
	require.ErrorContains(t, err, "max_jbos", "a misspelt key is not passed over")
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
		_, err := read(t, nil, env)
		require.ErrorContains(t, err, want, env)
	}
}

func TestLimitsThatCannotBeAreReportedTogether(t *testing.T) {
	t.Parallel()
	_, err := read(t, nil, "MAX_RUNNING=-1", "WARM_WORKERS=-1", "CACHE_BYTES=-1", "RETAIN_RECORDS=3d", "STATE_KEY=a", "STATE_KEY_FILE=b")
	for _, name := range []string{"MAX_RUNNING", "WARM_WORKERS", "CACHE_BYTES", "RETAIN_RECORDS", "STATE_KEY and STATE_KEY_FILE"} {
		require.ErrorContains(t, err, name)
	}
	_, err = read(t, nil, "RETAIN_RUNS=0")
	require.ErrorContains(t, err, "RETAIN_RUNS")
	set, err := read(t, nil, "RETAIN_RECORDS=400d", "RETAIN_RUNS=0.5h")
	require.NoError(t, err)
	require.Equal(t, 400*24*time.Hour, set.RetainRecords)
	require.Equal(t, 30*time.Minute, set.RetainRuns)
	require.Equal(t, 7*24*time.Hour, set.RetainKeys)
}

func TestHowManyJobsInHandMayBeOneUsers(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		env  []string
		want int
	}{
		"half of them": {nil, 32}, "at least one": {[]string{"MAX_JOBS=1"}, 1},
		"as many as the setting says": {[]string{"MAX_JOBS_PER_USER=5"}, 5}, "all of them": {[]string{"MAX_JOBS=9", "MAX_JOBS_PER_USER=9"}, 9},
	} {
		set, err := read(t, nil, tc.env...)
		require.NoError(t, err)
		require.Equal(t, tc.want, set.JobsPerUser(), name)
	}
}

func TestQueuesOfPrivateExtractorsHaveAPrefix(t *testing.T) {
	t.Parallel()
	set := settings.Settings{}
	require.Equal(t, "ncsa.ray.predict", set.Queue("", "ncsa.ray.predict"))
	require.Equal(t, "mine", set.Queue("mine", "ncsa.ray.predict"))
	set.ExtractorKey = "k"
	require.Equal(t, "private.k.mine", set.Queue("mine", "ncsa.ray.predict"))
}
