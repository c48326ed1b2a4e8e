package main

import (
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

func TestLimitsThatCannotBeAreReportedTogether(t *testing.T) {
	t.Parallel()
	fs := pflag.NewFlagSet("t", pflag.ContinueOnError)
	addFlags(fs)
	_, err := readSettings(fs, []string{
		"MAX_RUNNING=-1", "WARM_WORKERS=-1", "CACHE_BYTES=-1", "RETAIN_RECORDS=3d", "STATE_KEY=a", "STATE_KEY_FILE=b",
	})
	for _, name := range []string{"MAX_RUNNING", "WARM_WORKERS", "CACHE_BYTES", "RETAIN_RECORDS", "STATE_KEY and STATE_KEY_FILE"} {
		require.ErrorContains(t, err, name)
	}
	_, err = readSettings(fs, []string{"RETAIN_RUNS=0"})
	require.ErrorContains(t, err, "RETAIN_RUNS")
	set, err := readSettings(fs, []string{"RETAIN_RECORDS=400d", "RETAIN_RUNS=0.5h"})
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
		fs := pflag.NewFlagSet("t", pflag.ContinueOnError)
		addFlags(fs)
		set, err := readSettings(fs, tc.env)
		require.NoError(t, err)
		require.Equal(t, tc.want, set.jobsPerUser(), name)
	}
}
