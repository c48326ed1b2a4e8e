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

// backendName is the name of this backend in handles.
const backendName = "jobsapi"

// userAgent must not look like a browser, which Ray rejects with 405.
const userAgent = "clowder-ray"

// tokenHeader passes through proxies that consume the Authorization header.
const tokenHeader = "X-Ray-Authorization" //nolint:gosec // the name of a header, no credential

// maxAnswer is the largest answer in bytes that is kept in memory as a whole.
const maxAnswer = 1 << 20

// Client runs attempts on one Ray cluster. It is safe for concurrent use. CloseIdleConnections frees all it holds.
type Client struct {
	cfg     Config
	address string
	rest    *resty.Client
	log     *zap.Logger
	jobs    *rayjob.Cached[map[string]rayjob.Observation]
	version *rayjob.Cached[version]
	warned  rayjob.OnceEach // unknown statuses

	mu      sync.Mutex
	lastErr string // the newest error of the listing that was logged
}

var _ rayjob.Backend = (*Client)(nil)

// New returns a client for the cluster in cfg. It does not talk to the cluster; Check does.
func New(cfg Config, log *zap.Logger) (*Client, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, fmt.Errorf("invalid Ray settings: %w", err)
	}
	address, _ := cfg.base() // validate has checked both
	tlsConfig, _ := cfg.tls()
	// Proxies of the environment are not used: the token would pass through them.
	var transport http.RoundTripper = &http.Transport{
		TLSClientConfig: tlsConfig, TLSHandshakeTimeout: 10 * time.Second, ForceAttemptHTTP2: true, ResponseHeaderTimeout: cfg.Timeout,
		MaxIdleConns: 32, MaxIdleConnsPerHost: 16, IdleConnTimeout: 30 * time.Second, MaxResponseHeaderBytes: 64 << 10,
	}
	if cfg.Transport != nil {
		transport = cfg.Transport
	}
	// No redirect is followed, since net/http keeps an unknown header on a redirect to another host.
	noRedirects := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c := &Client{
		cfg: cfg, address: address, log: log.Named("ray"),
		rest: resty.NewWithClient(&http.Client{Transport: transport, CheckRedirect: noRedirects}).
			SetBaseURL(address).SetHeader("User-Agent", userAgent).SetLogger(zap.NewNop().Sugar()),
	}
	c.jobs = rayjob.NewCached(cfg.PollInterval, c.poll)
	c.version = rayjob.NewCached(cfg.PollInterval, func(ctx context.Context, _ version) (version, error) { return c.readVersion(ctx) })
	return c, nil
}

// CloseIdleConnections closes the connections that no request uses.
func (c *Client) CloseIdleConnections() { c.rest.GetClient().CloseIdleConnections() }

// call is one request.
type call struct {
	method, path string
	body         any
	// what completes the sentence "… cannot …", e.g. "list the jobs".
	what string
	// changes marks a call that may have had an effect even if it failed.
	changes bool
	// timeout replaces the configured one.
	timeout time.Duration
}

// jobCall is a call about one job.
func jobCall(method, id, below, what string) call {
	return call{method: method, path: "/api/jobs/" + url.PathEscape(id) + below, what: what}
}

// do makes the call and passes a 2xx answer to read. Its errors have a kind; other answers are *answer.
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
		return settingError(settingBoth, settingBoth+": "+err.Error())
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

// readError words a 2xx answer that was cut off or does not come from Ray, such as a page of a proxy.
func (c *Client) readError(ctx context.Context, req call, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	err = fmt.Errorf("read the answer of Ray at %s to the request to %s: %w", c.address, req.what, bare(err))
	if req.changes {
		return job.Unknown(err)
	}
	return job.Retryable(err)
}
