package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/cmd/extractor/settings"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/pipeline/volume"
	"github.com/ncsa/clowder-ray/internal/platform"
)

func TestTheSettingsReachTheirParts(t *testing.T) {
	t.Parallel()
	set, err := readEnv("SHARED_DIR=/srv/shared", "STATE_DIR=/srv/state", "MAX_FILES=7", "MAX_BYTES=900", "RETAIN_KEYS=1d", "RETAIN_RUNS=2d", "RETAIN_RECORDS=30d",
		"CACHE_BYTES=5", "MIN_FREE_BYTES=6", "SCRIPT_PACKAGES_BYTES=8", "RABBITMQ_URI=amqps://broker/%2f", "RABBITMQ_CA=/etc/ca.pem")
	require.NoError(t, err)
	limits := objectLimits(set)
	require.Equal(t, 7, limits.Objects)
	require.Equal(t, int64(900), limits.Bytes, "an object store is bounded as a dataset is")

	v := volume.Volume{Dir: set.SharedDir}
	kept := retentionConfig(set, v)
	require.Equal(t, [3]time.Duration{24 * time.Hour, 48 * time.Hour, 720 * time.Hour}, [3]time.Duration{kept.Keys, kept.RunFolders, kept.Records})
	require.Equal(t, [3]int64{5, 6, 8}, [3]int64{kept.CacheBytes, kept.MinFree, kept.OverlayBytes})
	require.Equal(t, map[string]string{"SHARED_DIR": "/srv/shared", "STATE_DIR": "/srv/state"}, kept.Disks)
	require.Equal(t, v.Run("").Path(), kept.Runs.Path())

	broker := brokerConfig(set, platform.Extractor{Queue: "ncsa.ray.predict"})
	require.Equal(t, "ncsa.ray.predict", broker.Queue)
	require.Equal(t, "clowder-ray ncsa.ray.predict", broker.ConnectionName)
	require.Equal(t, "/etc/ca.pem", broker.CAFile)
}

func TestNobodyIsMailedWithoutAServer(t *testing.T) {
	t.Parallel()
	n, err := notifier(settings.Settings{}, nil, zap.NewNop())
	require.NoError(t, err)
	require.Nil(t, n)
}

func TestEveryLimitThatCannotBeIsNamed(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		env  []string
		want string
	}{
		"jobs of a user":               {[]string{"MAX_JOBS_PER_USER=-1"}, "MAX_JOBS_PER_USER: must not be negative"},
		"running jobs of a user":       {[]string{"MAX_RUNNING_PER_USER=-1"}, "MAX_RUNNING_PER_USER: must not be negative"},
		"jobs of a feed":               {[]string{"FEED_JOBS_PER_DAY=-1"}, "FEED_JOBS_PER_DAY: must not be negative"},
		"requests of a user":           {[]string{"USER_REQUESTS_PER_HOUR=-1"}, "USER_REQUESTS_PER_HOUR: must not be negative"},
		"free bytes":                   {[]string{"MIN_FREE_BYTES=-1"}, "MIN_FREE_BYTES: must not be negative"},
		"keys for a negative time":     {[]string{"RETAIN_KEYS=-1d"}, "RETAIN_KEYS: must not be negative"},
		"records shorter than folders": {[]string{"RETAIN_RECORDS=10d", "RETAIN_RUNS=11d"}, "RETAIN_RECORDS: must be at least 7d and at least RETAIN_RUNS"},
		"records of a day":             {[]string{"RETAIN_RECORDS=1d", "RETAIN_RUNS=1h"}, "a repeated message starts a new job"},
		"folders without an end":       {[]string{"RETAIN_RUNS=0"}, "set RETAIN_RECORDS to 0 as well"},
		"two sources of the key":       {[]string{"STATE_KEY=a", "STATE_KEY_FILE=b"}, "set only one of them"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := readEnv(tc.env...)
			require.ErrorContains(t, err, tc.want)
		})
	}
	set, err := readEnv("RETAIN_RECORDS=0", "RETAIN_RUNS=0")
	require.NoError(t, err)
	require.Zero(t, set.RetainRecords, "0 keeps everything")
}

func TestAStateFolderThatCannotBeLocked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err := lockStateDir(filepath.Join(file, "state"))
	require.ErrorContains(t, err, "STATE_DIR: mkdir")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "state", "service.lock"), 0o700))
	_, err = lockStateDir(filepath.Join(dir, "state"))
	require.ErrorContains(t, err, "STATE_DIR: open")
}

func TestARecordThatIsTooLargeIsMadeSmallerByTheService(t *testing.T) {
	t.Parallel()
	word, remedy := unreadable(job.ErrTooLarge)
	require.Equal(t, "too large", word)
	require.Contains(t, remedy, "start the service")
	word, remedy = unreadable(job.ErrDamaged)
	require.Equal(t, "damaged", word)
	require.Contains(t, remedy, "restore the job store from a backup")

	var left leftOut
	require.Zero(t, left.count())
	require.True(t, left.add("ft-a", job.ErrDamaged))
	require.False(t, left.add("ft-a", job.ErrTooLarge), "a job is logged once")
	require.True(t, left.add("ft-b", job.ErrDamaged))
	require.InDelta(t, 2, left.count(), 0)
	require.ErrorIs(t, left.jobs["ft-a"], job.ErrTooLarge, "the newest reason is shown")
}
