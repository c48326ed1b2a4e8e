package clowder_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/clienttest"
	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
)

var errStop = errors.New("the service stops")

func newCause(t *testing.T) (context.Context, context.CancelCauseFunc) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	t.Cleanup(func() { cancel(nil) })
	return ctx, cancel
}

func parts(t *testing.T, cache string) []string {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(cache, "*.part"))
	require.NoError(t, err)
	return left
}

func TestStageSurvivesFailingDownloads(t *testing.T) {
	t.Parallel()
	content := strings.Repeat("0123456789", 100_000)
	for name, tc := range map[string]struct {
		fault clowdertest.Fault
		want  job.Kind
		text  string // empty: it works in the end
	}{
		"a body that is cut once":              {clowdertest.Fault{Cut: 300_000, Times: 1}, 0, ""},
		"a connection that closes at once":     {clowdertest.Fault{Cut: -1, Times: 2}, 0, ""},
		"an error of a moment":                 {clowdertest.Fault{Status: 502, Times: 2}, 0, ""},
		"an error that only the header causes": {clowdertest.Fault{Status: 500, Path: "/api/v2/files/"}, 0, ""},
		"a body that is always cut":            {clowdertest.Fault{Cut: 300_000}, job.KindRetryable, "the request to Clowder to download"},
		"a body that is too long":              {clowdertest.Fault{Extra: 10}, job.KindRetryable, "instead of 1000000"},
		"a server that hangs":                  {clowdertest.Fault{Hang: true}, job.KindRetryable, "no data arrived for too long"},
		"a permission that was revoked":        {clowdertest.Fault{Status: 403}, job.KindPermanent, `refused to download "a.csv" (403): ask the dataset owner`},
		"a file that vanished":                 {clowdertest.Fault{Status: 404}, job.KindPermanent, `could not download "a.csv" (404)`},
		"a key that was revoked":               {clowdertest.Fault{Status: 401}, job.KindPermanent, "submit the job again"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cache := t.TempDir()
			cfg := clowder.Config{Cache: disk.Folder{Volume: cache}, Attempts: 3}
			if tc.fault.Hang {
				cfg.IdleTimeout = 300 * time.Millisecond
			}
			b := setup(t, cfg)
			file := b.add(t, "a.csv", content)
			tc.fault.Method = "GET"
			if tc.fault.Path != "" {
				tc.fault.Path += file.ID
				tc.fault.Skip = 0
				tc.fault.Times = 1
			}
			b.server.Fail(tc.fault)
			dir := t.TempDir()
			var last clowder.Progress
			inputs, err := b.s.Stage(t.Context(), []clowder.File{file}, disk.Folder{Volume: dir}, func(p clowder.Progress) { last = p })
			require.Empty(t, parts(t, cache))
			if tc.text != "" {
				clienttest.RequireKind(t, err, tc.want, clowder.StatusOf(err))
				require.ErrorContains(t, err, tc.text)
				return
			}
			require.NoError(t, err)
			require.Equal(t, content, string(readAll(t, filepath.Join(dir, inputs[0].Path))))
			require.Equal(t, clowder.Progress{Bytes: 1_000_000, TotalBytes: 1_000_000, Files: 1, TotalFiles: 1}, last, "bytes of lost attempts do not count")
		})
	}
}

func TestStageContinuesWhereItStopped(t *testing.T) {
	t.Parallel()
	cache := t.TempDir()
	b := setup(t, clowder.Config{Cache: disk.Folder{Volume: cache}, Attempts: 1, Streams: 1})
	var files []clowder.File
	for i := range 20 {
		files = append(files, b.add(t, fmt.Sprintf("%02d.csv", i), fmt.Sprint("row ", i)))
	}
	b.server.Fail(clowdertest.Fault{Path: files[15].ID, Status: 503, Times: 1})
	_, err := b.s.Stage(t.Context(), files, disk.Folder{Volume: t.TempDir()}, nil)
	clienttest.RequireKind(t, err, job.KindRetryable, http.StatusServiceUnavailable)
	before := b.server.Requests("GET", "/api/v2/files/")
	require.GreaterOrEqual(t, before, 16)

	// A new client knows only the files on disk.
	again := clienttest.New(t, clowder.Config{URL: b.server.URL, Cache: disk.Folder{Volume: cache}}).As(job.Secret(b.server.Key("alice@example.org")))
	dir := t.TempDir()
	inputs, err := again.Stage(t.Context(), files, disk.Folder{Volume: dir}, nil)
	require.NoError(t, err)
	require.Len(t, inputs, 20)
	require.LessOrEqual(t, b.server.Requests("GET", "/api/v2/files/"), 22, "complete files are not requested again")

	// The same folder once more costs nothing, and a foreign file in the way is replaced.
	require.NoError(t, os.Remove(filepath.Join(dir, "03.csv")))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "03.csv"), []byte("torn"), 0o600))
	count := b.server.Requests("GET", "/api/v2/files/")
	_, err = again.Stage(t.Context(), files, disk.Folder{Volume: dir}, nil)
	require.NoError(t, err)
	require.Equal(t, "row 3", string(readAll(t, filepath.Join(dir, "03.csv"))))
	require.Equal(t, count, b.server.Requests("GET", "/api/v2/files/"))
}

