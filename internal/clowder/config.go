package clowder

import (
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/clowder/mount"
	"github.com/ncsa/clowder-ray/internal/disk"
)

// Config is how a Client reaches Clowder. A number that is 0 takes the default in parentheses.
type Config struct {
	// URL is the address of Clowder as this process reaches it. It overrides the host of a message, which is often a name that only
	// Clowder's own network can resolve. If it is empty, the host of the message is used if it is one of AllowedHosts.
	URL string
	// URLs are the addresses of Clowders of other versions than the one at URL, by version. Messages of a version that is not here belong to
	// URL or AllowedHosts. An empty address counts as none.
	URLs map[int]string
	// Version says which version of Clowder is at URL and AllowedHosts. With 0 it can be any.
	Version int
	// AllowedHosts are the addresses that a message may have as its host.
	AllowedHosts []string
	// Cache is the folder of downloaded files, on the same file system as the folders that Stage fills. Without it nothing can be
	// staged.
	Cache disk.Folder
	// Mounts are folders of Clowder that this process sees, too: files in them are copied into the cache and not downloaded.
	Mounts mount.Paths
	// TLS is used for https. If it is nil, the CAs of the system and at least TLS 1.2 are used.
	TLS *tls.Config
	// CallTimeout limits one ordinary call (60 s). Downloads and uploads have no total limit; they fail after IdleTimeout without a byte
	// (60 s). The answer to an upload may take AnswerTimeout after the last byte (10 min), because Clowder stores the file before it
	// answers.
	CallTimeout, IdleTimeout, AnswerTimeout time.Duration
	// MinRate is the smallest rate of a download in bytes per second (10,000), over each RateWindow of waiting (5 min). A slower download
	// is stopped and retried.
	MinRate    int64
	RateWindow time.Duration
	// InFlightWait is how long Files waits for a listed file whose upload has not finished (60 s).
	InFlightWait time.Duration
	// MaxFiles (50,000) and MaxBytes (50 GiB) limit what is staged for one job.
	MaxFiles int
	MaxBytes int64
	// Streams is the number of parallel downloads of one job (8).
	Streams int
	// Attempts is how often a call that may be repeated is tried (4), and Backoff is the first wait between two tries (200 ms). Each
	// further wait is four times as long.
	Attempts int
	Backoff  time.Duration
	// Logger receives warnings. If it is nil, nothing is logged.
	Logger *zap.Logger
}

func (c Config) withDefaults() Config {
	setDefault(&c.CallTimeout, 60*time.Second)
	setDefault(&c.IdleTimeout, 60*time.Second)
	setDefault(&c.AnswerTimeout, 10*time.Minute)
	setDefault(&c.MinRate, 10_000)
	setDefault(&c.RateWindow, 5*time.Minute)
	setDefault(&c.InFlightWait, 60*time.Second)
	setDefault(&c.MaxFiles, 50_000)
	setDefault(&c.MaxBytes, 50<<30)
	setDefault(&c.Streams, 8)
	setDefault(&c.Attempts, 4)
	setDefault(&c.Backoff, 200*time.Millisecond)
	if c.Logger == nil {
		c.Logger = zap.NewNop()
	}
	if c.TLS == nil {
		c.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	return c
}

func setDefault[T comparable](value *T, fallback T) {
	var zero T
	if *value == zero {
		*value = fallback
	}
}

// validate returns all errors of the configuration.
func (c Config) validate() error {
	var faults []error
	if c.URL == "" && len(c.AllowedHosts) == 0 && !slices.ContainsFunc(slices.Collect(maps.Values(c.URLs)), func(url string) bool { return url != "" }) {
		faults = append(faults, errors.New("the address of Clowder is missing: set CLOWDER_URL"))
	}
	for name, n := range map[string]int64{
		"call timeout": int64(c.CallTimeout), "idle timeout": int64(c.IdleTimeout), "answer timeout": int64(c.AnswerTimeout),
		"in-flight wait": int64(c.InFlightWait), "limit of files": int64(c.MaxFiles), "limit of bytes": c.MaxBytes,
		"smallest rate": c.MinRate, "rate window": int64(c.RateWindow),
		"streams": int64(c.Streams), "attempts": int64(c.Attempts), "backoff": int64(c.Backoff),
	} {
		if n < 0 {
			faults = append(faults, fmt.Errorf("%s must not be negative", name))
		}
	}
	return errors.Join(faults...)
}
