package main

import (
	"time"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/mail"
	"github.com/ncsa/clowder-ray/internal/pipeline/volume"
	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/retention"
	"github.com/ncsa/clowder-ray/internal/s3"
)

// minRetainRecords is the shortest time that a record must be kept: a message that is delivered again after that would be
// trained a second time.
const minRetainRecords = 7 * 24 * time.Hour

// checkLimits reports invalid limits of jobs and retention times.
func (s *Settings) checkLimits(report func(format string, args ...any)) {
	for name, n := range map[string]int64{
		"MAX_RUNNING": int64(s.MaxRunning), "MAX_RUNNING_PER_USER": int64(s.MaxRunningPerUser), "USER_JOBS_PER_HOUR": int64(s.UserJobsPerHour),
		"MAX_JOBS_PER_USER": int64(s.MaxJobsPerUser), "USER_REQUESTS_PER_HOUR": int64(s.UserRequestsPerHour),
		"CACHE_BYTES": s.CacheBytes, "MIN_FREE_BYTES": s.MinFreeBytes,
		"RETAIN_RECORDS": int64(s.RetainRecords), "RETAIN_RUNS": int64(s.RetainRuns), "RETAIN_KEYS": int64(s.RetainKeys),
	} {
		if n < 0 {
			report("%s: must not be negative", name)
		}
	}
	if s.RetainRecords > 0 && s.RetainRecords < max(minRetainRecords, s.RetainRuns) {
		report("RETAIN_RECORDS: must be at least 7d and at least RETAIN_RUNS: otherwise a repeated message starts a new job, and run folders lose their owner")
	}
	if s.RetainRecords > 0 && s.RetainRuns == 0 {
		report("RETAIN_RUNS: run folders cannot be kept longer than their records: set RETAIN_RECORDS to 0 as well")
	}
	if s.StateKey != "" && s.StateKeyFile != "" {
		report("STATE_KEY and STATE_KEY_FILE: set only one of them")
	}
}

// jobsPerUser is the largest number of active jobs of one user.
func (s *Settings) jobsPerUser() int {
	if s.MaxJobsPerUser == 0 {
		return max(1, s.MaxJobs/2)
	}
	return s.MaxJobsPerUser
}

// objectLimits bounds what an address of an object store may hold, as a dataset is bounded.
func (s *Settings) objectLimits() s3.Limits { return s3.Limits{Objects: s.MaxFiles, Bytes: s.MaxBytes} }

// retentionConfig returns the retention times and the disks.
func retentionConfig(set Settings, volume volume.Volume) retention.Config {
	return retention.Config{
		Shared: volume.Dir, Overlays: volume.Overlays(), OverlayBytes: set.Scripts.PackagesBytes,
		Runs: volume.Run(""), Deliverables: volume.Deliverables(""), Keys: set.RetainKeys, RunFolders: set.RetainRuns, Records: set.RetainRecords,
		CacheBytes: set.CacheBytes, Disks: map[string]string{"SHARED_DIR": set.SharedDir, "STATE_DIR": set.StateDir}, MinFree: set.MinFreeBytes,
	}
}

// notifier tells users by e-mail of the ends of their jobs, but for requests about runs, which take seconds. It is nil where no server is set.
func notifier(set Settings, all platform.Extractors, store mail.Records, log *zap.Logger) (*mail.Notifier, error) {
	if set.EmailServer == "" {
		return nil, nil
	}
	return mail.New(mail.Config{
		Server: set.EmailServer, Sender: set.EmailSender, Log: log.Named("mail"),
		Wanted: func(rec job.Record) bool { return all.Of(rec.Request).Kind != platform.Runs },
	}, store)
}

var _ retention.Cache = (*clowder.Client)(nil)
