package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/cmd/extractor/backend"
	"github.com/ncsa/clowder-ray/cmd/extractor/settings"
	"github.com/ncsa/clowder-ray/cmd/extractor/studio"
	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/mount"
	v1 "github.com/ncsa/clowder-ray/internal/clowder/v1"
	"github.com/ncsa/clowder-ray/internal/clowder/versions"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/mail"
	"github.com/ncsa/clowder-ray/internal/pipeline"
	"github.com/ncsa/clowder-ray/internal/pipeline/metrics"
	"github.com/ncsa/clowder-ray/internal/pipeline/status"
	"github.com/ncsa/clowder-ray/internal/pipeline/volume"
	"github.com/ncsa/clowder-ray/internal/platform"
	clowderplatform "github.com/ncsa/clowder-ray/internal/platform/clowder"
	"github.com/ncsa/clowder-ray/internal/queue"
	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/retention"
	"github.com/ncsa/clowder-ray/trainer"
)

// base is what the parts of the service are built on: the settings, the job store, and the clients of Clowder and Ray.
type base struct {
	set          settings.Settings
	metrics      *prometheus.Registry
	log          *zap.Logger
	volume       volume.Volume
	extractors   platform.Extractors
	keys         *job.Keyring
	store        *job.SQLite
	client       *clowder.Client
	backend      *backend.Ray
	attempt      rayjob.Attempt
	checkTrainer func() error
	closers      []func() error
}

// openBase locks the state folder, opens the job store and the clients, and installs the trainer. The caller closes the base. On an
// error, everything is closed already.
func openBase(ctx context.Context, set settings.Settings, reg *prometheus.Registry, log *zap.Logger) (_ *base, err error) {
	b := &base{
		set: set, metrics: reg, log: log,
		volume: volume.Volume{Dir: set.SharedDir, RayDir: set.RaySharedDir, Barrier: new(disk.Barrier)},
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.close())
		}
	}()
	if b.extractors, err = extractors(set, b.volume); err != nil {
		return nil, err
	}
	if _, err := set.Scripts.Installer(ctx, localPython(set)); err != nil {
		return nil, err
	}
	if b.keys, err = keyring(set); err != nil {
		return nil, err
	}
	release, err := lockStateDir(set.StateDir)
	if err != nil {
		return nil, err
	}
	b.closers = append(b.closers, release)
	if b.store, err = openForService(ctx, set, reg, log); err != nil {
		return nil, err
	}
	b.closers = append(b.closers, b.store.Close)
	if b.client, err = clowderClient(set, b.volume.Cache(), log); err != nil {
		return nil, err
	}
	b.closers = append(b.closers, b.client.Close)
	if b.backend, err = backend.New(set, b.store.ID(), log); err != nil {
		return nil, err
	}
	b.closers = append(b.closers, func() error { b.backend.Close(); return nil })
	b.attempt, b.checkTrainer, err = attemptTemplate(set)
	return b, err
}

// close closes what is open, the newest first.
func (b *base) close() error {
	var errs []error
	for _, c := range slices.Backward(b.closers) {
		errs = append(errs, c())
	}
	return errors.Join(errs...)
}

// connect builds the parts of the service, in the order in which a job passes through them.
func (b *base) connect(ctx context.Context) (p parts, err error) {
	if b.backend.Warm != nil && b.set.WarmWorkers > 0 {
		go b.backend.Warm(ctx, b.attempt)
	}
	p.backend = b.backend
	queueMetrics := queue.NewMetrics(b.metrics)
	if p.ends, err = newPublishers(b.set, b.extractors, uuid.NewString(), b.log, queueMetrics); err != nil {
		return parts{}, err
	}
	// All statuses go through one publisher, so that users see them in order.
	statuses := p.ends[0].publisher
	source := clowderplatform.New(b.client, b.extractors)
	if p.mails, err = notifier(b.set, b.store, b.log); err != nil {
		return parts{}, err
	}
	links, err := studio.NewLinks(b.set.Studio, b.set.ClowderURL, b.keys, source, b.log)
	if err != nil {
		return parts{}, err
	}
	if p.pipe, err = b.pipeline(source, statuses, p.mails, links); err != nil {
		return parts{}, err
	}
	if err := p.ends.addConsumers(b.set, b.extractors, p.pipe, b.log, queueMetrics); err != nil {
		return parts{}, err
	}
	p.recovery = p.pipe.NewRecovery(source, statuses, waitingOn(b.set), b.set.RecoverEvery)
	p.cleaner = retention.New(retentionConfig(b.set, b.volume), b.store, p.pipe, b.client, retention.NewMetrics(b.metrics), b.log)
	if p.web, err = newHealth(ctx, b.set.Listen, b.metrics, readiness(ctx, p.ends, p.cleaner), b.log); err != nil {
		return parts{}, err
	}
	p.pages, err = studio.New(ctx, b.set.Studio, studio.Parts{
		ClowderURL:     b.set.ClowderURL,
		ClowderVersion: versions.Of(b.set.ClowderVersion),
		ClowderCA:      b.set.ClowderCA,
		Keys:           b.keys,
		Clowder:        b.client,
		Store:          b.store,
		Volume:         b.volume,
		Extractors:     b.extractors,
		Places:         source,
		Jobs:           p.pipe,
		Links:          links,
		Python:         localPython(b.set),
		Trainer:        func() (string, error) { return installTrainer(b.set) },
		Version:        version,
		Log:            b.log,
	})
	return p, err
}

