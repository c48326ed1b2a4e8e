package clowder

import (
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/disk"
)

// Config is how a Client reaches Clowder. The zero value of a number takes the default that stands beside it.
type Config struct {
	// URL is the address of Clowder as this process reaches it. It wins over the host that a message names, which is often
	// a name that only Clowder's own network knows. Empty: the message's host is used if it is one of AllowedHosts.
	URL string
	// AllowedHosts are addresses that a message may name as its host.
	AllowedHosts []string
	// Cache keeps downloaded bodies by their sha256, on the same file system as the folders that Stage fills. Empty: there is
	// none, and nothing can be staged.
	Cache disk.Folder
	// TLS is used for https; nil takes the system's authorities and at least TLS 1.2.
	TLS *tls.Config
	// CallTimeout bounds one ordinary call (60 s). Downloads and uploads have no such bound, they are given up after
	// IdleTimeout without a byte (60 s). An upload's answer may take AnswerTimeout after its last byte (10 min): Clowder
	// stores the file in between, with its whole worker standing still.
	CallTimeout, IdleTimeout, AnswerTimeout time.Duration
	// MinRate is the least rate of a download in bytes a second (10,000), over each RateWindow of waiting for it (5 min); a
	// slower one is given up and tried again.
	MinRate    int64
	RateWindow time.Duration
	// InFlightWait is how long a listed file that is still being uploaded by somebody is waited for (60 s).
	InFlightWait time.Duration
	// MaxFiles (50,000) and MaxBytes (50 GiB) bound what is staged for one job.
	MaxFiles int
	MaxBytes int64
	// Streams is the number of parallel downloads of one job (8).
	Streams int
	// Attempts is how often a call that may be repeated is made before its error is returned (4), and Backoff the first
	// wait between two of them (200 ms, then four times as much each time).
	Attempts int
	Backoff  time.Duration
	// Logger takes warnings; nil logs nothing.
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

// validate returns all faults of the configuration at once.
func (c Config) validate() error {
	var faults []error
	if c.URL == "" && len(c.AllowedHosts) == 0 {
		faults = append(faults, errors.New("no address of Clowder is set: set CLOWDER_URL"))
	}
	for name, n := range map[string]int64{
		"call timeout": int64(c.CallTimeout), "idle timeout": int64(c.IdleTimeout), "answer timeout": int64(c.AnswerTimeout),
		"in-flight wait": int64(c.InFlightWait), "most files": int64(c.MaxFiles), "most bytes": c.MaxBytes,
		"least rate": c.MinRate, "window of the rate": int64(c.RateWindow),
		"streams": int64(c.Streams), "attempts": int64(c.Attempts), "backoff": int64(c.Backoff),
	} {
		if n < 0 {
			faults = append(faults, fmt.Errorf("%s must not be negative", name))
		}
	}
	return errors.Join(faults...)
}
