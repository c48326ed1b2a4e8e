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

// house is a keeper between a real store, a real shared volume and doubles of the rest.
type house struct {
	*Keeper
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

func (f *fakeJobs) Hold(run string) (func(), bool) { return func() {}, !f.busy[run] }

func (f *fakeJobs) Admit(open bool) { f.admitted = append(f.admitted, open) }

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

func newHouse(t *testing.T) *house {
	t.Helper()
	dir := t.TempDir()
	store, err := job.OpenSQLite(t.Context(), filepath.Join(dir, "jobs.db"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	h := &house{store: store, state: dir, shared: filepath.Join(dir, "shared"), jobs: &fakeJobs{busy: map[string]bool{}}, cache: &fakeCache{bytes: 100}}
	h.Keeper = New(Config{
		Shared: h.shared, Runs: disk.Folder{Volume: h.shared, Name: "runs"}, Deliverables: disk.Folder{Volume: h.shared, Name: "deliver"}, Keys: 7 * day, RunFolders: 30 * day, Records: 90 * day, CacheBytes: 70,
	}, store, h.jobs, h.cache, NewMetrics(prometheus.NewRegistry()), zaptest.NewLogger(t))
	return h
}

// the files of a run as the service and the trainer leave them.
var story = []string{"events.jsonl", "inputs.json", "log.txt", "logs/rank-0.txt", "out/metrics.json", "result.json", "spec.json", "tensorboard/events"}

var bulk = []string{
	".part-12", "checkpoints/step-3/model.safetensors", "data/train.npy", "deliver/model.zip", "inputs/train.csv", "out/model/model.safetensors", "result.json.part",
	"work/1-1/lease.json",
}

// ended makes a job that ended in state, with its run folder.
func (h *house) ended(t *testing.T, run string, state job.State) {
	t.Helper()
	_, _, err := h.store.Accept(t.Context(), jobtest.Record(run, "h1"))
	require.NoError(t, err)
	if state.Terminal() {
		_, err = h.store.Change(t.Context(), run, func(r *job.Record) error { r.End(state, "x"); return r.Close() })
		require.NoError(t, err)
	}
	h.folder(t, run)
}

func (h *house) folder(t *testing.T, run string) {
	t.Helper()
	for _, name := range slices.Concat(story, bulk) {
		h.write(t, filepath.Join("runs", run, name))
	}
}

func (h *house) write(t *testing.T, name string) {
	t.Helper()
	path := filepath.Join(h.shared, filepath.FromSlash(name))
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte("x"), 0o600))
}

// files lists what lies in a run folder.
func (h *house) files(t *testing.T, run string) (files []string) {
	t.Helper()
	root := filepath.Join(h.shared, "runs", run)
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

func (h *house) sweepAfter(t *testing.T, d time.Duration) {
	t.Helper()
	<-time.After(d)
	require.NoError(t, h.sweep(t.Context()))
}

func all() []string { return slices.Sorted(slices.Values(slices.Concat(story, bulk))) }

func TestTheBulkOfARunGoesSoonAndTheRestLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		h.ended(t, "ft-done", job.Done)
		h.sweepAfter(t, time.Minute)
		require.Equal(t, story, h.files(t, "ft-done"))
		h.sweepAfter(t, 29*day)
		require.Equal(t, story, h.files(t, "ft-done"))
		h.sweepAfter(t, day)
		require.NoDirExists(t, filepath.Join(h.shared, "runs", "ft-done"))
		_, err := h.store.Get(t.Context(), "ft-done")
		require.NoError(t, err, "the job is remembered longer")
		h.sweepAfter(t, 60*day)
		_, err = h.store.Get(t.Context(), "ft-done")
		require.ErrorIs(t, err, job.ErrNotFound)
	})
}

func TestWhatMayStillBeNeededStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		h.ended(t, "ft-active", job.Accepted)
		h.ended(t, "ft-busy", job.Done)
		h.jobs.busy["ft-busy"] = true
		h.folder(t, "ft-foreign")
		h.write(t, "registry/d/reviews/1/model/model.safetensors")
		h.sweepAfter(t, 400*day)
		for _, run := range []string{"ft-active", "ft-busy", "ft-foreign"} {
			require.Equal(t, all(), h.files(t, run), run)
		}
		require.FileExists(t, filepath.Join(h.shared, "registry/d/reviews/1/model/model.safetensors"), "versions of models stay")
		rec, err := h.store.Get(t.Context(), "ft-active")
		require.NoError(t, err)
		require.NotEmpty(t, rec.SecretKey, "its key too")
	})
}

func TestAFailedJobCanBeRetriedForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		h.ended(t, "ft-failed", job.Failed)
		h.ended(t, "ft-cancelled", job.Cancelled)
		h.sweepAfter(t, 6*day)
		require.Equal(t, all(), h.files(t, "ft-failed"), "with its checkpoints")
		require.Equal(t, all(), h.files(t, "ft-cancelled"))
		rec, err := h.store.Get(t.Context(), "ft-failed")
		require.NoError(t, err)
		require.NotEmpty(t, rec.SecretKey)

		h.sweepAfter(t, 2*day)
		rec, err = h.store.Get(t.Context(), "ft-failed")
		require.NoError(t, err)
		require.Empty(t, rec.SecretKey)
		require.Equal(t, job.Failed, rec.State)
		require.Equal(t, story, h.files(t, "ft-failed"))
		require.Equal(t, story, h.files(t, "ft-cancelled"))
	})
}

func TestWithoutLimitsEverythingIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		h.cfg.Keys, h.cfg.RunFolders, h.cfg.Records = 0, 0, 0
		h.ended(t, "ft-failed", job.Failed)
		h.ended(t, "ft-done", job.Done)
		h.sweepAfter(t, 4000*day)
		require.Equal(t, all(), h.files(t, "ft-failed"))
		require.Equal(t, story, h.files(t, "ft-done"), "what can be made again goes all the same")
		rec, err := h.store.Get(t.Context(), "ft-failed")
		require.NoError(t, err)
		require.NotEmpty(t, rec.SecretKey)
	})
}

func TestALinkInARunFolderLeadsNowhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		h.write(t, "registry/d/reviews/1/model/model.safetensors")
		h.ended(t, "ft-done", job.Done)
		run := filepath.Join(h.shared, "runs", "ft-done")
		require.NoError(t, os.RemoveAll(filepath.Join(run, "out")))
		require.NoError(t, os.Symlink("../../registry/d/reviews/1", filepath.Join(run, "out")))
		require.NoError(t, os.RemoveAll(filepath.Join(run, "checkpoints")))
		require.NoError(t, os.Symlink("../../registry", filepath.Join(run, "checkpoints")))
		h.sweepAfter(t, time.Minute)
		require.FileExists(t, filepath.Join(h.shared, "registry/d/reviews/1/model/model.safetensors"))
		h.sweepAfter(t, 40*day)
		require.NoDirExists(t, run)
		require.FileExists(t, filepath.Join(h.shared, "registry/d/reviews/1/model/model.safetensors"))
	})
}

func TestALinkedFolderOfTheVolumeLeadsNowhere(t *testing.T) {
	t.Parallel()
	for _, linked := range []string{"registry/d", "registry/d/reviews", "registry", "trainer", "runs", "deliver"} {
		t.Run(linked, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			_, _, err := h.store.Accept(t.Context(), jobtest.Record("ft-done", "h1"))
			require.NoError(t, err)
			_, err = h.store.Change(t.Context(), "ft-done", func(r *job.Record) error { r.End(job.Done, "x"); return r.Close() })
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
			at := filepath.Join(h.shared, filepath.FromSlash(linked))
			require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o700))
			require.NoError(t, os.Symlink(outside, at))
			_ = h.dropStale()
			_ = h.tidyRuns(t.Context())
			for _, name := range kept {
				require.FileExists(t, filepath.Join(outside, name))
			}
		})
	}
}

func TestWhatWasHandedOverGoesSoon(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.ended(t, "ft-done", job.Done)
	h.ended(t, "ft-busy", job.Running)
	for _, run := range []string{"ft-done", "ft-busy", "ft-of-another-service"} {
		h.write(t, "deliver/"+run+"/model.zip")
	}
	require.NoError(t, os.RemoveAll(filepath.Join(h.shared, "runs", "ft-done")), "an export has no run folder")
	require.NoError(t, h.tidyRuns(t.Context()))
	require.NoDirExists(t, filepath.Join(h.shared, "deliver", "ft-done"))
	require.FileExists(t, filepath.Join(h.shared, "deliver", "ft-busy", "model.zip"))
	require.FileExists(t, filepath.Join(h.shared, "deliver", "ft-of-another-service", "model.zip"))
}