// pipeline returns the pipeline of the service. It tells users of ends by e-mail and leads them to the studio, where these are set.
func (b *base) pipeline(source *clowderplatform.Platform, statuses *queue.Publisher, mails *mail.Notifier, links *studio.Links) (*pipeline.Pipeline, error) {
	cfg := pipelineConfig(b.set, b.extractors, b.volume, b.attempt, b.checkTrainer)
	var err error
	if cfg.Objects, err = b.set.Scripts.Objects(objectLimits(b.set), b.client.Cache(), b.log); err != nil {
		return nil, err
	}
	if mails != nil {
		cfg.Over = mails.Over
	}
	if links != nil {
		cfg.Studio = links
	}
	replies := status.NewReplyQueue(statuses, b.extractors, b.log)
	return pipeline.New(cfg, b.store, b.backend.Backend, source, replies, metrics.New(b.metrics), b.log), nil
}

// Each download uses several connections. An upload mostly waits for Clowder, about a second per file.
const (
	maxDownloads = 4
	maxUploads   = 16
)

// pipelineConfig returns what the settings say about the pipeline.
func pipelineConfig(set settings.Settings, all platform.Extractors, volume volume.Volume, attempt rayjob.Attempt, checkTrainer func() error) pipeline.Config {
	return pipeline.Config{
		Extractors:          all,
		Volume:              volume,
		AutomaticAfter:      set.AutomaticAfter,
		MaxJobs:             set.MaxJobs,
		MaxDownloads:        maxDownloads,
		MaxUploads:          maxUploads,
		MaxRunning:          set.MaxRunning,
		MaxRunningPerUser:   set.MaxRunningPerUser,
		MaxJobsPerUser:      set.JobsPerUser(),
		UserJobsPerHour:     set.UserJobsPerHour,
		UserRequestsPerHour: set.UserRequestsPerHour,
		FeedJobsPerDay:      set.FeedJobsPerDay,
		MaxRetry:            set.MaxRetry,
		MaxAttempts:         set.MaxAttempts,
		Poll:                set.RayPoll,
		PendingTimeout:      set.PendingTimeout,
		StallTimeout:        set.StallTimeout,
		Attempt:             attempt,
		CheckTrainer:        checkTrainer,
		Version:             version,
		NoteUsers:           set.Studio.On() || set.EmailServer != "",
		Scripts:             set.Scripts.Preparer(localPython(set), volume.Overlays()),
	}
}

func clowderClient(set settings.Settings, cache disk.Folder, log *zap.Logger) (*clowder.Client, error) {
	mounts, err := mount.Parse(set.MountedPaths)
	if err != nil {
		return nil, job.Permanent(fmt.Errorf("MOUNTED_PATHS: %w", err))
	}
	cfg := clowder.Config{
		Mounts: mounts,
		URL:    set.ClowderURL, URLs: map[int]string{v1.Number: set.Clowder1URL}, Version: set.ClowderVersion, AllowedHosts: set.ClowderHosts, Cache: cache,
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

// notifier tells users by e-mail of the ends of their jobs, but for requests about runs, which take seconds. It is nil where no server is set.
func notifier(set settings.Settings, store mail.Records, log *zap.Logger) (*mail.Notifier, error) {
	if set.EmailServer == "" {
		return nil, nil
	}
	return mail.New(mail.Config{
		Server: set.EmailServer, Sender: set.EmailSender, Log: log.Named("mail"),
		Wanted: func(rec job.Record) bool { return rec.Kind != job.Runs },
	}, store)
}
