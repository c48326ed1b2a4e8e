package retention

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zaptest"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/jobtest"
)

const day = 24 * time.Hour

// fixture is a cleaner between a real store, a real shared volume and doubles of the rest.
type fixture struct {
	*Cleaner
	store  job.Store
	state  string
	shared string
	jobs   *fakeJobs
	cache  *fakeCache
}

// fakeJobs lets everything be held but what is busy.
type fakeJobs struct {
	busy     map[string]bool
	admitted []bool
}

func (f *fakeJobs) Lock(run string) (func(), bool) { return func() {}, !f.busy[run] }

func (f *fakeJobs) SetAdmission(open bool) { f.admitted = append(f.admitted, open) }

// fakeCache holds some bytes, of which bound ones cannot go.
type fakeCache struct {
	bytes, bound int64
	err          error
}

func (f *fakeCache) TrimCache(limit int64) (int64, error) {
	if f.err == nil {
		f.bytes = max(f.bound, min(f.bytes, limit))
	}
	return f.bytes, f.err
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	dir := t.TempDir()
	store, err := job.OpenSQLite(t.Context(), filepath.Join(dir, "jobs.db"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	f := &fixture{store: store, state: dir, shared: filepath.Join(dir, "shared"), jobs: &fakeJobs{busy: map[string]bool{}}, cache: &fakeCache{bytes: 100}}
	f.Cleaner = New(Config{
		Shared: f.shared, Runs: disk.Folder{Volume: f.shared, Name: "runs"}, Deliverables: disk.Folder{Volume: f.shared, Name: "deliver"}, Keys: 7 * day, RunFolders: 30 * day, Records: 90 * day, CacheBytes: 70,
	}, store, f.jobs, f.cache, NewMetrics(prometheus.NewRegistry()), zaptest.NewLogger(t))
	return f
}

// the files of a run as the service and the trainer leave them.
var story = []string{"events.jsonl", "inputs.json", "log.txt", "logs/rank-0.txt", "out/metrics.json", "result.json", "spec.json", "tensorboard/events"}

var bulk = []string{
	".part-12", "checkpoints/step-3/model.safetensors", "data/train.npy", "deliver/model.zip", "inputs/train.csv", "out/model/model.safetensors", "result.json.part",
	"work/1-1/lease.json",
}

// ended makes a job that ended in state, with its run folder.
func (f *fixture) ended(t *testing.T, run string, state job.State) {
	t.Helper()
	_, _, err := f.store.Accept(t.Context(), jobtest.Record(run, "h1"))
	require.NoError(t, err)
	if state.Terminal() {
		_, err = f.store.Change(t.Context(), run, func(r *job.Record) error { r.End(state, "x"); return r.Close() })
		require.NoError(t, err)
	}
	f.folder(t, run)
}

func (f *fixture) folder(t *testing.T, run string) {
	t.Helper()
	for _, name := range slices.Concat(story, bulk) {
		f.write(t, filepath.Join("runs", run, name))
	}
}

func (f *fixture) write(t *testing.T, name string) {
	t.Helper()
	path := filepath.Join(f.shared, filepath.FromSlash(name))
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte("x"), 0o600))
}

// files lists what lies in a run folder.
func (f *fixture) files(t *testing.T, run string) (files []string) {
	t.Helper()
	root := filepath.Join(f.shared, "runs", run)
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, path)
		}
		return err
	})
	if !errors.Is(err, fs.ErrNotExist) {
		require.NoError(t, err)
	}
	slices.Sort(files)
	return files
}

func (f *fixture) sweepAfter(t *testing.T, d time.Duration) {
	t.Helper()
	<-time.After(d)
	require.NoError(t, f.sweep(t.Context()))
}

func all() []string { return slices.Sorted(slices.Values(slices.Concat(story, bulk))) }

func TestTheBulkOfARunGoesSoonAndTheRestLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.ended(t, "ft-done", job.Done)
		f.sweepAfter(t, time.Minute)
		require.Equal(t, story, f.files(t, "ft-done"))
		f.sweepAfter(t, 29*day)
		require.Equal(t, story, f.files(t, "ft-done"))
		f.sweepAfter(t, day)
		require.NoDirExists(t, filepath.Join(f.shared, "runs", "ft-done"))
		_, err := f.store.Get(t.Context(), "ft-done")
		require.NoError(t, err, "the job is remembered longer")
		f.sweepAfter(t, 60*day)
		_, err = f.store.Get(t.Context(), "ft-done")
		require.ErrorIs(t, err, job.ErrNotFound)
	})
}

func TestWhatMayStillBeNeededStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.ended(t, "ft-active", job.Accepted)
		f.ended(t, "ft-busy", job.Done)
		f.jobs.busy["ft-busy"] = true
		f.folder(t, "ft-foreign")
		f.write(t, "registry/d/reviews/1/model/model.safetensors")
		f.sweepAfter(t, 400*day)
		for _, run := range []string{"ft-active", "ft-busy", "ft-foreign"} {
			require.Equal(t, all(), f.files(t, run), run)
		}
		require.FileExists(t, filepath.Join(f.shared, "registry/d/reviews/1/model/model.safetensors"), "versions of models stay")
		rec, err := f.store.Get(t.Context(), "ft-active")
		require.NoError(t, err)
		require.NotEmpty(t, rec.SecretKey, "its key too")
	})
}

func TestAFailedJobCanBeRetriedForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.ended(t, "ft-failed", job.Failed)
		f.ended(t, "ft-cancelled", job.Cancelled)
		f.sweepAfter(t, 6*day)
		require.Equal(t, all(), f.files(t, "ft-failed"), "with its checkpoints")
		require.Equal(t, all(), f.files(t, "ft-cancelled"))
		rec, err := f.store.Get(t.Context(), "ft-failed")
		require.NoError(t, err)
		require.NotEmpty(t, rec.SecretKey)

		f.sweepAfter(t, 2*day)
		rec, err = f.store.Get(t.Context(), "ft-failed")
		require.NoError(t, err)
		require.Empty(t, rec.SecretKey)
		require.Equal(t, job.Failed, rec.State)
		require.Equal(t, story, f.files(t, "ft-failed"))
		require.Equal(t, story, f.files(t, "ft-cancelled"))
	})
}

func TestWithoutLimitsEverythingIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.cfg.Keys, f.cfg.RunFolders, f.cfg.Records = 0, 0, 0
		f.ended(t, "ft-failed", job.Failed)
		f.ended(t, "ft-done", job.Done)
		f.sweepAfter(t, 4000*day)
		require.Equal(t, all(), f.files(t, "ft-failed"))
		require.Equal(t, story, f.files(t, "ft-done"), "what can be made again goes all the same")
		rec, err := f.store.Get(t.Context(), "ft-failed")
		require.NoError(t, err)
		require.NotEmpty(t, rec.SecretKey)
	})
}

func TestALinkInARunFolderLeadsNowhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.write(t, "registry/d/reviews/1/model/model.safetensors")
		f.ended(t, "ft-done", job.Done)
		run := filepath.Join(f.shared, "runs", "ft-done")
		require.NoError(t, os.RemoveAll(filepath.Join(run, "out")))
		require.NoError(t, os.Symlink("../../registry/d/reviews/1", filepath.Join(run, "out")))
		require.NoError(t, os.RemoveAll(filepath.Join(run, "checkpoints")))
		require.NoError(t, os.Symlink("../../registry", filepath.Join(run, "checkpoints")))
		f.sweepAfter(t, time.Minute)
		require.FileExists(t, filepath.Join(f.shared, "registry/d/reviews/1/model/model.safetensors"))
		f.sweepAfter(t, 40*day)
		require.NoDirExists(t, run)
		require.FileExists(t, filepath.Join(f.shared, "registry/d/reviews/1/model/model.safetensors"))
	})
}

func TestALinkedFolderOfTheVolumeLeadsNowhere(t *testing.T) {
	t.Parallel()
	for _, linked := range []string{"registry/d", "registry/d/reviews", "registry", "trainer", "runs", "deliver"} {
		t.Run(linked, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			_, _, err := f.store.Accept(t.Context(), jobtest.Record("ft-done", "h1"))
			require.NoError(t, err)
			_, err = f.store.Change(t.Context(), "ft-done", func(r *job.Record) error { r.End(job.Done, "x"); return r.Close() })
			require.NoError(t, err)
			outside := t.TempDir()
			kept := []string{".ft-dead/x", "reviews/.ft-dead/x", "d/reviews/.ft-dead/x", ".installing-1/run.py", "ft-done/checkpoints/x"}
			old := time.Now().Add(-60 * day)
			for _, name := range kept {
				path := filepath.Join(outside, name)
				require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
				require.NoError(t, os.WriteFile(path, []byte("x"), 0o600))
				require.NoError(t, os.Chtimes(filepath.Dir(path), old, old))
			}
			at := filepath.Join(f.shared, filepath.FromSlash(linked))
			require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o700))
			require.NoError(t, os.Symlink(outside, at))
			_ = f.dropStale()
			_ = f.tidyRuns(t.Context())
			for _, name := range kept {
				require.FileExists(t, filepath.Join(outside, name))
			}
		})
	}
}

func TestWhatWasHandedOverGoesSoon(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.ended(t, "ft-done", job.Done)
	f.ended(t, "ft-busy", job.Running)
	for _, run := range []string{"ft-done", "ft-busy", "ft-of-another-service"} {
		f.write(t, "deliver/"+run+"/model.zip")
	}
	require.NoError(t, os.RemoveAll(filepath.Join(f.shared, "runs", "ft-done")), "an export has no run folder")
	require.NoError(t, f.tidyRuns(t.Context()))
	require.NoDirExists(t, filepath.Join(f.shared, "deliver", "ft-done"))
	require.FileExists(t, filepath.Join(f.shared, "deliver", "ft-busy", "model.zip"))
	require.FileExists(t, filepath.Join(f.shared, "deliver", "ft-of-another-service", "model.zip"))
}

