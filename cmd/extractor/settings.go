package main

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/go-viper/mapstructure/v2"
	"github.com/spf13/pflag"
	"github.com/spf13/viper"

	"github.com/ncsa/clowder-ray/internal/job"
)

// Settings is everything that an operator can set. It is read once, from the file given by --config, the environment
// and the flags, each overriding the one before; nothing below this package knows where a value came from.
type Settings struct {
	RabbitMQURI         job.Secret    `mapstructure:"rabbitmq_uri"`
	RabbitMQQueue       string        `mapstructure:"rabbitmq_queue"`
	AdvancedQueue       string        `mapstructure:"rabbitmq_advanced_queue"`
	PredictQueue        string        `mapstructure:"rabbitmq_predict_queue"`
	RunsQueue           string        `mapstructure:"rabbitmq_runs_queue"`
	RabbitMQCA          string        `mapstructure:"rabbitmq_ca"`
	ClowderURL          string        `mapstructure:"clowder_url"`
	ClowderHosts        []string      `mapstructure:"clowder_hosts"`
	ClowderCA           string        `mapstructure:"clowder_ca"`
	ClowderVersion      int           `mapstructure:"clowder_version"`
	ClowderEmail        string        `mapstructure:"clowder_email"`
	ExtractorKey        job.Secret    `mapstructure:"extractor_key"`
	ExtractorInfo       string        `mapstructure:"extractor_info"`
	Heartbeat           time.Duration `mapstructure:"heartbeat"`
	MaxRetry            int           `mapstructure:"max_retry"`
	MaxAttempts         int           `mapstructure:"max_attempts"`
	MaxJobs             int           `mapstructure:"max_jobs"`
	MaxJobsPerUser      int           `mapstructure:"max_jobs_per_user"`
	MaxRunning          int           `mapstructure:"max_running"`
	MaxRunningPerUser   int           `mapstructure:"max_running_per_user"`
	UserJobsPerHour     int           `mapstructure:"user_jobs_per_hour"`
	UserRequestsPerHour int           `mapstructure:"user_requests_per_hour"`
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
}

// setting describes one field of Settings: the key in the file, the variable in the environment (pyclowder's name where
// it has one), the default and what it means. The flag is the key with dashes.
type setting struct {
	key, env string
	value    any
	help     string
}

