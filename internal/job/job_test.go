package job_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/jobtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSQLiteKeepsThePromisesOfAStore(t *testing.T) {
	t.Parallel()
	jobtest.TestStore(t, func(t *testing.T) func() job.Store {
		t.Helper()
		path := filepath.Join(t.TempDir(), "a folder?with # odd %20 name", "jobs.db")
		return func() job.Store { return openStore(t, path) }
	})
}

func TestSQLiteFilesAreReadableByTheOwnerOnly(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "store")
	s := openStore(t, filepath.Join(dir, "jobs.db"))
	_, _, err := s.Accept(t.Context(), jobtest.Record("ft-one", "h1"))
	require.NoError(t, err)
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, f := range files {
		info, err := f.Info()
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), f.Name())
	}
}

func TestSecretNeverPrints(t *testing.T) {
	t.Parallel()
	rec := jobtest.Record("ft-one", "h1")
	require.Equal(t, canary, rec.SecretKey.Reveal())
	doc, err := json.Marshal(map[string]any{"rec": rec, "key": rec.SecretKey})
	require.NoError(t, err)
	core, logs := observer.New(zapcore.DebugLevel)
	zap.New(core).Info("x", zap.Any("rec", rec), zap.Any("key", rec.SecretKey), zap.Stringer("s", rec.SecretKey))
	logged, err := json.Marshal(logs.All()[0].ContextMap())
	require.NoError(t, err)
	for name, text := range map[string]string{
		"json": string(doc), "zap": string(logged), "v": fmt.Sprint(rec), "plus": fmt.Sprintf("%+v", rec),
		"go": fmt.Sprintf("%#v", rec), "string": rec.SecretKey.String(), "quoted": fmt.Sprintf("%q", rec.SecretKey), "error": fmt.Errorf("x %v", rec.SecretKey).Error(),
	} {
		require.NotContains(t, text, canary, name)
	}
}

func TestClassify(t *testing.T) {
	t.Parallel()
	base := errors.New("base")
	for name, tc := range map[string]struct {
		err   error
		kind  job.Kind
		after time.Duration
	}{
		"an unmarked error may go away":             {base, job.KindRetryable, 0},
		"a mark survives wrapping":                  {fmt.Errorf("stage: %w", job.Permanent(base)), job.KindPermanent, 0},
		"the outermost mark wins":                   {job.Retryable(fmt.Errorf("x: %w", job.Permanent(base))), job.KindRetryable, 0},
		"later carries its wait":                    {job.Later(time.Minute, base), job.KindLater, time.Minute},
		"it may have happened":                      {job.Unknown(base), job.KindUnknown, 0},
		"a joined error takes the first mark found": {errors.Join(base, job.Permanent(base)), job.KindPermanent, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kind, after := job.Classify(tc.err)
			require.Equal(t, tc.kind, kind)
			require.Equal(t, tc.after, after)
			require.ErrorIs(t, tc.err, base)
		})
	}
	require.NoError(t, job.Permanent(nil))
}

func TestTheFirstDecidedEndStands(t *testing.T) {
	t.Parallel()
	rec := jobtest.Record("ft-one", "h1")
	rec.End(job.Cancelled, "Cancelled by alice")
	rec.End(job.Done, "accuracy 0.9")
	require.NoError(t, rec.Close())
	require.Equal(t, job.Cancelled, rec.State)
	require.Error(t, rec.Retry(), "only a failed job can be retried")
}

func TestRetryBeginsAFailedJobAnew(t *testing.T) {
	t.Parallel()
	rec := jobtest.Record("ft-one", "h1")
	rec.End(job.Failed, "no table")
	require.NoError(t, rec.Close())
	require.NoError(t, rec.Retry())
	require.Equal(t, job.Accepted, rec.State)
	require.Equal(t, 2, rec.Attempt)
	require.Nil(t, rec.Ending)
	require.True(t, rec.Active())
}

func BenchmarkSQLiteAccept(b *testing.B) {
	s := openStore(b, filepath.Join(b.TempDir(), "jobs.db"))
	for i := 0; b.Loop(); i++ {
		_, _, err := s.Accept(b.Context(), jobtest.Record(fmt.Sprintf("ft-%d", i), "h1"))
		require.NoError(b, err)
	}
}

// BenchmarkSQLiteAcceptTogether is what a record costs where a hundred come at once.
func BenchmarkSQLiteAcceptTogether(b *testing.B) {
	s := openStore(b, filepath.Join(b.TempDir(), "jobs.db"))
	var n atomic.Int64
	b.SetParallelism(50)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			_, _, err := s.Accept(b.Context(), jobtest.Record(fmt.Sprintf("ft-%d", n.Add(1)), "h1"))
			require.NoError(b, err)
		}
	})
}

func openStore(tb testing.TB, path string, options ...job.Option) *job.SQLite {
	tb.Helper()
	s, err := job.OpenSQLite(tb.Context(), path, options...)
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, s.Close()) }) // closing twice is no error
	return s
}
