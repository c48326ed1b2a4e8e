package pipeline

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"go.uber.org/zap/zaptest"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/jobtest"
	"github.com/ncsa/clowder-ray/internal/pipeline/metrics"
	"github.com/ncsa/clowder-ray/internal/pipeline/volume"
	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/platform/platformtest"
	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/delivery"
	"github.com/ncsa/clowder-ray/internal/results/manifest"
	"github.com/ncsa/clowder-ray/internal/script"
	"github.com/ncsa/clowder-ray/test/bubble"
)

func TestMain(m *testing.M) {
	bubble.OneProcessor()
	goleak.VerifyTestMain(m)
}

// bench is a pipeline between doubles: a Ray that plays a script, a platform and a publisher that remember.
type bench struct {
	*Pipeline
	cfg      Config
	store    job.Store
	ray      *fakeRay
	platform *fakePlatform
	// backend and source are what the pipeline uses: the doubles, or what a test puts before them.
	backend   *usedRay
	source    *usedPlatform
	published *fakePublisher
	dir       string
}

func setup(t *testing.T, alter ...func(*Config)) *bench {
	t.Helper()
	dir := t.TempDir()
	store, err := job.OpenSQLite(t.Context(), filepath.Join(dir, "state", "jobs.db"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	return setupOn(t, dir, store, alter...)
}

// setupOn is a pipeline on a store that was used before, as after a restart of the service.
func setupOn(t *testing.T, dir string, store job.Store, alter ...func(*Config)) *bench {
	t.Helper()
	b := &bench{store: store, dir: dir, platform: &fakePlatform{known: platform.Known{Complete: true}}, published: &fakePublisher{}}
	b.ray = &fakeRay{volume: volume.Volume{Dir: dir, RayDir: dir}, jobs: map[string]rayjob.Verdict{}}
	cfg := Config{
		Extractors: platformtest.Extractors(t), Volume: b.ray.volume, MaxJobs: 4, MaxDownloads: 2, MaxUploads: 2, MaxRetry: 3, MaxAttempts: 2,
		Poll: time.Second, PendingTimeout: time.Minute, StallTimeout: time.Minute,
		Attempt: rayjob.Attempt{Python: "python"}, Version: "test", Scripts: preparer(dir, script.Policy{Sandbox: script.SandboxAuto}),
	}
	for _, f := range alter {
		f(&cfg)
	}
	b.cfg, b.backend, b.source = cfg, &usedRay{b.ray}, &usedPlatform{b.platform}
	b.Pipeline = New(cfg, store, b.backend, b.source, b.published, metrics.New(prometheus.NewRegistry()), zaptest.NewLogger(t))
	b.deliverer.BuildFiles = buildOne
	return b
}

// usedPlatform is a platform that a test may replace by another one.
type usedPlatform struct{ platform.Platform }

// usedRay is a Ray that a test may replace by another one. Its optional abilities are those of the present one.
type usedRay struct{ rayjob.Backend }

func (r *usedRay) Isolates(resources rayjob.Resources) (bool, error) {
	if backend, can := r.Backend.(rayjob.Isolator); can {
		return backend.Isolates(resources)
	}
	return false, nil
}

// buildOne makes one small file in place of all deliverables.
func buildOne(_ context.Context, _, to disk.Folder, r *results.Result, _ manifest.Meta) ([]delivery.Artifact, error) {
	root, err := to.Make()
	if err != nil {
		return nil, err
	}
	body := []byte(r.Run)
	sum := sha256.Sum256(body)
	return []delivery.Artifact{{Name: "report.html", Folder: to, Size: int64(len(body)), SHA256: hex.EncodeToString(sum[:])}},
		errors.Join(disk.WriteFile(root, "report.html", body), root.Close())
}

// accept stores a new job as the intake does.
func (b *bench) accept(t *testing.T, run string, parameters map[string]any) {
	t.Helper()
	rec := jobtest.Record(run, "h1")
	rec.Request.Parameters = parameters
	_, _, err := b.store.Accept(t.Context(), rec)
	require.NoError(t, err)
}

// runUntilOver runs the pipeline until no job is active any more.
func (b *bench) runUntilOver(t *testing.T) {
	t.Helper()
	ctx, stop := context.WithCancelCause(t.Context())
	defer stop(nil)
	done := make(chan error, 1)
	go func() { done <- b.Run(ctx) }()
	for {
		active, err := b.store.List(t.Context(), job.Query{Active: true})
		require.NoError(t, err)
		if len(active) == 0 {
			break
		}
		<-time.After(time.Second)
	}
	stop(ErrStopping)
	require.NoError(t, <-done)
}

func (b *bench) get(t *testing.T, run string) job.Record {
	t.Helper()
	rec, err := b.store.Get(t.Context(), run)
	require.NoError(t, err)
	return rec
}

// stopAfter runs the pipeline for d and stops it as a signal does.
func stopAfter(t *testing.T, b *bench, d time.Duration) {
	t.Helper()
	ctx, stop := context.WithCancelCause(t.Context())
	done := make(chan error, 1)
	go func() { done <- b.Run(ctx) }()
	<-time.After(d)
	stop(ErrStopping)
	require.NoError(t, <-done)
}
