// Package scripts has the settings about scripts of users: their table, their checks, and what the service makes of them.
package scripts

import (
	"cmp"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/script"
	"github.com/ncsa/clowder-ray/internal/script/requirements"
	"github.com/ncsa/clowder-ray/trainer"
)

// Settings are the settings about scripts of users.
type Settings struct {
	Sandbox         string        `mapstructure:"script_sandbox"`
	TrustedUsers    []string      `mapstructure:"script_trusted_users"`
	Check           string        `mapstructure:"script_check"`
	GPU             string        `mapstructure:"script_gpu"`
	Network         string        `mapstructure:"script_network"`
	MemoryBytes     int64         `mapstructure:"script_memory_bytes"`
	Processes       int           `mapstructure:"script_processes"`
	DiskBytes       int64         `mapstructure:"script_disk_bytes"`
	Files           int           `mapstructure:"script_files"`
	FileBytes       int64         `mapstructure:"script_file_bytes"`
	LogBytes        int64         `mapstructure:"script_log_bytes"`
	OutputBytes     int64         `mapstructure:"script_output_bytes"`
	Grace           time.Duration `mapstructure:"script_grace"`
	CheckpointEvery time.Duration `mapstructure:"script_checkpoint_every"`
	Requirements    string        `mapstructure:"script_requirements"`
	IndexURL        job.Secret    `mapstructure:"script_index_url"`
	PackagesFile    string        `mapstructure:"script_packages_file"`
	PackageCount    int           `mapstructure:"script_package_count"`
	PackageBytes    int64         `mapstructure:"script_package_bytes"`
	PackageTime     time.Duration `mapstructure:"script_package_time"`
	PackagesBytes   int64         `mapstructure:"script_packages_bytes"`
	Python          string        `mapstructure:"script_python"`
	S3Sources       string        `mapstructure:"s3_sources"`
}

// Row describes one field of Settings: its key in the settings file, its environment variable, its default and its meaning.
type Row struct {
	Key, Env string
	Value    any
	Help     string
}

const (
	yes = "yes"
	no  = "no"
)

// Rows lists the settings in the order of the documentation.
func Rows() []Row {
	rows := []Row{
		{"script_sandbox", "", script.SandboxAuto, "What isolates scripts where they have no pods of their own: auto (bubblewrap, else gvisor), bubblewrap, gvisor, or none for the users of SCRIPT_TRUSTED_USERS"},
		{"script_trusted_users", "", []string{}, "E-mail addresses of the users whose scripts run without a sandbox if SCRIPT_SANDBOX is none; you means the user of extractor run"},
		{"script_check", "", script.CheckReport, "Check of the code before a script starts: report, block_high (refuse severe findings) or off. Users can make it stricter"},
		{"script_gpu", "", no, "Whether scripts may use GPUs, yes or no; a GPU gives a script access to its driver"},
		{"script_network", "", no, "Whether scripts may ask for the network, yes or no"},
		{"script_memory_bytes", "", int64(8 << 30), "Largest memory of a script; pods use the memory of their profile. 0 means no limit, as in the next six settings"},
		{"script_processes", "", 512, "Largest number of processes and threads of a script"},
		{"script_disk_bytes", "", int64(20 << 30), "Largest size of all files that a script writes"},
		{"script_files", "", 100_000, "Largest number of files that a script writes"},
		{"script_file_bytes", "", int64(10 << 30), "Largest file that a script writes"},
		{"script_log_bytes", "", int64(64 << 20), "Largest log of a script; the middle of a longer log is left out"},
		{"script_output_bytes", "", int64(10 << 30), "Largest size of the files of a script that are delivered"},
		{"script_grace", "", "30s", "Time that a script has to save its work between the request to stop and its end"},
		{"script_checkpoint_every", "", "60s", "Time between two copies of the checkpoints of a script"},
		{"script_requirements", "", requirements.Off, "What is installed of a requirements.txt: off (nothing), allow-list (packages of SCRIPT_PACKAGES_FILE) or index (every package of SCRIPT_INDEX_URL)"},
		{"script_index_url", "", "", "Address of the package index for requirements.txt; it may contain a user and a password"},
		{"script_packages_file", "", "", "File with the allowed packages, one per line, such as tiktoken or datasets<5"},
		{"script_package_count", "", 100, "Largest number of packages that one requirements.txt installs"},
		{"script_package_bytes", "", int64(2 << 30), "Largest size of the packages that one requirements.txt installs"},
		{"script_package_time", "", "5m", "Longest time for the installation of one requirements.txt"},
		{"script_packages_bytes", "", int64(20 << 30), "Largest size of all installed packages; those that were used longest ago are removed first"},
		{"s3_sources", "", "", "File with the object stores that scripts may read from and write to (docs/object-stores.md); empty means none"},
		{"script_python", "", "", "Python interpreter of this service that has uv, of the same version as on Ray; empty uses RAY_PYTHON"},
	}
	for i := range rows {
		rows[i].Env = strings.ToUpper(rows[i].Key)
	}
	return rows
}

