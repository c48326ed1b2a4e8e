package settings

import (
	"slices"

	"github.com/ncsa/clowder-ray/cmd/extractor/scripts"
	"github.com/ncsa/clowder-ray/cmd/extractor/studio"
)

// Row describes one field of Settings: its key in the file, its environment variable (pyclowder's name if there is one), its
// default and its meaning. The flag is the key with dashes.
type Row struct {
	Key, Env string
	Value    any
	Help     string
}

// Table is the only table of all settings. The table in docs/configuration.md is generated from it.
func Table() []Row {
	rows := slices.Concat(clowderRows(), limitRows(), rayRows(), operationRows())
	for _, row := range scripts.Rows() {
		rows = append(rows, Row{row.Key, row.Env, row.Value, row.Help})
	}
	for _, row := range studio.Rows() {
		rows = append(rows, Row{row.Key, row.Env, row.Value, row.Help})
	}
	return rows
}

// DefaultPython is looked up on the PATH of Ray.
const DefaultPython = "python"

// clowderRows say how the service reaches RabbitMQ, Clowder and users.
func clowderRows() []Row {
	return []Row{
		{"rabbitmq_uri", "RABBITMQ_URI", "amqp://guest:guest@127.0.0.1/%2f", "URI of Clowder's RabbitMQ broker; amqps:// for TLS"},
		{"rabbitmq_queue", "RABBITMQ_QUEUE", "", "Queue and name of the training extractor; empty uses the name in extractor_info.json"},
		{"rabbitmq_advanced_queue", "RABBITMQ_ADVANCED_QUEUE", "", "Queue and name of the training extractor with all options; empty uses ncsa.ray.finetune-advanced"},
		{"rabbitmq_predict_queue", "RABBITMQ_PREDICT_QUEUE", "", "Queue and name of the prediction extractor; empty uses ncsa.ray.predict"},
		{"rabbitmq_script_queue", "RABBITMQ_SCRIPT_QUEUE", "", "Queue and name of the extractor that runs scripts of users; empty uses ncsa.ray.script"},
		{"rabbitmq_runs_queue", "RABBITMQ_RUNS_QUEUE", "", "Queue and name of the extractor that manages runs and models; empty uses ncsa.ray.runs"},
		{"rabbitmq_automatic_queue", "RABBITMQ_AUTOMATIC_QUEUE", "", "Queue and name of the extractor that hears of new files; empty uses ncsa.ray.automatic"},
		{"rabbitmq_exchange", "RABBITMQ_EXCHANGE", "clowder", "Exchange of Clowder v1, to which it returns waiting submissions when a user cancels another one; empty binds the queues to none"},
		{"rabbitmq_ca", "RABBITMQ_CA", "", "File with the CA certificate of an amqps broker"},
		{"clowder_url", "CLOWDER_URL", "", "Clowder API URL as seen from this service; overrides the host in messages"},
		{"clowder1_url", "CLOWDER1_URL", "", "API URL of a Clowder v1 as seen from this service, if there is a v2 as well; overrides the host in messages of v1. Empty uses CLOWDER_URL or CLOWDER_HOSTS"},
		{"clowder_hosts", "CLOWDER_HOSTS", []string{}, "Clowder hosts that messages may name if CLOWDER_URL is empty, e.g. https://clowder.example.org"},
		{"clowder_ca", "CLOWDER_CA", "", "File with the CA certificate of Clowder"},
		{"mounted_paths", "MOUNTED_PATHS", "", `JSON object from folders of Clowder's machine to folders of this machine, e.g. {"/home/clowder/data": "/mnt/clowder"}; files in them are copied and not downloaded`},
		{"clowder_version", "CLOWDER_VERSION", 0, "Clowder API version, 1 or 2; 0 detects it in each message"},
		{"clowder_email", "CLOWDER_EMAIL", "", "Email address of the owner of private extractors"},
		{"extractor_key", "EXTRACTOR_KEY", "", "Key that makes the extractors private; requires CLOWDER_EMAIL"},
		{"extractor_info", "EXTRACTOR_INFO", "", "File that replaces the built-in extractor_info.json of the training extractor"},
		{"automatic_after", "AUTOMATIC_AFTER", "0", "How long no file may be added before an automatic run begins, e.g. 5m, in datasets whose finetune.yaml asks for it; 0 allows no automatic runs"},
		{"email_server", "EMAIL_SERVER", "", "SMTP server, as host or host:port, through which users are told when their jobs are done or have failed; empty sends no e-mails"},
		{"email_sender", "EMAIL_SENDER", "", "E-mail address of the sender, required with EMAIL_SERVER"},
		{"heartbeat", "HEARTBEAT", "60s", "Time between two heartbeats to Clowder; a plain number means seconds"},
	}
}