func TestWhatWasLeftHalfWrittenGoes(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	left := []string{"registry/d/reviews/.ft-dead/model/config.json", "registry/d/reviews/.part-1", "trainer/.installing-1/run.py", ".doctor-1"}
	for _, name := range left {
		h.write(t, name)
	}
	old := time.Now().Add(-2 * staleAfter)
	for _, name := range []string{"registry/d/reviews/.ft-dead", left[1], "trainer/.installing-1"} {
		require.NoError(t, os.Chtimes(filepath.Join(h.shared, name), old, old))
	}
	require.NoError(t, h.dropStale())
	for _, name := range left[:3] {
		require.NoFileExists(t, filepath.Join(h.shared, name))
	}
	require.FileExists(t, filepath.Join(h.shared, left[3]), "it may belong to somebody at work")
}

func TestTheCacheIsTrimmedAndAFailingStepStopsNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		h.ended(t, "ft-done", job.Done)
		h.sweepAfter(t, time.Minute)
		require.EqualValues(t, 70, h.cache.bytes)
		h.cache.err = errors.New("the disk is gone")
		h.folder(t, "ft-done")
		require.ErrorContains(t, h.sweep(t.Context()), "the disk is gone")
		require.Equal(t, story, h.files(t, "ft-done"))
	})
}

func TestAFullDiskIsToldBeforeJobsFail(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	room := int64(1000)
	h.disks.folders, h.disks.min = map[string]string{"SHARED_DIR": "/shared"}, 100
	h.disks.free = func(string) (int64, bool) { return room - h.cache.bytes, true }
	h.cache.bound = 20

	h.look()
	require.NoError(t, h.Low())
	room = 150
	h.look()
	require.NoError(t, h.Low(), "downloaded bodies give way first")
	require.Empty(t, h.jobs.admitted)
	require.EqualValues(t, 50, h.cache.bytes)

	room = 90
	h.look()
	require.ErrorContains(t, h.Low(), "SHARED_DIR: only 70 B are free")
	require.ErrorContains(t, h.Low(), "lower MIN_FREE_BYTES")
	require.EqualValues(t, 20, h.cache.bytes)
	h.look()
	room = 125
	h.look()
	require.Error(t, h.Low(), "it needs some more to be good again")
	require.Equal(t, []bool{false}, h.jobs.admitted)
	room = 200
	h.look()
	require.NoError(t, h.Low())
	require.Equal(t, []bool{false, true}, h.jobs.admitted)
}

func TestADiskThatTellsNothingIsNotFull(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.disks.folders, h.disks.min = map[string]string{"SHARED_DIR": filepath.Join(h.shared, "not-there"), "STATE_DIR": t.TempDir()}, 1
	h.look()
	require.NoError(t, h.Low())
}

func TestTheKeeperSweepsAtOnceAndThenAgainAndAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		h.ended(t, "ft-one", job.Done)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- h.Run(ctx) }()
		synctest.Wait()
		require.Equal(t, story, h.files(t, "ft-one"))
		h.ended(t, "ft-two", job.Done)
		<-time.After(sweepEvery + time.Second)
		synctest.Wait()
		require.Equal(t, story, h.files(t, "ft-two"))
		stop()
		require.NoError(t, <-done)
	})
}

func TestAnErasedKeyIsInNoFileOfTheStoreAfterTheNextLook(t *testing.T) {
	const key = "canary-key" // of all records of jobtest
	for name, records := range map[string]time.Duration{"records are kept for a time": 90 * day, "records are kept without limit": 0} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse(t)
				h.cfg.Records = records
				ctx, stop := context.WithCancel(t.Context())
				done := make(chan error, 1)
				go func() { done <- h.Run(ctx) }()
				<-time.After(time.Second)
				h.ended(t, "ft-failed", job.Failed)
				require.True(t, h.holds(t, key), "it may still be retried")
				h.ended(t, "ft-done", job.Done)
				h.ended(t, "ft-cancelled", job.Cancelled)
				<-time.After(8 * day)
				h.ended(t, "ft-late", job.Done)
				<-time.After(lookEvery)
				require.False(t, h.holds(t, key))
				stop()
				require.NoError(t, <-done)
			})
		})
	}
}

// holds reports whether a text stands in one of the files of the store.
func (h *house) holds(t *testing.T, text string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(h.state, "jobs.db*"))
	require.NoError(t, err)
	require.Greater(t, len(files), 1, "the store is open")
	return slices.ContainsFunc(files, func(name string) bool {
		body, err := os.ReadFile(name)
		require.NoError(t, err)
		return strings.Contains(string(body), text)
	})
}
