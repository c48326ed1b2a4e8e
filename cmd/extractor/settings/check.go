package settings

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/ncsa/clowder-ray/internal/clowder/versions"
	"github.com/ncsa/clowder-ray/internal/text"
)

// complete sets the values that depend on others and reports all invalid values, each with the name of its setting.
func (s *Settings) complete() error {
	var invalid []error
	report := func(format string, args ...any) { invalid = append(invalid, fmt.Errorf(format, args...)) }
	s.completeFolders(report)
	s.checkClowder(report)
	s.checkNumbers(report)
	s.checkLimits(report)
	s.Scripts.Validate(report)
	s.Studio.Validate(s.ClowderURL, report)
	if s.LogFormat != "console" && s.LogFormat != "json" {
		report("LOG_FORMAT: must be console or json, got %q", s.LogFormat)
	}
	return errors.Join(invalid...)
}

// completeFolders makes the folders absolute.
func (s *Settings) completeFolders(report func(format string, args ...any)) {
	for name, dir := range map[string]*string{"SHARED_DIR": &s.SharedDir, "STATE_DIR": &s.StateDir} {
		abs, err := filepath.Abs(*dir)
		if err != nil || *dir == "" {
			report("%s: %q is not a folder", name, *dir)
		}
		*dir = abs
	}
	if s.RaySharedDir == "" {
		s.RaySharedDir = s.SharedDir
	}
}

// checkClowder reports invalid addresses and settings of Clowder and Ray.
func (s *Settings) checkClowder(report func(format string, args ...any)) {
	for name, value := range map[string]string{"CLOWDER_URL": s.ClowderURL, "CLOWDER1_URL": s.Clowder1URL, "RAY_ADDRESS": s.RayAddress} {
		if value != "" && !isHTTP(value) {
			report("%s: %q must look like http://host:port", name, value)
		}
	}
	if s.ExtractorKey != "" && s.ClowderEmail == "" {
		report("EXTRACTOR_KEY requires CLOWDER_EMAIL: set it to the email address of the owner of the private extractors")
	}
	if known := append([]int{0}, versions.Numbers()...); !slices.Contains(known, s.ClowderVersion) {
		names := make([]string, len(known))
		for i, number := range known {
			names[i] = strconv.Itoa(number)
		}
		report("CLOWDER_VERSION: must be %s, got %d", text.Choice(names), s.ClowderVersion)
	}
}

func isHTTP(value string) bool {
	u, err := url.Parse(value)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
}

// maxAutomaticAfter is the longest wait of automatic runs. The keys of their users are kept for that time.
const maxAutomaticAfter = 24 * time.Hour

// checkNumbers reports durations and numbers that are too small.
func (s *Settings) checkNumbers(report func(format string, args ...any)) {
	for name, d := range map[string]time.Duration{
		"HEARTBEAT": s.Heartbeat, "RAY_POLL": s.RayPoll, "PENDING_TIMEOUT": s.PendingTimeout,
		"STALL_TIMEOUT": s.StallTimeout, "SHUTDOWN_TIMEOUT": s.ShutdownTimeout,
	} {
		if d <= 0 {
			report("%s: must be positive, got %s", name, d)
		}
	}
	for name, n := range map[string]int64{"MAX_JOBS": int64(s.MaxJobs), "MAX_FILES": int64(s.MaxFiles), "MAX_BYTES": s.MaxBytes} {
		if n < 1 {
			report("%s: must be at least 1, got %d", name, n)
		}
	}
	if s.AutomaticAfter < 0 || s.AutomaticAfter > maxAutomaticAfter {
		report("AUTOMATIC_AFTER: must be at most %s and not negative, got %s", maxAutomaticAfter, s.AutomaticAfter)
	}
	if s.RecoverEvery < 0 {
		report("RECOVER_EVERY: must not be negative, got %s", s.RecoverEvery)
	}
	if s.WarmWorkers < 0 {
		report("WARM_WORKERS: must not be negative, got %d", s.WarmWorkers)
	}
	if s.MaxRetry < 0 {
		report("MAX_RETRY: must not be negative, got %d", s.MaxRetry)
	}
}

// minRetainRecords is the shortest time that a record must be kept: a message that is delivered again after that would be
// trained a second time.
const minRetainRecords = 7 * 24 * time.Hour

// checkLimits reports invalid limits of jobs and retention times.
func (s *Settings) checkLimits(report func(format string, args ...any)) {
	for name, n := range map[string]int64{
		"MAX_RUNNING": int64(s.MaxRunning), "MAX_RUNNING_PER_USER": int64(s.MaxRunningPerUser), "USER_JOBS_PER_HOUR": int64(s.UserJobsPerHour),
		"MAX_JOBS_PER_USER": int64(s.MaxJobsPerUser), "USER_REQUESTS_PER_HOUR": int64(s.UserRequestsPerHour), "FEED_JOBS_PER_DAY": int64(s.FeedJobsPerDay),
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
