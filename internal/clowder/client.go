package clowder

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"

	"github.com/go-resty/resty/v2"
	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/cache"
	"github.com/ncsa/clowder-ray/internal/clowder/connect"
	"github.com/ncsa/clowder-ray/internal/clowder/jsonscan"
	"github.com/ncsa/clowder-ray/internal/clowder/mount"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
)

// Client talks to Clowder v2. It holds one connection pool and the cache of downloaded files, and no API key: As returns a Session that
// acts for one user. It is safe for concurrent use.
type Client struct {
	cfg     Config
	allowed connect.Origins  // the configured URL comes first
	fixed   bool             // a URL is configured; it overrides the host of a message
	apart   map[int]*url.URL // Config.URLs, by version
	log     *zap.Logger
	cache   *cache.Cache // nil: none is configured
	mounts  mount.Folders
	// api sends the user's key and follows redirects within the origin. rest is resty on top of api, for calls that fit into memory.
	// storage sends no key; it is for presigned addresses.
	api     *http.Client
	rest    *resty.Client
	storage *http.Client
	// inQuery holds the digest of each key that a Clowder v1 takes as a query parameter only.
	inQuery sync.Map
	// commit makes staged files durable. Tests replace it.
	commit func(*cache.Cache, []cache.Entry, *cache.Target) error
}

// NewClient checks the configuration and opens the cache. It does not connect.
func NewClient(cfg Config) (*Client, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	c := &Client{cfg: cfg.withDefaults(), fixed: cfg.URL != "", apart: map[int]*url.URL{}, commit: (*cache.Cache).Commit}
	c.log = c.cfg.Logger
	local := false
	for version, raw := range cfg.URLs {
		if raw == "" {
			continue
		}
		origin, err := connect.ParseOrigin(raw)
		if err != nil {
			return nil, fmt.Errorf("the address of Clowder v%d %q %w", version, connect.WithoutUser(raw), err)
		}
		c.apart[version] = origin
		local = local || connect.IsLoopback(origin)
	}
	for _, raw := range append([]string{cfg.URL}, cfg.AllowedHosts...) {
		if raw == "" {
			continue
		}
		origin, err := connect.ParseOrigin(raw)
		if err != nil {
			return nil, fmt.Errorf("the address of Clowder %q %w", connect.WithoutUser(raw), err)
		}
		c.allowed = append(c.allowed, origin)
		local = local || connect.IsLoopback(origin)
	}
	var err error
	if c.mounts, err = mount.Open(cfg.Mounts); err != nil {
		return nil, fmt.Errorf("MOUNTED_PATHS: %w", err)
	}
	if cfg.Cache != (disk.Folder{}) {
		if c.cache, err = cache.Open(cfg.Cache, c.log); err != nil {
			return nil, errors.Join(fmt.Errorf("open the cache of downloaded files: %w", err), c.mounts.Close())
		}
	}
	g := &connect.Guard{Loopback: local}
	c.api = &http.Client{Transport: connect.NewTransport(c.cfg.TLS, g.ToClowder), CheckRedirect: connect.WithinOrigin}
	c.storage = &http.Client{Transport: connect.NewTransport(c.cfg.TLS, g.ToStorage), CheckRedirect: connect.NoRedirects}
	c.rest = resty.NewWithClient(c.api).SetDisableWarn(true).SetResponseBodyLimit(jsonscan.MaxAnswer).SetRetryCount(0).
		SetHeader("Accept", "application/json").SetHeader("User-Agent", userAgent)
	return c, nil
}

const userAgent = "clowder-ray"

// Close closes idle connections, the cache and the mounted folders.
func (c *Client) Close() error {
	c.api.CloseIdleConnections()
	c.storage.CloseIdleConnections()
	if c.cache == nil {
		return c.mounts.Close()
	}
	return errors.Join(c.cache.Close(), c.mounts.Close())
}

// Cache returns the cache of downloaded files, nil without one. It is closed with the client.
func (c *Client) Cache() *cache.Cache { return c.cache }

// Session acts with the permissions of the user to whom its key or access token belongs. It is safe for concurrent use.
type Session struct {
	c    *Client
	base *url.URL
	// key is an API key or, with bearer, an access token.
	key     job.Secret
	bearer  bool
	dialect Dialect
}

// As returns a session with the configured URL or, without one, with the first of AllowedHosts. One of them must be configured.
func (c *Client) As(key job.Secret) *Session {
	return &Session{c: c, base: c.allowed[0], key: key}
}

// Bearer returns a session for an access token of the Keycloak of Clowder v2, at the same URL as As. Clowder accepts the tokens of all
// clients of its realm until they expire, which is after five minutes by default: make a session for each request of a user.
func (c *Client) Bearer(token job.Secret) *Session {
	return &Session{c: c, base: c.allowed[0], key: token, bearer: true}
}

// At returns a session for a message of Clowder v2 with this host. A configured URL overrides the host. Without one, the host must equal
// one of AllowedHosts; otherwise the error is permanent and written for the user.
func (c *Client) At(host string, key job.Secret) (*Session, error) {
	base, err := c.address(Number, host)
	if err != nil {
		return nil, err
	}
	return &Session{c: c, base: base, key: key}, nil
}

// Address is the normalised address of the session's Clowder.
func (s *Session) Address() string { return s.base.String() }

// Configured returns the address of the Clowder that sends messages of a version exactly as it is configured. It is empty where the hosts of
// the messages decide.
func (c *Client) Configured(version int) string { return cmp.Or(c.cfg.URLs[version], c.cfg.URL) }

// address returns the address of the Clowder that sent a message of this version with this host. A configured address overrides the host.
func (c *Client) address(version int, host string) (*url.URL, error) {
	switch apart := c.apart[version]; {
	case apart != nil:
		return apart, nil
	case c.fixed:
		return c.allowed[0], nil
	default:
		return c.allowed.Accept(host)
	}
}

// TrimCache removes the downloaded bodies that were used longest ago until at most limit bytes are left, and returns the bytes
// that are left; see [cache.Cache.Trim].
func (c *Client) TrimCache(limit int64) (left int64, err error) {
	if c.cache == nil {
		return 0, nil
	}
	if left, err = c.cache.Trim(limit); err != nil {
		return left, fmt.Errorf("trim the cache of downloaded files: %w", err)
	}
	return left, nil
}

// Config returns how the client reaches Clowder, with all defaults.
func (c *Client) Config() Config { return c.cfg }
