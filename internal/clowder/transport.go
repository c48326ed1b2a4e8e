package clowder

import (
	"context"
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

// newTransport makes a connection pool. It ignores the proxy settings of the environment, because the user's key would pass through
// the proxy, and it requests no compression, so that bytes can be counted. check is called with the address of each connection before
// it is made.
func newTransport(cfg Config, check func(network, address string, c syscall.RawConn) error) *http.Transport {
	dialer := &net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second, Control: check}
	return &http.Transport{
		DialContext: dialer.DialContext, TLSClientConfig: cfg.TLS.Clone(), TLSHandshakeTimeout: dialTimeout, ForceAttemptHTTP2: true,
		MaxIdleConns: 64, MaxIdleConnsPerHost: 64, IdleConnTimeout: idleConn, DisableCompression: true,
		ReadBufferSize: readBuffer, WriteBufferSize: readBuffer, ExpectContinueTimeout: time.Second, MaxResponseHeaderBytes: 64 << 10,
	}
}

// withinOrigin allows redirects only to the same scheme, host and port, because net/http sends X-API-KEY to any redirect.
func withinOrigin(req *http.Request, via []*http.Request) error {
	if len(via) > 3 {
		return errors.New("too many redirects")
	}
	if !sameOrigin(req.URL, via[0].URL) {
		return fmt.Errorf("it redirects to another address (%s://%s): check CLOWDER_URL", req.URL.Scheme, req.URL.Host)
	}
	return nil
}

func noRedirects(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

func isLoopback(u *url.URL) bool {
	host := u.Hostname()
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}

// watchdog cancels a context if no byte arrives for a while. A transfer has no total time limit.
type watchdog struct {
	timer *time.Timer
	idle  time.Duration
}

var errIdle = errors.New("no data arrived for too long")

// watch returns a context that is cancelled with errIdle if touch is not called for the time idle. The caller calls the returned stop.
func watch(ctx context.Context, idle time.Duration) (context.Context, *watchdog, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	w := &watchdog{timer: time.AfterFunc(idle, func() { cancel(errIdle) }), idle: idle}
	return ctx, w, func() {
		w.timer.Stop()
		cancel(nil)
	}
}

func (w *watchdog) touch() { w.timer.Reset(w.idle) }

// allow changes the time until the next call of touch.
func (w *watchdog) allow(idle time.Duration) {
	w.idle = idle
	w.timer.Reset(idle)
}
