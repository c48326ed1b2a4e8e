package job

import "time"

// ResourceKind says what a submission points at.
type ResourceKind string

// The two kinds of resource that Clowder submits.
const (
	Dataset ResourceKind = "dataset"
	File    ResourceKind = "file"
)

// Request is what a user asked for: one extraction message in plain, version-independent form. It holds no key; that
// lies beside it in Record.SecretKey.
type Request struct {
	// Key identifies the job: Clowder's job id, or a hash of the body where the message carries none.
	Key string `json:"key"`
	// JobID is Clowder's own id of the job, as statuses must carry it; empty where the message has none.
	JobID string `json:"job_id,omitempty"`
	// APIVersion is the Clowder version that sent it: 1 or 2.
	APIVersion int `json:"api_version"`
	// Host is the address that the message names. It is compared with the allowed hosts, never trusted.
	Host string `json:"host,omitempty"`
	// Extractor is the name in the extractor_info of the extractor that it was sent to, whatever its queue is called. It is
	// empty in records from the time when there was only ncsa.ray.finetune.
	Extractor string `json:"extractor,omitempty"`
	// Kind, ResourceID, DatasetID and Name say what was submitted; DatasetID may be empty for a file outside a dataset.
	Kind       ResourceKind `json:"kind"`
	ResourceID string       `json:"resource_id"`
	DatasetID  string       `json:"dataset_id,omitempty"`
	Name       string       `json:"name,omitempty"`
	// Parameters is what the user filled in, not yet checked against the form.
	Parameters map[string]any `json:"parameters,omitempty"`
	// NoParameters says that the message had none at all, not even an empty object, as a form that was left as it was sends.
	NoParameters bool     `json:"no_parameters,omitempty"`
	RetryCount   int      `json:"retry_count,omitempty"`
	Notifies     []string `json:"notifies,omitempty"`
	// ReplyTo and CorrelationID come from the message properties; an empty ReplyTo means that nobody reads statuses.
	ReplyTo       string `json:"reply_to,omitempty"`
	CorrelationID string `json:"correlation_id,omitempty"`
	// Announced are the files that an automatic run is about. Other jobs have none.
	Announced []Announced `json:"announced,omitempty"`
	// BodyHash is sha256 (hex) over the request without its key and retry counter: two deliveries of one job agree in it.
	BodyHash string `json:"body_hash"`
	// Received is when the delivery came, in UTC.
	Received time.Time `json:"received"`
}

// Announced is a file that Clowder said was added to a dataset.
type Announced struct {
	// File is the id of the file. Where Clowder tells the name alone, File is empty.
	File string `json:"file,omitempty"`
	Name string `json:"name,omitempty"`
	// JobID is Clowder's id of the job that announced it.
	JobID string `json:"job_id,omitempty"`
}