// settings is the one table of all settings; the one in docs/configuration.md is made from it.
func settings() []setting {
	return []setting{
		{"rabbitmq_uri", "RABBITMQ_URI", "amqp://guest:guest@127.0.0.1/%2f", "Broker of Clowder; amqps:// for TLS"},
		{"rabbitmq_queue", "RABBITMQ_QUEUE", "", "Queue and name of the extractor that trains; empty takes the name in extractor_info.json"},
		{"rabbitmq_advanced_queue", "RABBITMQ_ADVANCED_QUEUE", "", "Queue and name of the extractor that trains with every option in its form; empty is ncsa.ray.finetune-advanced"},
		{"rabbitmq_predict_queue", "RABBITMQ_PREDICT_QUEUE", "", "Queue and name of the extractor that predicts; empty is ncsa.ray.predict"},
		{"rabbitmq_runs_queue", "RABBITMQ_RUNS_QUEUE", "", "Queue and name of the extractor that lists and decides over runs and models; empty is ncsa.ray.runs"},
		{"rabbitmq_ca", "RABBITMQ_CA", "", "File with the CA of an amqps broker"},
		{"clowder_url", "CLOWDER_URL", "", "Where the Clowder API is reached from here; overrides the host that a message names"},
		{"clowder_hosts", "CLOWDER_HOSTS", []string{}, "Hosts in messages that are trusted without CLOWDER_URL, e.g. https://clowder.example.org"},
		{"clowder_ca", "CLOWDER_CA", "", "File with the CA of Clowder's certificate"},
		{"clowder_version", "CLOWDER_VERSION", 0, "1 or 2; 0 sees it in each message"},
		{"clowder_email", "CLOWDER_EMAIL", "", "Owner of private extractors"},
		{"extractor_key", "EXTRACTOR_KEY", "", "Makes the extractors private; needs CLOWDER_EMAIL"},
		{"extractor_info", "EXTRACTOR_INFO", "", "Another extractor_info.json for the training than the one built in"},
		{"heartbeat", "HEARTBEAT", "60s", "Time between two heartbeats to Clowder; a bare number is seconds"},
		{"max_retry", "MAX_RETRY", 10, "Tries of a stage that fails for a passing reason"},
		{"max_attempts", "MAX_ATTEMPTS", 3, "Tries of a training that Ray loses"},
		{"max_jobs", "MAX_JOBS", 64, "Jobs in hand at once; further messages stay in RabbitMQ"},
		{"max_jobs_per_user", "MAX_JOBS_PER_USER", 0, "Jobs in hand at once of one user; up to 1000 further ones are taken and wait. 0 is half of MAX_JOBS; as many as MAX_JOBS is no limit"},
		{"max_running", "MAX_RUNNING", 16, "Jobs on Ray at once, taken from all users in turn; the others in hand wait. 0 is no limit"},
		{"max_running_per_user", "MAX_RUNNING_PER_USER", 0, "Jobs on Ray at once of one user; 0 is no limit"},
		{"user_jobs_per_hour", "USER_JOBS_PER_HOUR", 0, "Jobs of one user that begin at once, and in each hour after that; further ones begin later. 0 is no limit"},
		{"user_requests_per_hour", "USER_REQUESTS_PER_HOUR", 600, "Requests of one user about runs and models that begin at once, and in each hour after that; further ones begin later. 0 is no limit"},
		{"max_files", "MAX_FILES", 10_000, "Most files of a dataset"},
		{"max_bytes", "MAX_BYTES", int64(50 << 30), "Most bytes of a dataset"},
		{"pending_timeout", "PENDING_TIMEOUT", "1h", "How long a training may wait for Ray to start it"},
		{"stall_timeout", "STALL_TIMEOUT", "30m", "How long a training may be silent before it is ended"},
		{"recover_every", "RECOVER_EVERY", "10m", "How often to look for jobs whose message the broker lost, and how old one must be; 0 never looks"},
		{"ray_address", "RAY_ADDRESS", "", "Dashboard of the Ray cluster, e.g. http://ray-head:8265"},
		{"ray_token", "RAY_AUTH_TOKEN", "", "Token of the Ray cluster"},
		{"ray_token_file", "RAY_AUTH_TOKEN_PATH", "", "File with the token of the Ray cluster"},
		{"ray_python", "RAY_PYTHON", "python", "Python of the Ray pods that has torch and transformers"},
		{"ray_poll", "RAY_POLL", "2s", "Time between two looks at Ray"},
		{"kuberay_config", "KUBERAY_CONFIG", "", "File that says how RayJobs are made in a Kubernetes cluster; empty uses RAY_ADDRESS"},
		{"kuberay_instance", "KUBERAY_INSTANCE", "clowder-ray", "Tells the RayJobs of this service from those of others in the namespace"},
		{"kubeconfig", "KUBECONFIG", "", "Credentials for the cluster of KUBERAY_CONFIG; empty uses those of the pod"},
		{"shared_dir", "SHARED_DIR", "var/shared", "The shared volume as this service sees it"},
		{"ray_shared_dir", "RAY_SHARED_DIR", "", "The shared volume as Ray sees it; empty is the same path"},
		{"state_dir", "STATE_DIR", "var/state", "Folder of the job store, on a disk of its own"},
		{"state_key", "STATE_KEY", "", "Seals users' keys in the job store: 32 bytes in base64; older ones, to be replaced, behind it"},
		{"state_key_file", "STATE_KEY_FILE", "", "File with the state keys, newest first"},
		{"retain_records", "RETAIN_RECORDS", "90d", "How long a job is remembered after its end; 0 is for ever"},
		{"retain_runs", "RETAIN_RUNS", "30d", "How long its run folder stays; checkpoints and staged data go soon after the end. 0 is for ever"},
		{"retain_keys", "RETAIN_KEYS", "7d", "How long a failed job keeps its user's key and its checkpoints, for a retry; 0 is for ever"},
		{"cache_bytes", "CACHE_BYTES", int64(100 << 30), "Most bytes of downloaded files that are kept for later runs"},
		{"min_free_bytes", "MIN_FREE_BYTES", int64(2 << 30), "Bytes that must be free in SHARED_DIR and STATE_DIR for new jobs"},
		{"listen", "LISTEN", "127.0.0.1:8780", "Address of /livez, /readyz and /metrics; empty serves none"},
		{"log_level", "LOG_LEVEL", "info", "debug, info, warn or error"},
		{"log_format", "LOG_FORMAT", "console", "console or json"},
		{"shutdown_timeout", "SHUTDOWN_TIMEOUT", "20s", "Longest orderly stop after SIGTERM"},
	}
}

// addFlags gives every setting a flag on fs.
func addFlags(fs *pflag.FlagSet) {
	fs.String("config", "", "YAML, TOML or JSON file of settings")
	for _, s := range settings() {
		help := s.help + " (" + s.env + ")"
		switch value := s.value.(type) {
		case string:
			fs.String(flagName(s.key), value, help)
		case int:
			fs.Int(flagName(s.key), value, help)
		case int64:
			fs.Int64(flagName(s.key), value, help)
		case []string:
			fs.StringSlice(flagName(s.key), value, help)
		}
	}
}

func flagName(key string) string { return strings.ReplaceAll(key, "_", "-") }

