package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"path"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/spf13/cobra"
	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"github.com/ncsa/clowder-ray/cmd/extractor/settings"
	"github.com/ncsa/clowder-ray/cmd/extractor/studio"
	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/mount"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/mail"
	"github.com/ncsa/clowder-ray/internal/pipeline"
	"github.com/ncsa/clowder-ray/internal/pipeline/status"
	"github.com/ncsa/clowder-ray/internal/pipeline/volume"
	"github.com/ncsa/clowder-ray/internal/platform"
	clowderplatform "github.com/ncsa/clowder-ray/internal/platform/clowder"
	"github.com/ncsa/clowder-ray/internal/queue"
	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/rayjob/jobsapi"
	"github.com/ncsa/clowder-ray/internal/retention"
	"github.com/ncsa/clowder-ray/trainer"
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

// serve wires the service, in the order in which a job passes through it, and runs it until ctx ends.
func serve(ctx context.Context, set settings.Settings, log *zap.Logger) (err error) {
	memory, err := limitMemory(memlimit.FromCgroup)
	if err != nil {
		log.Warn("cannot read the memory limit of the container: set GOMEMLIMIT", zap.Error(err))
	}
	reg := prometheus.NewRegistry()
	reg.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))

	volume := volume.Volume{Dir: set.SharedDir, RayDir: set.RaySharedDir, Barrier: new(disk.Barrier)}
	all, err := extractors(set, volume)
	if err != nil {
		return err
	}
	if _, err := set.Scripts.Installer(ctx, localPython(set)); err != nil {
		return err
	}
	release, err := lockStateDir(set.StateDir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	store, err := openForService(ctx, set, reg, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()

	client, err := clowderClient(set, volume.Cache(), log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close()) }()

	backend, err := newRay(set, store.ID(), log)
	if err != nil {
		return err
	}
	defer backend.close()
	attempt, checkTrainer, err := attemptTemplate(set)
	if err != nil {
		return err
	}

	if backend.warm != nil && set.WarmWorkers > 0 {
		go backend.warm(ctx, attempt)
	}

	queueMetrics := queue.NewMetrics(reg)
	ends, err := newPublishers(set, all, uuid.NewString(), log, queueMetrics)
	if err != nil {
		return err
	}
	// All statuses go through one publisher, so that users see them in order.
	platform := clowderplatform.New(client, all)
	cfg := pipelineConfig(set, all, volume, attempt, checkTrainer)
	if cfg.Objects, err = set.Scripts.Objects(objectLimits(set), client.Cache(), log); err != nil {
		return err
	}
	mails, err := notifier(set, all, store, log)
	if err != nil {
		return err
	}
	if mails != nil {
		cfg.Over = mails.Over
	}
	keys, err := keyring(set)
	if err != nil {
		return err
	}
	way, err := studio.NewWay(set.Studio, set.ClowderURL, keys, platform, log)
	if err != nil {
		return err
	}
	if way != nil {
		cfg.Studio = way
	}
	pipe := pipeline.New(cfg, store, backend.Backend,
		platform, status.NewReplyQueue(ends[0].publisher, all, log), pipeline.NewMetrics(reg), log)
	if err := ends.addConsumers(set, all, pipe, log, queueMetrics); err != nil {
		return err
	}
	recovery := pipeline.NewRecovery(pipe, platform, ends[0].publisher, waitingOn(set), set.RecoverEvery)
	cleaner := retention.New(retentionConfig(set, volume), store, pipe, client, retention.NewMetrics(reg), log)
	web, err := newHealth(ctx, set.Listen, reg, readiness(ctx, ends, cleaner), log)
	if err != nil {
		return err
	}
	pages, err := studio.New(ctx, set.Studio, studio.Parts{
		ClowderURL: set.ClowderURL, ClowderVersion: set.ClowderVersion, ClowderCA: set.ClowderCA, Keys: keys, Clowder: client, Store: store, Volume: volume, Extractors: all, Places: platform, Desk: pipe, Way: way, Python: localPython(set),
		Trainer: func() (string, error) { return installTrainer(set) },
		Version: version, Log: log,
	})
	if err != nil {
		return err
	}
	log.Info("starting", zap.String("version", version), zap.Strings("extractors", all.Names()),
		zap.String("ray", cmp.Or(set.KubeRayConfig, set.RayAddress)), zap.String("clowder", set.ClowderURL), zap.String("shared_dir", set.SharedDir),
		zap.String("memory_limit", memory))
	return runAll(ctx, set, parts{ends: ends, pipe: pipe, recovery: recovery, cleaner: cleaner, backend: backend, web: web, pages: pages, mails: mails})
}

