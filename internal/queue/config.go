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

// The names under which an operator knows the settings; a ConfigError carries one of them.
const (
	SettingURI   = "RABBITMQ_URI"
	SettingQueue = "RABBITMQ_QUEUE"
	SettingCA    = "RABBITMQ_CA"
)

// errorPrefix makes the name of the queue beside a queue that holds what could not become a job.
const errorPrefix = "error."

// Config says which broker to talk to and how. The zero value of every field but URI stands for its default.
type Config struct {
	// URI is amqp://user:password@host:port/vhost, or amqps:// for TLS. Without a path the vhost is "/".
	URI job.Secret
	// Queue is the queue to consume. A Publisher needs none.
	Queue string
	// ConnectionName is shown in RabbitMQ's list of connections.
	ConnectionName string
	// MaxPrefetch is the most deliveries in hand at once; default 8. After a large one they come one at a time for a while.
	MaxPrefetch int
	// Heartbeat is the AMQP heartbeat; a dead peer is noticed after three of them. Default 10 s, at least 1 s.
	Heartbeat time.Duration
	// BackoffMin and BackoffMax bound the wait before the next connection; default 0.5 s and 30 s.
	BackoffMin, BackoffMax time.Duration
	// DialTimeout bounds one try to connect, with TLS and the AMQP handshake; default 15 s.
	DialTimeout time.Duration
	// DrainTimeout is how long handlers may go on after the end of Run's context before theirs ends too; default 5 s.
	DrainTimeout time.Duration
	// CloseTimeout bounds every orderly step of an end: cancelling a consumer, a last confirm, closing; default 2 s.
	CloseTimeout time.Duration
	// ConfirmTimeout is how long a broker that is not blocked may take to confirm a message; default 30 s.
	ConfirmTimeout time.Duration
	// CAFile holds the certificates that sign the broker's; empty takes the system's. With it, or with InsecureTLS, what
	// the address says about certificates is not looked at.
	CAFile string
	// InsecureTLS accepts any certificate. It is for development only and is logged at every start.
	InsecureTLS bool
}

// withDefaults fills in what was left out.
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

// Validate reports every fault of the configuration, one per line, with the name of its setting. It never repeats the
// address, which holds a password.
func (c Config) Validate() error {
	c = c.withDefaults()
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }

	// What the parser says about a broken address quotes parts of it, the password among them.
	if uri, err := amqp.ParseURI(c.URI.Reveal()); err != nil {
		fault("%s: must look like amqp://user:password@host:5672/vhost, with every special character of the user, the "+
			"password and the vhost written as %%XX", SettingURI)
	} else if uri.Scheme != "amqps" && (c.CAFile != "" || c.InsecureTLS) {
		fault("%s: settings for TLS are given, but the address in %s begins with amqp:// and not with amqps://", SettingCA, SettingURI)
	}
	if name := c.Queue; len(errorPrefix+name) > 255 {
		fault("%s: a queue name has at most %d bytes, got %d", SettingQueue, 255-len(errorPrefix), len(name))
	} else if strings.HasPrefix(name, "amq.") {
		fault("%s: %q: names that begin with amq. belong to the broker", SettingQueue, name)
	}
	if c.CAFile != "" {
		if _, err := c.rootCAs(); err != nil {
			fault("%s: %w", SettingCA, err)
		}
	}
	if c.MaxPrefetch < 1 || c.MaxPrefetch > 65535 {
		fault("prefetch: must be between 1 and 65535, got %d", c.MaxPrefetch)
	}
	if c.Heartbeat < time.Second {
		fault("AMQP heartbeat: must be at least 1s, got %s", c.Heartbeat)
	}
	if c.BackoffMin < 0 || c.BackoffMax < c.BackoffMin {
		fault("back-off: %s to %s is no range", c.BackoffMin, c.BackoffMax)
	}
	for name, d := range map[string]time.Duration{
		"dial timeout": c.DialTimeout, "drain timeout": c.DrainTimeout, "close timeout": c.CloseTimeout,
		"confirm timeout": c.ConfirmTimeout,
	} {
		if d < 0 {
			fault("%s: must not be negative, got %s", name, d)
		}
	}
	return errors.Join(faults...)
}

// rootCAs reads the certificates of CAFile.
func (c Config) rootCAs() (*x509.CertPool, error) {
	pem, err := os.ReadFile(c.CAFile)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s holds no certificate in PEM form", c.CAFile)
	}
	return pool, nil
}

// redacted is the address for logs and errors: without password and query. It is called on validated configurations only.
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
