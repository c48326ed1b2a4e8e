package main

import (
	"time"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/pipeline/volume"
	"github.com/ncsa/clowder-ray/internal/retention"
)

// leastRecords is how long a job must be remembered at least: a message that a broker or a person brings again later than
// that would be trained a second time.
const leastRecords = 7 * 24 * time.Hour

// checkLimits reports faults in what bounds jobs and in what is kept how long.
func (s *Settings) checkLimits(fault func(format string, args ...any)) {
	for name, n := range map[string]int64{
		"MAX_RUNNING": int64(s.MaxRunning), "MAX_RUNNING_PER_USER": int64(s.MaxRunningPerUser), "USER_JOBS_PER_HOUR": int64(s.UserJobsPerHour),
		"MAX_JOBS_PER_USER": int64(s.MaxJobsPerUser), "USER_REQUESTS_PER_HOUR": int64(s.UserRequestsPerHour),
		"CACHE_BYTES": s.CacheBytes, "MIN_FREE_BYTES": s.MinFreeBytes,
		"RETAIN_RECORDS": int64(s.RetainRecords), "RETAIN_RUNS": int64(s.RetainRuns), "RETAIN_KEYS": int64(s.RetainKeys),
	} {
		if n < 0 {
			fault("%s: must not be negative", name)
		}
	}
	if s.RetainRecords > 0 && s.RetainRecords < max(leastRecords, s.RetainRuns) {
		fault("RETAIN_RECORDS: must be at least 7d and not less than RETAIN_RUNS, or a message that comes again is a new job and nobody knows whose a run folder is")
	}
	if s.RetainRecords > 0 && s.RetainRuns == 0 {
		fault("RETAIN_RUNS: run folders cannot be kept for ever when records are not: set RETAIN_RECORDS to 0 as well")
	}
	if s.StateKey != "" && s.StateKeyFile != "" {
		fault("STATE_KEY and STATE_KEY_FILE: set one of them")
	}
}

// jobsPerUser is how many of the jobs in hand may be one user's.
func (s *Settings) jobsPerUser() int {
	if s.MaxJobsPerUser == 0 {
		return max(1, s.MaxJobs/2)
	}
	return s.MaxJobsPerUser
}

// retentionConfig says what is kept how long on which disks.
func retentionConfig(set Settings, volume volume.Volume) retention.Config {
	return retention.Config{
		Shared: volume.Dir, Runs: volume.Run(""), Deliverables: volume.Deliverables(""), Keys: set.RetainKeys, RunFolders: set.RetainRuns, Records: set.RetainRecords,
		CacheBytes: set.CacheBytes, Disks: map[string]string{"SHARED_DIR": set.SharedDir, "STATE_DIR": set.StateDir}, MinFree: set.MinFreeBytes,
	}
}

var _ retention.Cache = (*clowder.Client)(nil)
