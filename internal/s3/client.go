package s3

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/cache"
	"github.com/ncsa/clowder-ray/internal/job"
)

// Limits bound what one address may hold.
type Limits struct {
	Objects int
	Bytes   int64
}

// Store reads and writes the places of a configuration. It is safe for concurrent use.
type Store struct {
	cfg     Config
	limits  Limits
	cache   *cache.Cache
	log     *zap.Logger
	streams int
	pause   time.Duration // before the first repetition of a request

	mu      sync.Mutex
	clients map[string]*minio.Core // by place
}

// New returns a store. Downloads go through the cache, which the caller closes after the last call.
func New(cfg Config, limits Limits, c *cache.Cache, log *zap.Logger) *Store {
	return &Store{cfg: cfg, limits: limits, cache: c, log: log.Named("s3"), streams: 4, pause: time.Second, clients: map[string]*minio.Core{}}
}

// client returns the client of a place. Making one sends no request.
func (s *Store) client(p Place) (*minio.Core, error) {
	key := fmt.Sprintf("%s %s %s %t %+v", p.Endpoint, p.Region, p.Bucket, p.Private, p.Credentials)
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, ok := s.clients[key]; ok {
		return c, nil
	}
	address, err := url.Parse(p.Endpoint)
	if err != nil {
		return nil, job.Permanent(fmt.Errorf("S3_SOURCES: %w", err))
	}
	c, err := minio.NewCore(address.Host, &minio.Options{
		Creds: p.Credentials.source(), Secure: address.Scheme == "https", Region: p.Region, BucketLookup: minio.BucketLookupAuto,
		Transport: newTransport(p.Private), TrailingHeaders: true, MaxRetries: 3,
	})
	if err != nil {
		return nil, job.Permanent(fmt.Errorf("S3_SOURCES: the endpoint of the bucket %s: %w", p.Bucket, err))
	}
	s.clients[key] = c
	return c, nil
}

// source returns the credentials, which are read when they are needed and again when they expire.
func (c Credentials) source() *credentials.Credentials {
	switch {
	case c.Environment != "":
		return credentials.New(&environment{prefix: c.Environment})
	case c.File != "":
		return credentials.New(&credentials.FileAWSCredentials{Filename: c.File, Profile: c.Profile})
	case c.WebIdentity:
		return credentials.NewIAM("")
	default:
		return credentials.NewStatic("", "", "", credentials.SignatureAnonymous)
	}
}

// environment reads keys from variables with a prefix.
type environment struct{ prefix string }

// Retrieve implements credentials.Provider.
func (e *environment) Retrieve() (credentials.Value, error) {
	value := credentials.Value{
		AccessKeyID: os.Getenv(e.prefix + "_ACCESS_KEY_ID"), SecretAccessKey: os.Getenv(e.prefix + "_SECRET_ACCESS_KEY"),
		SessionToken: os.Getenv(e.prefix + "_SESSION_TOKEN"), SignerType: credentials.SignatureV4,
	}
	if value.AccessKeyID == "" || value.SecretAccessKey == "" {
		return credentials.Value{}, fmt.Errorf("%s_ACCESS_KEY_ID or %s_SECRET_ACCESS_KEY is not set", e.prefix, e.prefix)
	}
	return value, nil
}

// RetrieveWithCredContext implements credentials.Provider.
func (e *environment) RetrieveWithCredContext(*credentials.CredContext) (credentials.Value, error) {
	return e.Retrieve()
}

// IsExpired implements credentials.Provider: the environment of a process never changes.
func (e *environment) IsExpired() bool { return false }

// errPrivate is the error for an address that only a place with Private may have.
var errPrivate = errors.New("the endpoint has an address in a private network")

// newTransport contacts only public addresses, unless private is set. minio-go itself follows no redirects.
func newTransport(private bool) *http.Transport {
	dialer := &net.Dialer{Timeout: 20 * time.Second, KeepAlive: 30 * time.Second}
	if !private {
		dialer.ControlContext = func(_ context.Context, _, address string, _ syscall.RawConn) error {
			at, err := netip.ParseAddrPort(address)
			if err != nil {
				return err
			}
			if ip := at.Addr().Unmap(); !ip.IsGlobalUnicast() || ip.IsPrivate() || sharedAddresses.Contains(ip) {
				return errPrivate
			}
			return nil
		}
	}
	return &http.Transport{
		DialContext: dialer.DialContext, MaxIdleConnsPerHost: 16, IdleConnTimeout: time.Minute, TLSHandshakeTimeout: 20 * time.Second,
		ResponseHeaderTimeout: time.Minute, ExpectContinueTimeout: 10 * time.Second, DisableCompression: true, ForceAttemptHTTP2: true,
	}
}

// sharedAddresses are private to a provider, and clouds use them for their own services.
var sharedAddresses = netip.MustParsePrefix("100.64.0.0/10")