// limitRows say what bounds jobs.
func limitRows() []Row {
	return []Row{
		{"max_retry", "MAX_RETRY", 10, "Attempts of a stage that fails for a transient reason; the submission to Ray has as many as fit into an hour"},
		{"max_attempts", "MAX_ATTEMPTS", 3, "Attempts of a training that Ray loses"},
		{"max_jobs", "MAX_JOBS", 64, "Active jobs at the same time; further messages stay in RabbitMQ"},
		{"max_jobs_per_user", "MAX_JOBS_PER_USER", 0, "Active jobs of one user at the same time; up to 1000 more are accepted and wait. 0 means half of MAX_JOBS; the value of MAX_JOBS means no limit"},
		{"max_running", "MAX_RUNNING", 16, "Jobs on Ray at the same time, shared fairly between users; other active jobs wait. 0 means no limit"},
		{"max_running_per_user", "MAX_RUNNING_PER_USER", 0, "Jobs of one user on Ray at the same time; 0 means no limit"},
		{"user_jobs_per_hour", "USER_JOBS_PER_HOUR", 0, "Jobs that a user may start per hour, with a burst of the same size; further jobs are delayed. 0 means no limit"},
		{"user_requests_per_hour", "USER_REQUESTS_PER_HOUR", 600, "Requests about runs and models that a user may make per hour, with a burst of the same size; further requests are delayed. 0 means no limit"},
		{"feed_jobs_per_day", "FEED_JOBS_PER_DAY", 20, "Jobs about single files that Clowder v2 may start by itself for one user and dataset within a day: matches of a feed, and jobs of a file that got a new version; further ones are skipped. 0 means no limit"},
		{"max_files", "MAX_FILES", 10_000, "Largest number of files in a dataset"},
		{"max_bytes", "MAX_BYTES", int64(50 << 30), "Largest size of a dataset in bytes"},
		{"pending_timeout", "PENDING_TIMEOUT", "1h", "How long a training may wait on Ray before it starts; after that the job fails"},
		{"stall_timeout", "STALL_TIMEOUT", "30m", "How long a training may show no progress before it is ended"},
		{"recover_every", "RECOVER_EVERY", "10m", "How often to search Clowder for jobs whose message the broker lost, and the minimum age of such a job; 0 disables the search"},
	}
}

// rayRows say where trainings run.
func rayRows() []Row {
	return []Row{
		{"ray_address", "RAY_ADDRESS", "", "Dashboard URL of the Ray cluster, e.g. http://ray-head:8265"},
		{"ray_token", "RAY_AUTH_TOKEN", "", "Token of the Ray cluster"},
		{"ray_token_file", "RAY_AUTH_TOKEN_PATH", "", "File with the token of the Ray cluster"},
		{"ray_python", "RAY_PYTHON", DefaultPython, "Python interpreter on Ray that has torch and transformers"},
		{"ray_poll", "RAY_POLL", "2s", "Longest time between two status requests to Ray; a job of less than 20 s is looked at more often"},
		{"warm_workers", "WARM_WORKERS", 4, "Machines of a standing Ray that keep a process with the libraries loaded, so that a run starts seconds earlier. Each takes 0.6 GB of memory and no CPU, and ends after two hours without a run. Pods of clusters that KubeRay creates for one run start such a process beside Ray. 0 turns both off"},
		{"kuberay_config", "KUBERAY_CONFIG", "", "File that describes the RayJobs for a Kubernetes cluster; empty uses RAY_ADDRESS"},
		{"kuberay_instance", "KUBERAY_INSTANCE", "clowder-ray", "Name of this service on its RayJobs; must be unique in the namespace"},
		{"kubeconfig", "KUBECONFIG", "", "File with the credentials for the Kubernetes cluster; empty uses the service account of the pod"},
	}
}

// operationRows are the settings of storage and operation.
func operationRows() []Row {
	return []Row{
		{"shared_dir", "SHARED_DIR", "var/shared", "Path of the shared volume on this service"},
		{"ray_shared_dir", "RAY_SHARED_DIR", "", "Path of the shared volume on Ray; empty means the same path"},
		{"state_dir", "STATE_DIR", "var/state", "Folder of the job store; use a separate disk"},
		{"state_key", "STATE_KEY", "", "Key that encrypts users' API keys in the job store: 32 bytes in base64. To rotate it, put the new key before the old one, separated by a space"},
		{"state_key_file", "STATE_KEY_FILE", "", "File with the state keys, the newest first"},
		{"retain_records", "RETAIN_RECORDS", "90d", "How long the record of a finished job is kept; 0 means no limit"},
		{"retain_runs", "RETAIN_RUNS", "30d", "How long the run folder of a finished job is kept; checkpoints and staged data are removed soon after the end. 0 means no limit"},
		{"retain_keys", "RETAIN_KEYS", "7d", "How long the API key of the user and the checkpoints of a failed job are kept for a retry; 0 means no limit"},
		{"cache_bytes", "CACHE_BYTES", int64(100 << 30), "Largest size in bytes of the cache of downloaded files"},
		{"min_free_bytes", "MIN_FREE_BYTES", int64(2 << 30), "Free bytes that SHARED_DIR and STATE_DIR need before new jobs are accepted"},
		{"listen", "LISTEN", "127.0.0.1:8780", "Address for /livez, /readyz and /metrics; empty disables them"},
		{"log_level", "LOG_LEVEL", "info", "Lowest level that is logged: debug, info, warn or error"},
		{"log_format", "LOG_FORMAT", "console", "Format of the log: console or json"},
		{"shutdown_timeout", "SHUTDOWN_TIMEOUT", "20s", "Longest time for an orderly shutdown after SIGTERM"},
	}
}
