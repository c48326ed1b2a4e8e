// Package settings has all settings of the service: their table, how they are read from the settings file, the environment and the
// flags, and which values are valid.
package settings

import (
	"path/filepath"
	"time"

	"github.com/ncsa/clowder-ray/cmd/extractor/scripts"
	"github.com/ncsa/clowder-ray/cmd/extractor/studio"
	"github.com/ncsa/clowder-ray/internal/job"
)

// Settings holds all settings. They are read once from the file of --config, the environment and the flags; each overrides the
// one before. No other package knows where a value came from.
type Settings struct {
	RabbitMQURI         job.Secret    `mapstructure:"rabbitmq_uri"`
	RabbitMQQueue       string        `mapstructure:"rabbitmq_queue"`
	AdvancedQueue       string        `mapstructure:"rabbitmq_advanced_queue"`
	PredictQueue        string        `mapstructure:"rabbitmq_predict_queue"`
	ScriptQueue         string        `mapstructure:"rabbitmq_script_queue"`
	RunsQueue           string        `mapstructure:"rabbitmq_runs_queue"`
	AutomaticQueue      string        `mapstructure:"rabbitmq_automatic_queue"`
	RabbitMQExchange    string        `mapstructure:"rabbitmq_exchange"`
	RabbitMQCA          string        `mapstructure:"rabbitmq_ca"`
	ClowderURL          string        `mapstructure:"clowder_url"`
	Clowder1URL         string        `mapstructure:"clowder1_url"`
	ClowderHosts        []string      `mapstructure:"clowder_hosts"`
	ClowderCA           string        `mapstructure:"clowder_ca"`
	MountedPaths        string        `mapstructure:"mounted_paths"`
	ClowderVersion      int           `mapstructure:"clowder_version"`
	ClowderEmail        string        `mapstructure:"clowder_email"`
	ExtractorKey        job.Secret    `mapstructure:"extractor_key"`
	ExtractorInfo       string        `mapstructure:"extractor_info"`
	AutomaticAfter      time.Duration `mapstructure:"automatic_after"`
	EmailServer         string        `mapstructure:"email_server"`
	EmailSender         string        `mapstructure:"email_sender"`
	Heartbeat           time.Duration `mapstructure:"heartbeat"`
	MaxRetry            int           `mapstructure:"max_retry"`
	MaxAttempts         int           `mapstructure:"max_attempts"`
	MaxJobs             int           `mapstructure:"max_jobs"`
	MaxJobsPerUser      int           `mapstructure:"max_jobs_per_user"`
	MaxRunning          int           `mapstructure:"max_running"`
	MaxRunningPerUser   int           `mapstructure:"max_running_per_user"`
	UserJobsPerHour     int           `mapstructure:"user_jobs_per_hour"`
	UserRequestsPerHour int           `mapstructure:"user_requests_per_hour"`
	FeedJobsPerDay      int           `mapstructure:"feed_jobs_per_day"`
	MaxFiles            int           `mapstructure:"max_files"`
	MaxBytes            int64         `mapstructure:"max_bytes"`
	PendingTimeout      time.Duration `mapstructure:"pending_timeout"`
	StallTimeout        time.Duration `mapstructure:"stall_timeout"`
	RecoverEvery        time.Duration `mapstructure:"recover_every"`
	RayAddress          string        `mapstructure:"ray_address"`
	RayToken            job.Secret    `mapstructure:"ray_token"`
	RayTokenFile        string        `mapstructure:"ray_token_file"`
	RayPython           string        `mapstructure:"ray_python"`
	RayPoll             time.Duration `mapstructure:"ray_poll"`
	KubeRayConfig       string        `mapstructure:"kuberay_config"`
	KubeRayInstance     string        `mapstructure:"kuberay_instance"`
	KubeConfig          string        `mapstructure:"kubeconfig"`
	WarmWorkers         int           `mapstructure:"warm_workers"`
	SharedDir           string        `mapstructure:"shared_dir"`
	RaySharedDir        string        `mapstructure:"ray_shared_dir"`
	StateDir            string        `mapstructure:"state_dir"`
	StateKey            job.Secret    `mapstructure:"state_key"`
	StateKeyFile        string        `mapstructure:"state_key_file"`
	RetainRecords       time.Duration `mapstructure:"retain_records"`
	RetainRuns          time.Duration `mapstructure:"retain_runs"`
	RetainKeys          time.Duration `mapstructure:"retain_keys"`
	CacheBytes          int64         `mapstructure:"cache_bytes"`
	MinFreeBytes        int64         `mapstructure:"min_free_bytes"`
	Listen              string        `mapstructure:"listen"`
	LogLevel            string        `mapstructure:"log_level"`
	LogFormat           string        `mapstructure:"log_format"`
	ShutdownTimeout     time.Duration `mapstructure:"shutdown_timeout"`

	Scripts scripts.Settings `mapstructure:",squash"`
	Studio  studio.Settings  `mapstructure:",squash"`
}

// Queue returns the queue of an extractor: the configured one, or else the extractor's name, with the prefix of private extractors.
func (s *Settings) Queue(configured, name string) string {
	if configured != "" {
		name = configured
	}
	if s.ExtractorKey != "" {
		name = "private." + s.ExtractorKey.Reveal() + "." + name
	}
	return name
}

// StorePath is the path of the job store.
func (s *Settings) StorePath() string { return filepath.Join(s.StateDir, "jobs.db") }

// JobsPerUser is the largest number of active jobs of one user.
func (s *Settings) JobsPerUser() int {
	if s.MaxJobsPerUser == 0 {
		return max(1, s.MaxJobs/2)
	}
	return s.MaxJobsPerUser
}
