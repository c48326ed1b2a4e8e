package studio

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/answer"
	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/versions"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/pipeline/volume"
	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/studio"
	"github.com/ncsa/clowder-ray/internal/studio/boards"
	"github.com/ncsa/clowder-ray/internal/studio/edit"
	"github.com/ncsa/clowder-ray/internal/studio/live"
	"github.com/ncsa/clowder-ray/internal/studio/runs"
)

// Parts are the parts of the service that the studio uses.
type Parts struct {
	ClowderURL string
	// ClowderVersion is the version of that Clowder, and ClowderCA the file with its certificate, if it has one of its own.
	ClowderVersion versions.Version
	ClowderCA      string
	Clowder        *clowder.Client
	// Keys are the state keys; nil: none.
	Keys       *job.Keyring
	Store      job.Store
	Volume     volume.Volume
	Extractors platform.Extractors
	// Places says which Clowder a job belongs to.
	Places interface {
		Address(rec job.Record) (string, error)
	}
	Jobs Jobs
	// Way leads the users of Clowder here.
	Links *Links
	// Python is the interpreter of the setting RAY_PYTHON, which need not be on this machine. Trainer returns the folder with the trainer for
	// its PYTHONPATH.
	Python  string
	Trainer func() (string, error)
	// Version is the version of the service.
	Version string
	Log     *zap.Logger
}

// Jobs applies the commands of people to runs, and tells of runs that are not over. The caller has checked that they may.
type Jobs interface {
	Cancel(ctx context.Context, run, by string) error
	Stop(ctx context.Context, run, by string) error
	RunOf(queue, jobID string) string
	LastStatus(run string) string
}

// Server serves the studio.
type Server struct {
	server   *http.Server
	listener net.Listener
	hub      *live.Hub
	answers  *answer.Client
	boards   *boards.Section // nil: TENSORBOARD is off
	log      *zap.Logger
}

// New listens on STUDIO_LISTEN. It returns nil if there is no studio.
func New(ctx context.Context, set Settings, parts Parts) (*Server, error) {
	if !set.On() {
		return nil, nil //nolint:nilnil // no studio is no error
	}
	log := parts.Log.Named("studio")
	site := parts.Links.site
	visitors, err := authenticator(site, set, parts)
	if err != nil {
		return nil, err
	}
	list := runs.New(site, parts.runs(visitors, &set))
	moving, hub := parts.live(site, list)
	editor := edit.New(site, edit.Parts{Rights: visitors, Trainings: list, Python: parts.python()})
	answers := parts.answers(&set)
	sections := []studio.Section{list, moving, editor, parts.models(site, &set, visitors, answers), parts.labels(site, visitors, list)}
	tensorboard := parts.boards(site, &set, list)
	if tensorboard != nil {
		sections = append(sections, tensorboard)
	}
	handler, err := studio.Handler(site, visitors, sections...)
	if err != nil {
		return nil, err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", set.Listen)
	if err != nil {
		return nil, fmt.Errorf("STUDIO_LISTEN: %w", err)
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10}
	server.RegisterOnShutdown(hub.Stop) // else open streams would hold the stop
	server.RegisterOnShutdown(editor.Close)
	return &Server{server: server, listener: listener, hub: hub, answers: answers, boards: tensorboard, log: log}, nil
}

// stopTime is how long answers that have begun may take when the studio stops.
const stopTime = 3 * time.Second

// Run serves until ctx ends.
func (s *Server) Run(ctx context.Context) error {
	stopped := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(stopped)
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
		defer cancel()
		if s.server.Shutdown(late) != nil {
			_ = s.server.Close()
		}
	})
	s.log.Info("serving the studio", zap.Stringer("address", s.listener.Addr()))
	if err := s.server.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		stop()
		return err
	}
	<-stopped
	s.hub.Close()
	var err error
	if s.boards != nil {
		err = s.boards.Close()
	}
	return errors.Join(err, s.answers.Close())
}