func TestWhatWasLeftHalfWrittenGoes(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	left := []string{"registry/d/reviews/.ft-dead/model/config.json", "registry/d/reviews/.part-1", "trainer/.installing-1/run.py", ".doctor-1"}
	for _, name := range left {
		f.write(t, name)
	}
	old := time.Now().Add(-2 * staleAfter)
	for _, name := range []string{"registry/d/reviews/.ft-dead", left[1], "trainer/.installing-1"} {
		require.NoError(t, os.Chtimes(filepath.Join(f.shared, name), old, old))
	}
	require.NoError(t, f.dropStale())
	for _, name := range left[:3] {
		require.NoFileExists(t, filepath.Join(f.shared, name))
	}
	require.FileExists(t, filepath.Join(f.shared, left[3]), "it may belong to somebody at work")
}

func TestTheCacheIsTrimmedAndAFailingStepStopsNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.ended(t, "ft-done", job.Done)
		f.sweepAfter(t, time.Minute)
		require.EqualValues(t, 70, f.cache.bytes)
		f.cache.err = errors.New("the disk is gone")
		f.folder(t, "ft-done")
		require.ErrorContains(t, f.sweep(t.Context()), "the disk is gone")
		require.Equal(t, story, f.files(t, "ft-done"))
	})
}

func TestAFullDiskIsToldBeforeJobsFail(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	room := int64(1000)
	f.disks.folders, f.disks.min = map[string]string{"SHARED_DIR": "/shared"}, 100
	f.disks.free = func(string) (int64, bool) { return room - f.cache.bytes, true }
	f.cache.bound = 20

	f.look()
	require.NoError(t, f.DiskPressure())
	room = 150
	f.look()
	require.NoError(t, f.DiskPressure(), "downloaded bodies give way first")
	require.Empty(t, f.jobs.admitted)
	require.EqualValues(t, 50, f.cache.bytes)

	room = 90
	f.look()
	require.ErrorContains(t, f.DiskPressure(), "SHARED_DIR: only 70 B are free")
	require.ErrorContains(t, f.DiskPressure(), "lower MIN_FREE_BYTES")
	require.EqualValues(t, 20, f.cache.bytes)
	f.look()
	room = 125
	f.look()
	require.Error(t, f.DiskPressure(), "it needs some more to be good again")
	require.Equal(t, []bool{false}, f.jobs.admitted)
	room = 200
	f.look()
	require.NoError(t, f.DiskPressure())
	require.Equal(t, []bool{false, true}, f.jobs.admitted)
}

func TestADiskThatTellsNothingIsNotFull(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.disks.folders, f.disks.min = map[string]string{"SHARED_DIR": filepath.Join(f.shared, "not-there"), "STATE_DIR": t.TempDir()}, 1
	f.look()
	require.NoError(t, f.DiskPressure())
}

func TestTheKeeperSweepsAtOnceAndThenAgainAndAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.ended(t, "ft-one", job.Done)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- f.Run(ctx) }()
		synctest.Wait()
		require.Equal(t, story, f.files(t, "ft-one"))
		f.ended(t, "ft-two", job.Done)
		<-time.After(sweepEvery + time.Second)
		synctest.Wait()
		require.Equal(t, story, f.files(t, "ft-two"))
		stop()
		require.NoError(t, <-done)
	})
}

func TestAnErasedKeyIsInNoFileOfTheStoreAfterTheNextLook(t *testing.T) {
	const key = "canary-key" // of all records of jobtest
	for name, records := range map[string]time.Duration{"records are kept for a time": 90 * day, "records are kept without limit": 0} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t)
				f.cfg.Records = records
				ctx, stop := context.WithCancel(t.Context())
				done := make(chan error, 1)
				go func() { done <- f.Run(ctx) }()
				<-time.After(time.Second)
				f.ended(t, "ft-failed", job.Failed)
				require.True(t, f.holds(t, key), "it may still be retried")
				f.ended(t, "ft-done", job.Done)
				f.ended(t, "ft-cancelled", job.Cancelled)
				<-time.After(8 * day)
				f.ended(t, "ft-late", job.Done)
				<-time.After(lookEvery)
				require.False(t, f.holds(t, key))
				stop()
				require.NoError(t, <-done)
			})
		})
	}
}

// holds reports whether a text stands in one of the files of the store.
func (f *fixture) holds(t *testing.T, text string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(f.state, "jobs.db*"))
	require.NoError(t, err)
	require.Greater(t, len(files), 1, "the store is open")
	return slices.ContainsFunc(files, func(name string) bool {
		body, err := os.ReadFile(name)
		require.NoError(t, err)
		return strings.Contains(string(body), text)
	})
}
