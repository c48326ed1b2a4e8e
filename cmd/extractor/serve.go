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

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
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
		Use: "serve", Short: "Take jobs from Clowder until a signal ends it", Args: cobra.NoArgs,
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

// heartbeats is the exchange on which Clowder listens for extractors.
const heartbeats = "extractors"

// serve wires the service in the order in which a job flows through it and runs it until ctx ends.
func serve(ctx context.Context, set Settings, log *zap.Logger) (err error) {
	memory, err := limitMemory(memlimit.FromCgroup)
	if err != nil {
		log.Warn("cannot see how much memory the container may use: set GOMEMLIMIT", zap.Error(err))
	}
	reg := prometheus.NewRegistry()
	reg.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))

	volume := volume.Volume{Dir: set.SharedDir, RayDir: set.RaySharedDir}
	all, err := extractors(set, volume)
	if err != nil {
		return err
	}
	release, err := alone(set.StateDir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	store, err := set.openForService(ctx, log)
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

	queueMetrics := queue.NewMetrics(reg)
	ends, err := newPublishers(set, all, uuid.NewString(), log, queueMetrics)
	if err != nil {
		return err
	}
	// All statuses go through one publisher, so that a user reads them in their order.
	platform := clowderplatform.New(client, all)
	pipe := pipeline.New(pipelineConfig(set, all, volume, attempt, checkTrainer), store, backend.Backend,
		platform, status.NewReplyQueue(ends[0].publisher, all, log), pipeline.NewMetrics(reg), log)
	if err := ends.addConsumers(set, all, pipe, log, queueMetrics); err != nil {
		return err
	}
	recovery := pipeline.NewRecovery(pipe, platform, ends[0].publisher, waitingOn(set), set.RecoverEvery)
	keeper := retention.New(retentionConfig(set, volume), store, pipe, client, retention.NewMetrics(reg), log)
	var web *health
	if set.Listen != "" {
		if web, err = newHealth(ctx, set.Listen, reg, readiness(ctx, ends, keeper), log); err != nil {
			return fmt.Errorf("LISTEN: %w", err)
		}
	}
	log.Info("extractor", zap.String("version", version), zap.Strings("extractors", all.Names()),
		zap.String("ray", cmp.Or(set.KubeRayConfig, set.RayAddress)), zap.String("clowder", set.ClowderURL), zap.String("shared", set.SharedDir),
		zap.String("memory_limit", memory))
	return runAll(ctx, set, parts{ends: ends, pipe: pipe, recovery: recovery, keeper: keeper, backend: backend, web: web})
}

// readiness says why the service takes no jobs, nil where it does. One that is told to stop is not ready from that moment on.
func readiness(ctx context.Context, ends endpoints, keeper *retention.Keeper) func() error {
	return func() error {
		switch {
		case ctx.Err() != nil:
			return errors.New("the service is stopping")
		case !ends.ready():
			return errors.New("there is no session with RabbitMQ")
		default:
			return keeper.Low()
		}
	}
}

// parts are what runs as long as the service does.
type parts struct {
	ends     endpoints
	pipe     *pipeline.Pipeline
	recovery *pipeline.Recovery
	keeper   *retention.Keeper
	backend  *ray
	web      *health
}

// runAll runs the parts and stops them in the order that loses nothing: no new messages, and those that no handler has seen go
// back; no new steps; the last statuses; then the publishers through which they went, and at the very end what tells others
// that the service is stopping.
func runAll(ctx context.Context, set Settings, p parts) error {
	// A part that fails for good stops the others like a signal does.
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	work, stopWork := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stopWork(nil)
	speech, stopSpeech := context.WithCancel(context.WithoutCancel(ctx))
	defer stopSpeech()
	sight, stopSight := context.WithCancel(context.WithoutCancel(ctx))
	defer stopSight()

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
	part(work, p.keeper.Run, func() {})
	part(work, p.pipe.Run, stopSpeech)
	part(speech, p.ends.publish, stopSight)
	part(speech, p.backend.run, func() {})
	if p.web != nil {
		part(sight, p.web.Run, func() {})
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
		return errors.New("the orderly stop took too long; nothing is lost, the jobs go on at the next start")
	}
}

func pipelineConfig(set Settings, all platform.Extractors, volume volume.Volume, attempt rayjob.Attempt, checkTrainer func() error) pipeline.Config {
	return pipeline.Config{
		Instance: set.ClowderURL, Extractors: all, Volume: volume, MaxJobs: set.MaxJobs, MaxDownloads: maxDownloads, MaxUploads: maxUploads,
		MaxRunning: set.MaxRunning, MaxRunningPerUser: set.MaxRunningPerUser, MaxJobsPerUser: set.jobsPerUser(),
		UserJobsPerHour: set.UserJobsPerHour, UserRequestsPerHour: set.UserRequestsPerHour,
		MaxRetry: set.MaxRetry, MaxAttempts: set.MaxAttempts, Poll: set.RayPoll, PendingTimeout: set.PendingTimeout, StallTimeout: set.StallTimeout,
		Attempt: attempt, CheckTrainer: checkTrainer, Version: version,
	}
}

func rayConfig(set Settings) jobsapi.Config {
	return jobsapi.Config{Address: set.RayAddress, Token: set.RayToken, TokenFile: set.RayTokenFile, PollInterval: set.RayPoll}
}

func clowderClient(set Settings, cache disk.Folder, log *zap.Logger) (*clowder.Client, error) {
	cfg := clowder.Config{
		URL: set.ClowderURL, AllowedHosts: set.ClowderHosts, Cache: cache,
		MaxFiles: set.MaxFiles, MaxBytes: set.MaxBytes, Logger: log,
	}
	if set.ClowderCA != "" {
		pem, err := os.ReadFile(set.ClowderCA)
		if err != nil {
			return nil, job.Permanent(fmt.Errorf("CLOWDER_CA: %w", err))
		}
		cfg.TLS = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: x509.NewCertPool()}
		if !cfg.TLS.RootCAs.AppendCertsFromPEM(pem) {
			return nil, job.Permanent(fmt.Errorf("CLOWDER_CA: %s holds no certificate", set.ClowderCA))
		}
	}
	client, err := clowder.NewClient(cfg)
	return client, job.Permanent(err)
}

// Each download uses several connections. An upload waits for Clowder most of the time, about a second for each file.
const (
	maxDownloads = 4
	maxUploads   = 16
)

// attemptTemplate lays the trainer onto the shared volume and says how Ray runs it. check looks whether it lies there unchanged, and
// brings it back where it does not.
func attemptTemplate(set Settings) (a rayjob.Attempt, check func() error, err error) {
	folder := disk.Folder{Volume: set.SharedDir, Name: "trainer"}
	_, digest, err := trainer.Install(folder)
	if err != nil {
		return a, nil, fmt.Errorf("SHARED_DIR: lay the trainer onto the shared volume: %w", err)
	}
	check = func() error {
		_, _, err := trainer.Install(folder)
		return err
	}
	return rayjob.Attempt{Python: set.RayPython, TrainerPath: path.Join(set.RaySharedDir, "trainer", digest)}, check, nil
}
