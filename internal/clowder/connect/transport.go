package connect

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"syscall"
	"time"
)

const (
	dialTimeout = 10 * time.Second
	// idleConn is shorter than the 5 s after which uvicorn closes an idle connection: a request that is sent at that moment would be
	// lost, and a POST cannot be repeated.
	idleConn = 4 * time.Second
	// readBuffer is large, because the default of 4 kB costs a third of the rate.
	readBuffer = 64 << 10
)

// NewTransport makes a connection pool. It ignores the proxy settings of the environment, because the user's key would pass through
// the proxy, and it requests no compression, so that bytes can be counted. check is called with the address of each connection before
// it is made.
func NewTransport(certificates *tls.Config, check func(network, address string, c syscall.RawConn) error) *http.Transport {
	dialer := &net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second, Control: check}
	return &http.Transport{
		DialContext: dialer.DialContext, TLSClientConfig: certificates.Clone(), TLSHandshakeTimeout: dialTimeout, ForceAttemptHTTP2: true,
		MaxIdleConns: 64, MaxIdleConnsPerHost: 64, IdleConnTimeout: idleConn, DisableCompression: true,
		ReadBufferSize: readBuffer, WriteBufferSize: readBuffer, ExpectContinueTimeout: time.Second, MaxResponseHeaderBytes: 64 << 10,
	}
}

// WithinOrigin allows redirects only to the same scheme, host and port, because net/http sends X-API-KEY to any redirect.
func WithinOrigin(req *http.Request, via []*http.Request) error {
	if len(via) > 3 {
		return errors.New("too many redirects")
	}
	if !sameOrigin(req.URL, via[0].URL) {
		return fmt.Errorf("it redirects to another address (%s://%s): check CLOWDER_URL", req.URL.Scheme, req.URL.Host)
	}
	return nil
}

// NoRedirects follows none.
func NoRedirects(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// IsLoopback reports whether an address is of this machine.
func IsLoopback(u *url.URL) bool {
	host := u.Hostname()
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}

// Watchdog cancels a context if no byte arrives for a while. A transfer has no total time limit.
type Watchdog struct {
	timer *time.Timer
	idle  time.Duration
}

// ErrIdle is why a Watchdog has cancelled its context.
var ErrIdle = errors.New("no data arrived for too long")

// Watch returns a context that is cancelled with ErrIdle if Touch is not called for the time idle. The caller calls the returned stop.
func Watch(ctx context.Context, idle time.Duration) (context.Context, *Watchdog, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	w := &Watchdog{timer: time.AfterFunc(idle, func() { cancel(ErrIdle) }), idle: idle}
	return ctx, w, func() {
		w.timer.Stop()
		cancel(nil)
	}
}

// Touch says that a byte has arrived.
func (w *Watchdog) Touch() { w.timer.Reset(w.idle) }

// Allow changes the time until the next call of Touch.
func (w *Watchdog) Allow(idle time.Duration) {
	w.idle = idle
	w.timer.Reset(idle)
}
