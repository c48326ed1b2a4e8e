package queue

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/ncsa/clowder-ray/internal/job"
)

// The names of the settings as the operator knows them. A ConfigError carries one of them.
const (
	SettingURI   = "RABBITMQ_URI"
	SettingQueue = "RABBITMQ_QUEUE"
	SettingCA    = "RABBITMQ_CA"
)

// errorPrefix and the name of a queue are the name of its error queue, which holds messages that could not become a job.
const errorPrefix = "error."

// Config is the address of the broker and how to use it. The zero value of each field but URI stands for its default.
type Config struct {
	// URI is amqp://user:password@host:port/vhost, or amqps:// for TLS. Without a path the vhost is "/".
	URI job.Secret
	// Queue is the queue to consume. A Publisher does not need it.
	Queue string
	// ConnectionName is shown in RabbitMQ's list of connections.
	ConnectionName string
	// MaxPrefetch is the largest number of unsettled deliveries; default 8. After a large message it is 1 for a while.
	MaxPrefetch int
	// Heartbeat is the AMQP heartbeat interval. A dead peer is detected after three intervals. Default 10 s, at least 1 s.
	Heartbeat time.Duration
	// BackoffMin and BackoffMax limit the wait before the next connection; default 0.5 s and 30 s.
	BackoffMin, BackoffMax time.Duration
	// DialTimeout limits one try to connect, with TLS and the AMQP handshake; default 15 s.
	DialTimeout time.Duration
	// DrainTimeout is how long handlers may continue after the context of Run has ended; default 5 s.
	DrainTimeout time.Duration
	// CloseTimeout limits each step of a shutdown: cancelling a consumer, a last confirm, closing; default 2 s.
	CloseTimeout time.Duration
	// ConfirmTimeout is how long the broker may take to confirm a message while it does not block publishers; default 30 s.
	ConfirmTimeout time.Duration
	// CAFile holds the CA certificates for the broker; if it is empty, the system's are used. With CAFile, the certificate parameters
	// of the address are ignored.
	CAFile string
}

// withDefaults returns c with the defaults filled in.
func (c Config) withDefaults() Config {
	for field, value := range map[*time.Duration]time.Duration{
		&c.Heartbeat: 10 * time.Second, &c.BackoffMin: 500 * time.Millisecond, &c.BackoffMax: 30 * time.Second,
		&c.DialTimeout: 15 * time.Second, &c.DrainTimeout: 5 * time.Second, &c.CloseTimeout: 2 * time.Second,
		&c.ConfirmTimeout: 30 * time.Second,
	} {
		if *field == 0 {
			*field = value
		}
	}
	if c.MaxPrefetch == 0 {
		c.MaxPrefetch = 8
	}
	return c
}

// Validate returns all errors of the configuration, one per line, each with the name of its setting. It never repeats the address,
// which holds a password.
func (c Config) Validate() error {
	c = c.withDefaults()
	return errors.Join(c.validateURI(), c.validateQueue(), c.validateCA(), c.validateLimits())
}

func (c Config) validateURI() error {
	// The parser's error quotes parts of the address, which may include the password.
	uri, err := amqp.ParseURI(c.URI.Reveal())
	if err != nil {
		return fmt.Errorf("%s: must have the form amqp://user:password@host:5672/vhost; write special characters of the user, the password "+
			"and the vhost as %%XX", SettingURI)
	}
	if uri.Scheme != "amqps" && c.CAFile != "" {
		return fmt.Errorf("%s: it needs an address in %s that begins with amqps://", SettingCA, SettingURI)
	}
	return nil
}

func (c Config) validateQueue() error {
	if limit := 255 - len(errorPrefix); len(c.Queue) > limit {
		return fmt.Errorf("%s: a queue name may have at most %d bytes, got %d", SettingQueue, limit, len(c.Queue))
	}
	if strings.HasPrefix(c.Queue, "amq.") {
		return fmt.Errorf("%s: %q: names that begin with amq. are reserved for the broker", SettingQueue, c.Queue)
	}
	return nil
}

func (c Config) validateCA() error {
	if c.CAFile == "" {
		return nil
	}
	if _, err := c.rootCAs(); err != nil {
		return fmt.Errorf("%s: %w", SettingCA, err)
	}
	return nil
}

func (c Config) validateLimits() error {
	var errs []error
	report := func(wrong bool, format string, args ...any) {
		if wrong {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	report(c.MaxPrefetch < 1 || c.MaxPrefetch > 65535, "prefetch: must be between 1 and 65535, got %d", c.MaxPrefetch)
	report(c.Heartbeat < time.Second, "AMQP heartbeat: must be at least 1s, got %s", c.Heartbeat)
	report(c.BackoffMin < 0 || c.BackoffMax < c.BackoffMin, "back-off: the minimum %s must not be above the maximum %s", c.BackoffMin, c.BackoffMax)
	for name, d := range map[string]time.Duration{
		"dial timeout": c.DialTimeout, "drain timeout": c.DrainTimeout, "close timeout": c.CloseTimeout, "confirm timeout": c.ConfirmTimeout,
	} {
		report(d < 0, "%s: must not be negative, got %s", name, d)
	}
	return errors.Join(errs...)
}

// rootCAs reads the certificates of CAFile.
func (c Config) rootCAs() (*x509.CertPool, error) {
	pem, err := os.ReadFile(c.CAFile)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s holds no certificate in PEM format", c.CAFile)
	}
	return pool, nil
}

// redacted returns the address without password and query, for logs and errors.
func (c Config) redacted() string {
	uri, err := amqp.ParseURI(c.URI.Reveal())
	if err != nil {
		return "the broker"
	}
	u := url.URL{
		Scheme: uri.Scheme, User: url.UserPassword(uri.Username, "xxxxx"),
		Host: net.JoinHostPort(uri.Host, strconv.Itoa(uri.Port)),
		Path: "/" + uri.Vhost, RawPath: "/" + url.PathEscape(uri.Vhost),
	}
	return u.String()
}