// readSettings reads the file, the environment and the flags into Settings, fills in what depends on other values and
// reports every fault at once.
func readSettings(fs *pflag.FlagSet, environ []string) (Settings, error) {
	v := viper.New()
	env := map[string]string{}
	for _, kv := range environ {
		k, val, _ := strings.Cut(kv, "=")
		env[k] = val
	}
	for _, s := range settings() {
		v.SetDefault(s.key, s.value)
	}
	if file, _ := fs.GetString("config"); file != "" {
		v.SetConfigFile(file)
		if err := v.ReadInConfig(); err != nil {
			return Settings{}, fmt.Errorf("read the settings file: %w", err)
		}
	}
	// Set has the highest rank in viper, so the environment goes in before the flags that the user really gave.
	for _, s := range settings() {
		if val := env[s.env]; val != "" {
			v.Set(s.key, val)
		}
		if f := fs.Lookup(flagName(s.key)); f != nil && f.Changed {
			v.Set(s.key, f.Value.String())
			if list, ok := f.Value.(pflag.SliceValue); ok {
				v.Set(s.key, list.GetSlice())
			}
		}
	}
	var out Settings
	err := v.UnmarshalExact(&out, viper.DecodeHook(mapstructure.ComposeDecodeHookFunc(
		durationHook, mapstructure.StringToTimeDurationHookFunc(), mapstructure.StringToSliceHookFunc(","))))
	if err != nil {
		return Settings{}, fmt.Errorf("read the settings: %w", err)
	}
	if err := out.complete(); err != nil {
		return Settings{}, err
	}
	return out, nil
}

// durationHook reads a bare number as seconds where a duration is wanted, as pyclowder's HEARTBEAT is, and 90d as days.
func durationHook(_, to reflect.Type, data any) (any, error) {
	if to != reflect.TypeFor[time.Duration]() {
		return data, nil
	}
	switch n := data.(type) {
	case int:
		return time.Duration(n) * time.Second, nil
	case float64:
		return time.Duration(n * float64(time.Second)), nil
	case string:
		if seconds, err := strconv.ParseFloat(n, 64); err == nil {
			return time.Duration(seconds * float64(time.Second)), nil
		}
		if days, err := strconv.Atoi(strings.TrimSuffix(n, "d")); err == nil {
			return time.Duration(days) * 24 * time.Hour, nil
		}
	}
	return data, nil
}

// complete fills in the values that depend on others and reports every fault with the name of its setting.
func (s *Settings) complete() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }

	for name, dir := range map[string]*string{"SHARED_DIR": &s.SharedDir, "STATE_DIR": &s.StateDir} {
		abs, err := filepath.Abs(*dir)
		if err != nil || *dir == "" {
			fault("%s: %q is no folder", name, *dir)
		}
		*dir = abs
	}
	if s.RaySharedDir == "" {
		s.RaySharedDir = s.SharedDir
	}
	for name, value := range map[string]string{"CLOWDER_URL": s.ClowderURL, "RAY_ADDRESS": s.RayAddress} {
		if u, err := url.Parse(value); err != nil || value != "" && (u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
			fault("%s: %q must look like http://host:port", name, value)
		}
	}
	if s.ExtractorKey != "" && s.ClowderEmail == "" {
		fault("EXTRACTOR_KEY makes the extractors private and needs CLOWDER_EMAIL, the address of its owner")
	}
	if s.ClowderVersion < 0 || s.ClowderVersion > 2 {
		fault("CLOWDER_VERSION: must be 1, 2 or 0, got %d", s.ClowderVersion)
	}
	for name, d := range map[string]time.Duration{
		"HEARTBEAT": s.Heartbeat, "RAY_POLL": s.RayPoll, "PENDING_TIMEOUT": s.PendingTimeout,
		"STALL_TIMEOUT": s.StallTimeout, "SHUTDOWN_TIMEOUT": s.ShutdownTimeout,
	} {
		if d <= 0 {
			fault("%s: must be longer than nothing, got %s", name, d)
		}
	}
	for name, n := range map[string]int64{"MAX_JOBS": int64(s.MaxJobs), "MAX_FILES": int64(s.MaxFiles), "MAX_BYTES": s.MaxBytes} {
		if n < 1 {
			fault("%s: must be at least 1, got %d", name, n)
		}
	}
	if s.RecoverEvery < 0 {
		fault("RECOVER_EVERY: must not be negative, got %s", s.RecoverEvery)
	}
	s.checkLimits(fault)
	if s.MaxRetry < 0 {
		fault("MAX_RETRY: must not be negative, got %d", s.MaxRetry)
	}
	if s.LogFormat != "console" && s.LogFormat != "json" {
		fault("LOG_FORMAT: must be console or json, got %q", s.LogFormat)
	}
	return errors.Join(faults...)
}

// Queue is the queue of an extractor: the chosen one, else the extractor's name, behind the private prefix if there is one.
func (s *Settings) Queue(chosen, name string) string {
	if chosen != "" {
		name = chosen
	}
	if s.ExtractorKey != "" {
		name = "private." + s.ExtractorKey.Reveal() + "." + name
	}
	return name
}

// storePath is where the job store lies.
func (s *Settings) storePath() string { return filepath.Join(s.StateDir, "jobs.db") }
