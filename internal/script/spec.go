package script

// Spec is the object "script" of spec.json: what the service allows a script, and what it has prepared for it.
// trainer/schema/spec.schema.json describes it.
type Spec struct {
	Sandbox string `json:"sandbox"`
	Check   string `json:"check"`
	Limits  Limits `json:"limits"`
	// Network says whether the script may reach other machines.
	Network bool `json:"network,omitempty"`
	// Overlay is the folder with the packages of Requirements, relative to the shared volume; empty if none were installed.
	Overlay string `json:"overlay,omitempty"`
	// Requirements are the installed packages, each as name==version.
	Requirements []string `json:"requirements,omitempty"`
	// CheckpointSeconds is how old the newest snapshot of the checkpoints may be.
	CheckpointSeconds float64 `json:"checkpoint_seconds,omitempty"`
	// Resolved says that the packages of the requirements file are installed, or that there is no such file.
	Resolved bool `json:"resolved,omitempty"`
	// GPU says whether the script may use GPUs. The trainer reads the setting use_gpu, which the service sets to match.
	GPU bool `json:"-"`
}

// Limits are the limits of one script; 0 is no limit. Sizes are in bytes.
type Limits struct {
	// MemoryBytes and Processes count the whole sandbox.
	MemoryBytes int64 `json:"memory_bytes"`
	Processes   int   `json:"processes"`
	// DiskBytes and Files count what the script writes, FileBytes bounds a single file.
	DiskBytes int64 `json:"disk_bytes"`
	Files     int   `json:"files"`
	FileBytes int64 `json:"file_bytes"`
	// LogBytes bounds log.txt, OutputBytes the delivered files.
	LogBytes    int64 `json:"log_bytes"`
	OutputBytes int64 `json:"output_bytes"`
	// GraceSeconds is the time between the request to stop and the kill.
	GraceSeconds float64 `json:"grace_seconds"`
}