// Validate reports invalid values, each with the name of its setting.
func (s *Settings) Validate(report func(format string, args ...any)) {
	for _, choice := range []struct {
		name, value string
		allowed     []string
	}{
		{"SCRIPT_SANDBOX", s.Sandbox, []string{script.SandboxAuto, script.SandboxBubblewrap, script.SandboxGVisor, script.SandboxNone}},
		{"SCRIPT_CHECK", s.Check, []string{script.CheckReport, script.CheckBlockHigh, script.CheckOff}},
		{"SCRIPT_REQUIREMENTS", s.Requirements, []string{requirements.Off, requirements.AllowList, requirements.Index}},
		{"SCRIPT_GPU", s.GPU, []string{no, yes}},
		{"SCRIPT_NETWORK", s.Network, []string{no, yes}},
	} {
		if !slices.Contains(choice.allowed, choice.value) {
			report("%s: must be one of %s, got %q", choice.name, strings.Join(choice.allowed, ", "), choice.value)
		}
	}
	s.validateNumbers(report)
	s.validateUsers(report)
	s.validateRequirements(report)
}

func (s *Settings) validateNumbers(report func(format string, args ...any)) {
	for name, n := range map[string]int64{
		"SCRIPT_MEMORY_BYTES": s.MemoryBytes, "SCRIPT_PROCESSES": int64(s.Processes), "SCRIPT_DISK_BYTES": s.DiskBytes, "SCRIPT_FILES": int64(s.Files),
		"SCRIPT_FILE_BYTES": s.FileBytes, "SCRIPT_LOG_BYTES": s.LogBytes, "SCRIPT_OUTPUT_BYTES": s.OutputBytes, "SCRIPT_GRACE": int64(s.Grace),
		"SCRIPT_PACKAGES_BYTES": s.PackagesBytes,
	} {
		if n < 0 {
			report("%s: must not be negative", name)
		}
	}
	for name, n := range map[string]int64{
		"SCRIPT_CHECKPOINT_EVERY": int64(s.CheckpointEvery), "SCRIPT_PACKAGE_COUNT": int64(s.PackageCount), "SCRIPT_PACKAGE_BYTES": s.PackageBytes,
		"SCRIPT_PACKAGE_TIME": int64(s.PackageTime),
	} {
		if n <= 0 {
			report("%s: must be positive", name)
		}
	}
}

// validateUsers refuses a sandbox of none for everybody.
func (s *Settings) validateUsers(report func(format string, args ...any)) {
	if s.Sandbox == script.SandboxNone && len(s.TrustedUsers) == 0 {
		report("SCRIPT_SANDBOX: none requires SCRIPT_TRUSTED_USERS: list the e-mail addresses of the users whose code may do everything on the machines of Ray, or you for extractor run")
	}
	for _, user := range s.TrustedUsers {
		if user != LocalUser && !strings.Contains(user, "@") {
			report("SCRIPT_TRUSTED_USERS: %q is not an e-mail address", user)
		}
	}
}

// validateRequirements never prints the address of the index, which may contain a password.
func (s *Settings) validateRequirements(report func(format string, args ...any)) {
	if s.Requirements == requirements.Off {
		return
	}
	if u, err := url.Parse(s.IndexURL.Reveal()); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		report("SCRIPT_INDEX_URL: SCRIPT_REQUIREMENTS=%s needs the address of a package index, such as https://packages.example.org/simple", s.Requirements)
	}
	if s.Requirements == requirements.AllowList {
		if _, err := s.allowed(); err != nil {
			report("SCRIPT_PACKAGES_FILE: %w", err)
		}
	}
}

// allowed reads the packages that users may install.
func (s *Settings) allowed() ([]requirements.Line, error) {
	doc, err := os.ReadFile(s.PackagesFile)
	if err != nil {
		return nil, fmt.Errorf("%w: write a file with one package per line", err)
	}
	return requirements.Parse(doc)
}

// LocalUser is the user of a command on this machine.
const LocalUser = "you"

// Policy is what the settings allow scripts.
func (s *Settings) Policy() script.Policy {
	return script.Policy{
		Sandbox: s.Sandbox, TrustedUsers: s.TrustedUsers, Check: s.Check, CheckpointEvery: s.CheckpointEvery,
		GPU: s.GPU == yes, Network: s.Network == yes,
		Limits: script.Limits{
			MemoryBytes: s.MemoryBytes, Processes: s.Processes, DiskBytes: s.DiskBytes, Files: s.Files, FileBytes: s.FileBytes,
			LogBytes: s.LogBytes, OutputBytes: s.OutputBytes, GraceSeconds: s.Grace.Seconds(),
		},
	}
}

// Preparer returns what decides about scripts and installs their packages into overlays. python is the interpreter to use if the settings
// name none.
func (s *Settings) Preparer(python string, overlays disk.Folder) *script.Preparer {
	cfg := requirements.Config{
		Mode: s.Requirements, IndexURL: s.IndexURL, Image: image(), Python: cmp.Or(s.Python, python),
		MostPackages: s.PackageCount, MostBytes: s.PackageBytes, Timeout: s.PackageTime,
	}
	if path, err := requirements.Interpreter(cfg.Python); err == nil {
		cfg.Python = path
	}
	if s.Requirements == requirements.AllowList {
		cfg.Allowed, _ = s.allowed() // it was read before, see Validate; without it nothing is allowed
	}
	return &script.Preparer{Policy: s.Policy(), Packages: requirements.New(cfg, overlays)}
}

// image has the packages of the image of Ray by their normalized names.
func image() map[string]string {
	packages := map[string]string{}
	for name, version := range trainer.Packages() {
		packages[requirements.Normal(name)] = version
	}
	return packages
}
