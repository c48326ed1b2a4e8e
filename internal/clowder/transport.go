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
	// idleConn is shorter than the 5 s after which uvicorn closes an idle connection: a request that is written at that very
	// moment would be lost, and a POST could not be repeated.
	idleConn = 4 * time.Second
	// readBuffer lets one system call take what the server wrote; the default of 4 kB costs a third of the rate.
	readBuffer = 64 << 10
)

// newTransport makes the one connection pool of a client. It uses no proxy of the environment, because the user's key
// would pass through it, and asks for no compression, so that bytes can be counted. check sees the address of each connection
// before it is made.
func newTransport(cfg Config, check func(network, address string, c syscall.RawConn) error) *http.Transport {
	dialer := &net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second, Control: check}
	return &http.Transport{
		DialContext: dialer.DialContext, TLSClientConfig: cfg.TLS.Clone(), TLSHandshakeTimeout: dialTimeout, ForceAttemptHTTP2: true,
		MaxIdleConns: 64, MaxIdleConnsPerHost: 16, IdleConnTimeout: idleConn, DisableCompression: true,
		ReadBufferSize: readBuffer, WriteBufferSize: readBuffer, ExpectContinueTimeout: time.Second, MaxResponseHeaderBytes: 64 << 10,
	}
}

// withinOrigin lets a redirect pass only to the same scheme, host and port: net/http would keep X-API-KEY on any redirect.
func withinOrigin(req *http.Request, via []*http.Request) error {
	if len(via) > 3 {
		return errors.New("too many redirects")
	}
	if !sameOrigin(req.URL, via[0].URL) {
		return fmt.Errorf("is redirected to another address (%s://%s); check CLOWDER_URL", req.URL.Scheme, req.URL.Host)
	}
	return nil
}

func noRedirects(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

func isLoopback(u *url.URL) bool {
	host := u.Hostname()
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}

// watchdog cancels a context when nothing was reported for a while; a transfer has no total time limit.
type watchdog struct {
	timer *time.Timer
	idle  time.Duration
}

var errIdle = errors.New("no byte came for too long")

// watch returns a context that is cancelled with errIdle after idle without touch. The returned stop must be called.
func watch(ctx context.Context, idle time.Duration) (context.Context, *watchdog, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	w := &watchdog{timer: time.AfterFunc(idle, func() { cancel(errIdle) }), idle: idle}
	return ctx, w, func() {
		w.timer.Stop()
		cancel(nil)
	}
}

func (w *watchdog) touch() { w.timer.Reset(w.idle) }

// allow changes the time until the next touch must come.
func (w *watchdog) allow(idle time.Duration) {
	w.idle = idle
	w.timer.Reset(idle)
}