// readiness returns why the service accepts no jobs, or nil. A stopping service is not ready.
func readiness(ctx context.Context, ends endpoints, cleaner *retention.Keeper) func() error {
	return func() error {
		switch {
		case ctx.Err() != nil:
			return errors.New("the service is stopping")
		case !ends.ready():
			return errors.New("not connected to RabbitMQ")
		default:
			return cleaner.Low()
		}
	}
}

// parts are the parts of the service that run until it stops.
type parts struct {
	ends     endpoints
	pipe     *pipeline.Pipeline
	recovery *pipeline.Recovery
	cleaner  *retention.Keeper
	backend  *ray
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
	part(statusCtx, p.backend.run, func() {})
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

func pipelineConfig(set settings.Settings, all platform.Extractors, volume volume.Volume, attempt rayjob.Attempt, checkTrainer func() error) pipeline.Config {
	return pipeline.Config{
		Instance: set.ClowderURL, Instance1: cmp.Or(set.Clowder1URL, set.ClowderURL), Extractors: all, Volume: volume, AutomaticAfter: set.AutomaticAfter, MaxJobs: set.MaxJobs, MaxDownloads: maxDownloads, MaxUploads: maxUploads,
		MaxRunning: set.MaxRunning, MaxRunningPerUser: set.MaxRunningPerUser, MaxJobsPerUser: set.JobsPerUser(),
		UserJobsPerHour: set.UserJobsPerHour, UserRequestsPerHour: set.UserRequestsPerHour,
		MaxRetry: set.MaxRetry, MaxAttempts: set.MaxAttempts, Poll: set.RayPoll, PendingTimeout: set.PendingTimeout, StallTimeout: set.StallTimeout,
		Attempt: attempt, CheckTrainer: checkTrainer, Version: version, NoteUsers: set.Studio.On() || set.EmailServer != "", Scripts: set.Scripts.Preparer(localPython(set), volume.Overlays()),
	}
}

func rayConfig(set settings.Settings) jobsapi.Config {
	return jobsapi.Config{Address: set.RayAddress, Token: set.RayToken, TokenFile: set.RayTokenFile, PollInterval: set.RayPoll}
}

func clowderClient(set settings.Settings, cache disk.Folder, log *zap.Logger) (*clowder.Client, error) {
	mounts, err := mount.Parse(set.MountedPaths)
	if err != nil {
		return nil, job.Permanent(fmt.Errorf("MOUNTED_PATHS: %w", err))
	}
	cfg := clowder.Config{
		Mounts: mounts,
		URL:    set.ClowderURL, V1URL: set.Clowder1URL, Version: set.ClowderVersion, AllowedHosts: set.ClowderHosts, Cache: cache,
		MaxFiles: set.MaxFiles, MaxBytes: set.MaxBytes, Logger: log,
	}
	if set.ClowderCA != "" {
		pem, err := os.ReadFile(set.ClowderCA)
		if err != nil {
			return nil, job.Permanent(fmt.Errorf("CLOWDER_CA: %w", err))
		}
		cfg.TLS = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: x509.NewCertPool()}
		if !cfg.TLS.RootCAs.AppendCertsFromPEM(pem) {
			return nil, job.Permanent(fmt.Errorf("CLOWDER_CA: %s contains no certificate", set.ClowderCA))
		}
	}
	client, err := clowder.NewClient(cfg)
	return client, job.Permanent(err)
}

// Each download uses several connections. An upload mostly waits for Clowder, about a second per file.
const (
	maxDownloads = 4
	maxUploads   = 16
)

// installTrainer installs the trainer on the shared volume and returns its folder.
func installTrainer(set settings.Settings) (string, error) {
	at, _, err := trainer.Install(disk.Folder{Volume: set.SharedDir, Name: "trainer"})
	return at, err
}

// attemptTemplate installs the trainer on the shared volume and returns how Ray runs it. check verifies the installed trainer and
// repairs it if it has changed.
func attemptTemplate(set settings.Settings) (a rayjob.Attempt, check func() error, err error) {
	folder := disk.Folder{Volume: set.SharedDir, Name: "trainer"}
	_, digest, err := trainer.Install(folder)
	if err != nil {
		return a, nil, fmt.Errorf("SHARED_DIR: install the trainer on the shared volume: %w", err)
	}
	check = func() error {
		_, _, err := trainer.Install(folder)
		return err
	}
	return rayjob.Attempt{Python: set.RayPython, TrainerPath: path.Join(set.RaySharedDir, "trainer", digest), Warm: set.WarmWorkers}, check, nil
}
