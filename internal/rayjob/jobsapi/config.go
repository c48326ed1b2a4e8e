package jobsapi

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/ncsa/clowder-ray/internal/job"
)

// Config holds the address, the credentials and the limits for one Ray cluster. A zero value means the default.
type Config struct {
	// Address is the dashboard: http://host:8265, https://… or host:8265.
	Address string
	// Token is the cluster's token; empty if the cluster requires none.
	Token job.Secret
	// TokenFile contains the token. It is read for every request, so a renewed token needs no restart. Token has precedence.
	TokenFile string
	// CAFile contains the CA certificates of an https dashboard; empty means the system's.
	CAFile string
	// Transport, if set, replaces the client's own connections, e.g. to go through the API server of Kubernetes.
	Transport http.RoundTripper
	// Instance is the name of the submitting service. List returns only its attempts; without a name List fails.
	Instance string
	// PollInterval is how old a listing of all jobs may be (2 s). Observe may ask for a younger one.
	PollInterval time.Duration
	// Timeout bounds one request (20 s). Ray itself waits 10 s for a process that takes a job.
	Timeout time.Duration
	// StopWait is how long Stop waits for the end before it says Later (5 s).
	StopWait time.Duration
	// MaxLog is how many bytes of an attempt's output Logs writes at most (64 MiB).
	MaxLog int64
}

// Names of settings, for errors that say which one to correct.
const (
	settingAddress = "RAY_ADDRESS"
	settingToken   = "RAY_AUTH_TOKEN" //nolint:gosec // the name of a setting, no credential
	settingBoth    = "RAY_AUTH_TOKEN or RAY_AUTH_TOKEN_PATH"
)

// withDefaults replaces zero values.
func (c Config) withDefaults() Config {
	setDefault(&c.PollInterval, 2*time.Second)
	setDefault(&c.Timeout, 20*time.Second)
	setDefault(&c.StopWait, 5*time.Second)
	setDefault(&c.MaxLog, 64<<20)
	return c
}

func setDefault[T ~int64](field *T, value T) {
	if *field == 0 {
		*field = value
	}
}

// validate reports all invalid values at once.
func (c Config) validate() error {
	var errs []error
	if _, err := c.base(); err != nil {
		errs = append(errs, err)
	}
	if _, err := c.tls(); err != nil {
		errs = append(errs, err)
	}
	if strings.ContainsAny(c.Token.Reveal(), "\r\n") {
		errs = append(errs, errors.New(settingToken+": the token contains a line break: remove it"))
	}
	if c.PollInterval < 0 || c.Timeout < 0 || c.StopWait < 0 || c.MaxLog < 0 {
		errs = append(errs, errors.New("times and sizes must not be negative"))
	}
	return errors.Join(errs...)
}

// base returns the address as a URL without a slash at its end.
func (c Config) base() (string, error) {
	text := strings.TrimSpace(c.Address)
	if text != "" && !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	switch {
	case text == "":
		return "", errors.New(settingAddress + " is empty: set it to the dashboard of the Ray cluster, e.g. http://127.0.0.1:8265")
	case err != nil: // the error repeats the text, and a password in it
		return "", errors.New(settingAddress + " is not an address: set it to the dashboard of the Ray cluster, e.g. http://127.0.0.1:8265")
	case u.Scheme != "http" && u.Scheme != "https":
		return "", fmt.Errorf("%s begins with %s://: use the address of the dashboard (port 8265) with http:// or https://", settingAddress, u.Scheme)
	case u.Host == "":
		return "", errors.New(settingAddress + " has no host: set it to the dashboard of the Ray cluster, e.g. http://127.0.0.1:8265")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return "", fmt.Errorf("%s must contain only host, port and path: put a token into %s", settingAddress, settingToken)
	}
	return strings.TrimRight(u.String(), "/"), nil
}

func (c Config) tls() (*tls.Config, error) {
	conf := &tls.Config{MinVersion: tls.VersionTLS12}
	if c.CAFile == "" {
		return conf, nil
	}
	pem, err := os.ReadFile(c.CAFile)
	if err != nil {
		return nil, fmt.Errorf("read the certificates for Ray: %w", err)
	}
	conf.RootCAs = x509.NewCertPool()
	if !conf.RootCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s contains no certificate", c.CAFile)
	}
	return conf, nil
}

// token returns the token for the next request.
func (c Config) token() (job.Secret, error) {
	if c.Token != "" || c.TokenFile == "" {
		return c.Token, nil
	}
	text, err := os.ReadFile(c.TokenFile)
	if err != nil {
		return "", fmt.Errorf("read the token of Ray: %w", err)
	}
	return job.Secret(strings.TrimSpace(string(text))), nil
}
