package jobsapi

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-resty/resty/v2"
	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/rayjob"
)

// backendName stands in the handles of this backend.
const backendName = "jobsapi"

// userAgent must not look like a browser: Ray refuses those with 405.
const userAgent = "clowder-ray"

// tokenHeader passes through proxies that take the Authorization header for themselves.
const tokenHeader = "X-Ray-Authorization" //nolint:gosec // the name of a header, no credential

// maxAnswer bounds the answers that are kept in memory as a whole.
const maxAnswer = 1 << 20

// Client runs attempts on one Ray cluster. It is safe for concurrent use and has nothing to close but idle connections.
type Client struct {
	cfg     Config
	address string
	rest    *resty.Client
	log     *zap.Logger
	jobs    *rayjob.Shared[map[string]rayjob.Observation]
	version *rayjob.Shared[version]
	warned  rayjob.Warned // statuses that are not known

	mu      sync.Mutex
	trouble string // the newest error of the listing that was logged
}

var _ rayjob.Backend = (*Client)(nil)

// New returns a client for the cluster in cfg. It does not talk to the cluster; Check does.
func New(cfg Config, log *zap.Logger) (*Client, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, fmt.Errorf("settings of Ray: %w", err)
	}
	address, _ := cfg.base() // validate has seen that both work
	tlsConfig, _ := cfg.tls()
	// No proxy of the environment: the token would pass through it.
	var transport http.RoundTripper = &http.Transport{
		TLSClientConfig: tlsConfig, TLSHandshakeTimeout: 10 * time.Second, ForceAttemptHTTP2: true, ResponseHeaderTimeout: cfg.Timeout,
		MaxIdleConns: 32, MaxIdleConnsPerHost: 16, IdleConnTimeout: 30 * time.Second, MaxResponseHeaderBytes: 64 << 10,
	}
	if cfg.Transport != nil {
		transport = cfg.Transport
	}
	// net/http keeps a header it does not know on a redirect to another host, so none is followed.
	noRedirects := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c := &Client{
		cfg: cfg, address: address, log: log.Named("ray"),
		rest: resty.NewWithClient(&http.Client{Transport: transport, CheckRedirect: noRedirects}).
			SetBaseURL(address).SetHeader("User-Agent", userAgent).SetLogger(zap.NewNop().Sugar()),
	}
	c.jobs = rayjob.NewShared(cfg.PollInterval, c.poll)
	c.version = rayjob.NewShared(cfg.PollInterval, func(ctx context.Context, _ version) (version, error) { return c.readVersion(ctx) })
	return c, nil
}

// CloseIdleConnections closes the connections that no request uses.
func (c *Client) CloseIdleConnections() { c.rest.GetClient().CloseIdleConnections() }

// call is one request.
type call struct {
	method, path string
	body         any
	// what reads on after "when asked to": list its jobs.
	what string
	// changes marks a call after which something may have happened although no good answer came.
	changes bool
	// timeout replaces the configured one.
	timeout time.Duration
}

// jobCall is a call about one job.
func jobCall(method, id, below, what string) call {
	return call{method: method, path: "/api/jobs/" + url.PathEscape(id) + below, what: what}
}

// do makes the call and hands a good answer to read. Its errors carry their kind; answers other than 2xx are *answer.
func (c *Client) do(ctx context.Context, req call, read func(io.Reader) error) error {
	timeout := c.cfg.Timeout
	if req.timeout > 0 {
		timeout = req.timeout
	}
	callCtx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var sent atomic.Bool
	callCtx = httptrace.WithClientTrace(callCtx, &httptrace.ClientTrace{WroteHeaders: func() { sent.Store(true) }})

	token, err := c.cfg.token()
	if err != nil {
		return operator(settingBoth, settingBoth+": "+err.Error())
	}
	r := c.rest.R().SetContext(callCtx).SetDoNotParseResponse(true)
	if token != "" {
		r.SetHeader(tokenHeader, "Bearer "+token.Reveal())
	}
	if req.body != nil {
		r.SetHeader("Content-Type", "application/json").SetBody(req.body)
	}
	resp, err := r.Execute(req.method, req.path)
	if err != nil {
		return c.transportError(ctx, req, sent.Load(), err)
	}
	body := resp.RawBody()
	defer func() { _ = body.Close() }()
	if !resp.IsSuccess() {
		return c.answerError(req, resp.StatusCode(), body, token)
	}
	if err := read(body); err != nil {
		return c.readError(ctx, req, err)
	}
	return nil
}

// readError words a good answer that was cut off or is not what Ray answers, as a page of a proxy is not.
func (c *Client) readError(ctx context.Context, req call, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	err = fmt.Errorf("read the answer of Ray at %s when asked to %s: %w", c.address, req.what, bare(err))
	if req.changes {
		return job.Unknown(err)
	}
	return job.Retryable(err)
}
