package hub

import (
	"crypto/x509"
	"net/http"
	"net/url"
	"time"

	"github.com/go-resty/resty/v2"

	"github.com/ncsa/clowder-ray/internal/job"
)

// PublicEndpoint is the address of the public Hub.
const PublicEndpoint = "https://huggingface.co"

// Config is how a Client reaches the Hub. A number that is 0 takes the default in parentheses.
type Config struct {
	// Endpoint is the address of the Hub or of a mirror, which may have a path. If it is empty, it is PublicEndpoint.
	Endpoint string
	// Token is the access token of the operator, or empty.
	Token job.Secret
	// CallTimeout limits a request for information (60 s). A download has no total limit; it is broken off and taken up again if less than
	// 16 KiB arrive within IdleTimeout (60 s).
	CallTimeout, IdleTimeout time.Duration
	// Attempts is how often a request is tried (5), and Backoff the first wait between two tries (500 ms). Each further wait is three
	// times as long, up to 30 s. A download starts to count from 1 again after each MiB that arrived.
	Attempts int
	Backoff  time.Duration
	// MaxWait is the longest wait that the Hub may ask for (6 min). Its limits count requests of five minutes.
	MaxWait time.Duration
	// OnWait is called before each wait for the Hub with its reason. It may be nil.
	OnWait func(wait time.Duration, reason error)
	// Roots are the certificates that are trusted; nil means those of the system.
	Roots *x509.CertPool
}

func (c Config) withDefaults() Config {
	setDefault(&c.Endpoint, PublicEndpoint)
	setDefault(&c.CallTimeout, 60*time.Second)
	setDefault(&c.IdleTimeout, 60*time.Second)
	setDefault(&c.Attempts, 5)
	setDefault(&c.Backoff, 500*time.Millisecond)
	setDefault(&c.MaxWait, 6*time.Minute)
	if c.OnWait == nil {
		c.OnWait = func(time.Duration, error) {}
	}
	return c
}

func setDefault[T comparable](value *T, fallback T) {
	var zero T
	if *value == zero {
		*value = fallback
	}
}

// Client talks to one endpoint. It is safe for concurrent use.
type Client struct {
	cfg  Config
	base *url.URL
	// files follows redirects to other hosts. rest is resty on top of it, for answers that fit into memory.
	files *http.Client
	rest  *resty.Client
}

// userAgent is sent with each request.
const userAgent = "clowder-ray"

// New checks the configuration. It does not connect. The caller closes the client.
func New(cfg Config) (*Client, error) {
	cfg = cfg.withDefaults()
	base, err := parseEndpoint(cfg.Endpoint, cfg.Token != "")
	if err != nil {
		return nil, job.Permanent(err)
	}
	c := &Client{cfg: cfg, base: base}
	c.files = &http.Client{Transport: newTransport(cfg.Roots), CheckRedirect: c.checkRedirect}
	c.rest = resty.NewWithClient(c.files).SetDisableWarn(true).SetResponseBodyLimit(maxAnswer).SetRetryCount(0).
		SetHeader("Accept", "application/json").SetHeader("User-Agent", userAgent)
	return c, nil
}

// Endpoint is the address in use, without a slash at its end.
func (c *Client) Endpoint() string { return c.base.String() }

// Close closes idle connections.
func (c *Client) Close() { c.files.CloseIdleConnections() }
