package main

import (
	"cmp"
	"context"
	"errors"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/spf13/cobra"
	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"github.com/ncsa/clowder-ray/cmd/extractor/backend"
	"github.com/ncsa/clowder-ray/cmd/extractor/settings"
	"github.com/ncsa/clowder-ray/cmd/extractor/studio"
	"github.com/ncsa/clowder-ray/internal/mail"
	"github.com/ncsa/clowder-ray/internal/pipeline"
	"github.com/ncsa/clowder-ray/internal/pipeline/intake"
	"github.com/ncsa/clowder-ray/internal/retention"
)

func (p *program) serveCommand() *cobra.Command {
	return &cobra.Command{
		Use: "serve", Short: "Run the service: take jobs from Clowder until SIGTERM", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			set, err := p.settings(cmd)
			if err != nil {
				return err
			}
			log, err := newLogger(p.stderr, set.LogLevel, set.LogFormat)
			if err != nil {
				return err
			}
			return serve(cmd.Context(), set, log)
		},
	}
}

// heartbeats is the exchange on which Clowder receives the heartbeats of extractors.
const heartbeats = "extractors"

// serve runs the service until ctx ends.
func serve(ctx context.Context, set settings.Settings, log *zap.Logger) (err error) {
	memory, err := limitMemory(memlimit.FromCgroup)
	if err != nil {
		log.Warn("cannot read the memory limit of the container: set GOMEMLIMIT", zap.Error(err))
	}
	reg := prometheus.NewRegistry()
	reg.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	base, err := openBase(ctx, set, reg, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, base.close()) }()
	running, err := base.connect(ctx)
	if err != nil {
		return err
	}
	log.Info("starting", zap.String("version", version), zap.Strings("extractors", base.extractors.Names()),
		zap.String("ray", cmp.Or(set.KubeRayConfig, set.RayAddress)), zap.String("clowder", set.ClowderURL), zap.String("shared_dir", set.SharedDir),
		zap.String("memory_limit", memory))
	return runAll(ctx, set, running)
}

// readiness returns why the service accepts no jobs, or nil. A stopping service is not ready.
func readiness(ctx context.Context, ends endpoints, cleaner *retention.Cleaner) func() error {
	return func() error {
		switch {
		case ctx.Err() != nil:
			return errors.New("the service is stopping")
		case !ends.ready():
			return errors.New("not connected to RabbitMQ")
		default:
			return cleaner.DiskPressure()
		}
	}
}

// parts are the parts of the service that run until it stops.
type parts struct {
	ends     endpoints
	pipe     *pipeline.Pipeline
	recovery *intake.Recovery
	cleaner  *retention.Cleaner
	backend  *backend.Ray
	web      *health
	pages    *studio.Server
	mails    *mail.Notifier
}

// runAll runs the parts and stops them in an order that loses nothing: first the consumers, which return unhandled messages; then
// the pipeline, which sends its last statuses; then the publishers; and last the health endpoints, which show that the service is
// stopping.
func runAll(ctx context.Context, set settings.Settings, p parts) error {
	// A part that fails stops the others, like a signal.
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	work, stopWork := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stopWork(nil)
	statusCtx, stopStatuses := context.WithCancel(context.WithoutCancel(ctx))
	defer stopStatuses()
	healthCtx, stopHealth := context.WithCancel(context.WithoutCancel(ctx))
	defer stopHealth()

	var group errgroup.Group
	part := func(ctx context.Context, run func(context.Context) error, after func()) {
		group.Go(func() error {
			err := run(ctx)
			fail(err)
			after()
			return err
		})
	}
	part(ctx, p.ends.consume, func() { stopWork(pipeline.ErrStopping) })
	part(work, p.recovery.Run, func() {})
	part(work, p.cleaner.Run, func() {})
	part(work, p.pipe.Run, stopStatuses)
	part(statusCtx, p.ends.publish, stopHealth)
	part(statusCtx, p.backend.Run, func() {})
	if p.pages != nil {
		part(ctx, p.pages.Run, func() {})
	}
	if p.mails != nil {
		part(statusCtx, p.mails.Run, func() {})
	}
	if p.web != nil {
		part(healthCtx, p.web.Run, func() {})
	}
	done := make(chan error, 1)
	go func() { done <- group.Wait() }()
	<-ctx.Done()
	ended, cancel := context.WithTimeout(context.WithoutCancel(ctx), set.ShutdownTimeout)
	defer cancel()
	select {
	case err := <-done:
		return err
	case <-ended.Done():
		return errors.New("the shutdown took longer than SHUTDOWN_TIMEOUT; no job is lost, all jobs resume at the next start")
	}
}