func TestTheCacheTrustsOnlyUnchangedBodies(t *testing.T) {
	t.Parallel()
	cache := t.TempDir()
	b := setup(t, clowder.Config{Cache: disk.Folder{Volume: cache}})
	file := b.add(t, "a.csv", "good")
	inputs, err := b.s.Stage(t.Context(), []clowder.File{file}, disk.Folder{Volume: t.TempDir()}, nil)
	require.NoError(t, err)

	body := filepath.Join(cache, inputs[0].SHA256)
	require.NoError(t, os.Chmod(body, 0o600))
	require.NoError(t, os.WriteFile(body, []byte("evil"), 0o600))
	index, err := os.OpenFile(filepath.Join(cache, "index.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = index.WriteString(`{"key":"torn","sha2`)
	require.NoError(t, err)
	require.NoError(t, index.Close())

	again := clienttest.New(t, clowder.Config{URL: b.server.URL, Cache: disk.Folder{Volume: cache}}).As(job.Secret(b.server.Key("alice@example.org")))
	dir := t.TempDir()
	_, err = again.Stage(t.Context(), []clowder.File{file}, disk.Folder{Volume: dir}, nil)
	require.NoError(t, err)
	require.Equal(t, "good", string(readAll(t, filepath.Join(dir, "a.csv"))))

	asked, counted := b.server.Downloads(file.ID)
	require.Equal(t, []int{2, 0}, []int{asked, counted}, "downloads of ours do not count for the owner")
}

func TestStageHasLimits(t *testing.T) {
	t.Parallel()
	b := setup(t, clowder.Config{MaxFiles: 2, MaxBytes: 5})
	files := []clowder.File{b.add(t, "a.csv", "abc"), b.add(t, "b.csv", "abc")}
	_, err := b.s.Stage(t.Context(), files, disk.Folder{Volume: t.TempDir()}, nil)
	clienttest.RequireKind(t, err, job.KindPermanent, 0)
	require.ErrorContains(t, err, "the dataset has more than 5 B")
	b.add(t, "c.csv", "abc")
	_, err = b.s.Files(t.Context(), b.ds)
	clienttest.RequireKind(t, err, job.KindPermanent, 0)
	require.ErrorContains(t, err, "more than 2 files")
	for _, size := range []int64{-1, 1 << 62, 1<<63 - 1} {
		lying := []clowder.File{{ID: files[0].ID, Name: "a", Path: "a", Size: size}, {ID: files[0].ID, Name: "b", Path: "b", Size: size}}
		_, err = b.s.Stage(t.Context(), lying, disk.Folder{Volume: t.TempDir()}, nil)
		clienttest.RequireKind(t, err, job.KindPermanent, 0)
	}
	huge := clienttest.New(t, clowder.Config{URL: b.server.URL, MaxBytes: 1 << 62}).As("KEY")
	_, err = huge.Stage(t.Context(), []clowder.File{{ID: files[0].ID, Name: "a", Path: "a", Size: 1 << 60}}, disk.Folder{Volume: t.TempDir()}, nil)
	clienttest.RequireKind(t, err, job.KindPermanent, 0)
	require.ErrorContains(t, err, "the disk of the training service is too full")
}

func TestStageUsesNoMoreThanItsStreams(t *testing.T) {
	t.Parallel()
	b := setup(t, clowder.Config{Streams: 3})
	var files []clowder.File
	for i := range 30 {
		files = append(files, b.add(t, fmt.Sprintf("%d.csv", i), "x"))
	}
	b.server.Fail(clowdertest.Fault{Delay: 5 * time.Millisecond})
	_, err := b.s.Stage(t.Context(), files, disk.Folder{Volume: t.TempDir()}, nil)
	require.NoError(t, err)
	require.LessOrEqual(t, b.server.Busiest(), 3)
}
