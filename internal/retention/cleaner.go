package retention

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
)

// Config says what is kept how long. A duration of 0 keeps it without limit.
type Config struct {
	// Shared is the shared volume. Below it, Runs has a folder for each run, and Deliverables one for what each run hands over.
	Shared             string
	Runs, Deliverables disk.Folder
	// Keys is how long a job that failed keeps the key of its user, with which it can be retried, and its checkpoints.
	Keys time.Duration
	// RunFolders is how long the folder of a run stays after its end; most of its bytes go soon after the end.
	RunFolders time.Duration
	// Records is how long a job is remembered after its end. A message that comes again later is a new job.
	Records time.Duration
	// Overlays has a folder with Python packages for each set of packages that scripts need, and OverlayBytes bounds all of them.
	Overlays     disk.Folder
	OverlayBytes int64
	// CacheBytes bounds the downloaded bodies.
	CacheBytes int64
	// Disks names the folders whose disks are watched, and MinFree how many bytes must be free there for new jobs.
	Disks   map[string]string
	MinFree int64
}

// Jobs is what works on the jobs.
type Jobs interface {
	// Lock keeps everybody from working on a run whose job is over, until release is called.
	Lock(run string) (release func(), held bool)
	// SetAdmission lets new jobs come, or not.
	SetAdmission(open bool)
}

// Cache holds downloaded bodies.
type Cache interface {
	// TrimCache removes bodies until at most limit bytes are left, where that is possible, and returns how many are.
	TrimCache(limit int64) (left int64, err error)
}

const (
	// sweepEvery is the time between two sweeps, and so the longest that the bulk of a run stays after its end.
	sweepEvery = 10 * time.Minute
	// lookEvery is the time between two looks at the disks, and so the longest that an erased key stays in a file of the store.
	lookEvery = 15 * time.Second
)

// Cleaner cleans up.
type Cleaner struct {
	cfg     Config
	store   job.Store
	jobs    Jobs
	cache   Cache
	log     *zap.Logger
	metrics *Metrics
	disks   *disks
	// overlays has the size of each overlay, which never changes.
	overlays map[string]int64
}

// New returns a cleaner. Run starts it.
func New(cfg Config, store job.Store, jobs Jobs, cache Cache, metrics *Metrics, log *zap.Logger) *Cleaner {
	return &Cleaner{
		cfg: cfg, store: store, jobs: jobs, cache: cache, metrics: metrics, log: log.Named("retention"), overlays: map[string]int64{},
		disks: &disks{folders: cfg.Disks, min: cfg.MinFree, free: disk.Free},
	}
}

// Run sweeps, watches the disks and removes erased keys from the files of the store, until ctx ends.
func (c *Cleaner) Run(ctx context.Context) error {
	c.lookRound(ctx)
	sweeps, looks := time.NewTicker(sweepEvery), time.NewTicker(lookEvery)
	defer sweeps.Stop()
	defer looks.Stop()
	for {
		if err := c.sweep(ctx); err != nil && ctx.Err() == nil {
			c.log.Warn("clean up", zap.Error(err))
		}
		for swept := true; swept; {
			select {
			case <-ctx.Done():
				return nil
			case <-looks.C:
				c.lookRound(ctx)
			case <-sweeps.C:
				swept = false
			}
		}
	}
}

// lookRound is the work that is due more often than a sweep.
func (c *Cleaner) lookRound(ctx context.Context) {
	c.look()
	if err := c.store.Shred(ctx); err != nil && ctx.Err() == nil {
		c.log.Warn("erased keys may still be in the files of the job store", zap.Error(err))
	}
}

// sweep is one clean-up. If a step fails, the others still run.
func (c *Cleaner) sweep(ctx context.Context) error {
	err := errors.Join(c.eraseKeys(ctx), c.tidyRuns(ctx), c.forget(ctx), c.dropStale(), c.trimOverlays(ctx))
	_, trimErr := c.trimCache(c.cfg.CacheBytes)
	return errors.Join(err, trimErr)
}

// eraseKeys erases the keys of jobs that failed long ago.
func (c *Cleaner) eraseKeys(ctx context.Context) error {
	if c.cfg.Keys <= 0 {
		return nil
	}
	old, err := c.store.List(ctx, job.Query{Over: true, WithKey: true, ChangedBefore: time.Now().Add(-c.cfg.Keys)})
	if err != nil {
		return err
	}
	for _, rec := range old {
		_, err := c.store.Change(ctx, rec.Run, func(r *job.Record) error {
			if r.State.Terminal() { // and was not retried meanwhile
				r.SecretKey = ""
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("erase the key of job %s: %w", rec.Run, err)
		}
		c.log.Info("erased the key of a job that failed long ago", zap.String("run", rec.Run))
	}
	return nil
}

// forget removes old records. Their run folders are gone by then.
func (c *Cleaner) forget(ctx context.Context) error {
	if c.cfg.Records <= 0 {
		return nil
	}
	n, err := c.store.Forget(ctx, time.Now().Add(-c.cfg.Records))
	if n > 0 {
		c.log.Info("removed old job records", zap.Int("jobs", n))
	}
	return err
}

// trimCache removes downloaded bodies down to a size in bytes and returns the size that is left.
func (c *Cleaner) trimCache(limit int64) (int64, error) {
	left, err := c.cache.TrimCache(limit)
	if err == nil {
		c.metrics.cache.Set(float64(left))
	}
	return left, err
}
