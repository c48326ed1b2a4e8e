package clowdertest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest/faulty"
)

// Options configures a double. The zero value serves HTTP on a free port without a broker.
type Options struct {
	// Version is the version of Clowder, 1 or 2. 0 is 2.
	Version int
	// Public lets everybody read everything in a Clowder v1, also with an invalid key.
	Public bool
	// Listen is the address to serve on. If it is empty, a free port on loopback is used.
	Listen string
	// AMQPURI is the broker for messages, statuses and heartbeats. Without it submissions fail with 500, as if Clowder's broker were
	// down.
	AMQPURI string
	// Exchange is the exchange of Clowder's broker; the default is clowder. v1 and v2 declare it differently, so on one virtual host one of
	// them needs another name.
	Exchange string
	// Host is the host in job messages. If it is empty, it is the double's URL. In real installations it is often a name that only their
	// own network can resolve.
	Host string
	// Dir is the folder for the bodies of files. If it is empty, a new folder is used, which Close removes.
	Dir string
	// Users are e-mail addresses; the default is alice, bob and admin at example.org. A user whose address begins with admin is an
	// administrator.
	Users []string
	// UploadDelay is how long an upload blocks after its file is stored; 1 s in the real Clowder. StoreDelay is how long the file is listed
	// before it is stored.
	UploadDelay, StoreDelay time.Duration
	// LoseOrder handles statuses concurrently, as the real Clowder does, so that statuses in quick succession may be stored in the wrong
	// order.
	LoseOrder bool
	// HideFromOwner hides files of a collaborator from the owner of a private dataset, as the real Clowder does.
	HideFromOwner bool
	// Resubmits submits the jobs of a file again when it gets a new version, as Clowder v2 is meant to. In its releases of 2026 that fails
	// quietly.
	Resubmits bool
	// Logger receives messages that the listeners drop. If it is nil, nothing is logged.
	Logger *zap.Logger
}

// Fault makes requests fail.
type Fault = faulty.Fault

// Server is a running double. It is safe for concurrent use.
type Server struct {
	// URL is the address of the double, without /api.
	URL string
	// Faults make requests fail, and count them.
	faulty.Faults

	opts   Options
	log    *zap.Logger
	http   *http.Server
	served sync.WaitGroup
	state  *state
	race   race
	broker *broker
	ownDir bool

	ending sync.Mutex // held while done is closed, and while work is begun that Close waits for
	done   chan struct{}
}

// New starts a double.
func New(opts Options) (*Server, error) {
	s := &Server{opts: opts, log: opts.Logger, done: make(chan struct{})}
	if s.log == nil {
		s.log = zap.NewNop()
	}
	if s.opts.Dir == "" {
		dir, err := os.MkdirTemp("", "clowdertest-")
		if err != nil {
			return nil, fmt.Errorf("make a folder for file bodies: %w", err)
		}
		s.opts.Dir, s.ownDir = dir, true
	}
	if len(s.opts.Users) == 0 {
		s.opts.Users = []string{"alice@example.org", "bob@example.org", "admin@example.org"}
	}
	s.state = newState(s.opts.Users)
	listen := opts.Listen
	if listen == "" {
		listen = "127.0.0.1:0"
	}
	socket, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", listen)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("listen on %s: %w", listen, err), s.removeDir())
	}
	s.URL = "http://" + socket.Addr().String()
	if s.opts.Host == "" {
		s.opts.Host = s.URL
	}
	if s.opts.Exchange == "" {
		s.opts.Exchange = "clowder"
	}
	if opts.AMQPURI != "" {
		if s.broker, err = openBroker(s, opts.AMQPURI); err != nil {
			return nil, errors.Join(err, socket.Close(), s.removeDir())
		}
	}
	handler := s.Handler()
	if opts.Version == 1 {
		handler = s.v1Handler()
	}
	s.http = &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}
	s.served.Go(func() {
		if err := s.http.Serve(socket); !errors.Is(err, http.ErrServerClosed) {
			s.log.Error("the double stopped serving", zap.Error(err))
		}
	})
	return s, nil
}

// Close stops serving at once, ends the listeners and removes the folder that New made. A second call does nothing.
func (s *Server) Close() error {
	if !s.end() {
		return nil
	}
	err := s.http.Close()
	s.served.Wait()
	if s.broker != nil {
		s.broker.close()
	}
	return errors.Join(err, s.removeDir())
}

// end closes done and reports whether it was open.
func (s *Server) end() bool {
	s.ending.Lock()
	defer s.ending.Unlock()
	select {
	case <-s.done:
		return false
	default:
		close(s.done)
		return true
	}
}

// later runs work that a request has begun. Close waits for it; after Close nothing is begun.
func (s *Server) later(work func()) {
	s.ending.Lock()
	defer s.ending.Unlock()
	select {
	case <-s.done:
	default:
		s.served.Go(work)
	}
}

func (s *Server) removeDir() error {
	if !s.ownDir {
		return nil
	}
	return os.RemoveAll(s.opts.Dir)
}

// Key returns the API key of a user, or "" for an unknown user.
func (s *Server) Key(email string) string {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	for key, owner := range s.state.keys {
		if owner == email && !strings.HasPrefix(key, JobKeyMark) {
			return key
		}
	}
	return ""
}

// RevokeKey makes a key invalid, as deleting it in Clowder does.
func (s *Server) RevokeKey(key string) {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	delete(s.state.keys, key)
	maps.DeleteFunc(s.state.jobKeys, func(_, of string) bool { return of == key }) // the next job of the user gets a new one
}

// sleep waits, or returns when the double is closed.
func (s *Server) sleep(d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.done:
	}
}

// Users returns the e-mail addresses of all users, in the order in which they were given.
func (s *Server) Users() []string { return s.opts.Users }

// Keys returns the API key of each user.
func (s *Server) Keys() map[string]string {
	keys := make(map[string]string)
	for _, email := range s.opts.Users {
		keys[email] = s.Key(email)
	}
	return keys
}
