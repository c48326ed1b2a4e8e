package boards

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/results/tensorboard"
)

func TestACurveOfManyPointsKeepsItsEnds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ all, n, want int }{
		"none": {0, 10, 0}, "fewer": {9, 10, 9}, "as many": {10, 10, 10}, "one more": {11, 10, 10},
		"many more": {100_000, 1000, 1000}, "two at least": {50, 2, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := make([]tensorboard.Point, c.all)
			for i := range all {
				all[i] = tensorboard.Point{Step: int64(i), Wall: 2 * float64(i), Value: -float64(i)}
			}
			got := points(all, c.n)
			require.Len(t, got, c.want)
			for i := range got {
				require.Equal(t, [3]float64{got[i][0], 2 * got[i][0], -got[i][0]}, got[i])
				require.True(t, i == 0 || got[i-1][0] < got[i][0])
			}
			if c.want > 0 {
				require.InDelta(t, 0, got[0][0], 0)
				require.InDelta(t, c.all-1, got[c.want-1][0], 0)
			}
		})
	}
}

func TestTheFilesOfARunThatIsOverAreReadLessOften(t *testing.T) {
	t.Parallel()
	going, over := job.Record{Run: "ft-1", State: job.Running}, job.Record{Run: "ft-2", State: job.Done}
	for name, c := range map[string]struct {
		records []job.Record
		life    time.Duration
	}{
		"one that goes on": {[]job.Record{going}, lookActive}, "one that is over": {[]job.Record{over}, lookOver},
		"one of two that goes on": {[]job.Record{over, going}, lookActive},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newBoardCache(func(string) disk.Folder { return disk.Folder{Volume: "/none", Name: "runs"} })
			synctest.Test(t, func(t *testing.T) {
				b := s.board(c.records)
				require.True(t, b.old(), "nothing was read yet")
				b.read()
				time.Sleep(c.life - 1)
				require.False(t, b.old())
				time.Sleep(time.Nanosecond)
				require.True(t, b.old())
				require.Same(t, b, s.board(c.records))
				b.read()
				require.False(t, b.old())
			})
		})
	}
	s := newBoardCache(nil)
	require.NotEqual(t, s.board([]job.Record{going}).name, s.board([]job.Record{going, over}).name)
	require.NotContains(t, s.board([]job.Record{going}).name, "ft-1", "a name tells nothing")
	require.Same(t, s.board([]job.Record{going}), s.board([]job.Record{{Run: "ft-1", State: job.Done}}), "a run stays on its board when it ends")
}

func TestOnlyTheEventFilesOfARunAreRead(t *testing.T) {
	t.Parallel()
	const file = "events.out.tfevents.1"
	deep := "out/" + strings.Repeat("a/", maxDepth)
	for name, c := range map[string]struct {
		prepare func(t *testing.T, f *fixture)
		want    []string
	}{
		"those of a training before its copies": {func(_ *testing.T, f *fixture) {
			f.wrote("ft-1/tensorboard/"+file, "loss", 1)
			f.wrote("ft-1/out/tensorboard/"+file, "loss", 1)
		}, []string{"ft-1"}},
		"those of a script in folders": {func(_ *testing.T, f *fixture) {
			f.wrote("ft-1/out/"+file, "loss", 1)
			f.wrote("ft-1/out/b/c/"+file, "loss", 1)
		}, []string{"ft-1", "ft-1/b/c"}},
		"as deep as a run may be, and no deeper": {func(_ *testing.T, f *fixture) {
			f.wrote("ft-1/"+deep+file, "loss", 1)
			f.wrote("ft-1/"+deep+"b/"+file, "loss", 1)
		}, []string{"ft-1", "ft-1/" + strings.TrimSuffix(strings.TrimPrefix(deep, "out/"), "/")}},
		"other files are not": {func(_ *testing.T, f *fixture) {
			f.wrote("ft-1/out/events.csv", "loss", 1)
			f.wrote("ft-1/elsewhere/"+file, "loss", 1)
		}, []string{"ft-1"}},
		"a damaged file costs its own curves": {func(t *testing.T, f *fixture) {
			t.Helper()
			f.wrote("ft-1/out/b/"+file, "loss", 1)
			f.wrote("ft-1/out/c/"+file, "loss", 1)
			require.NoError(t, os.WriteFile(filepath.Join(f.volume, "runs/ft-1/out/b", file), []byte("\xff\xff\xff\xff\xff\xff\xff\x7f damaged"), 0o600))
		}, []string{"ft-1", "ft-1/c"}},
		"a pipe is not waited for": {func(t *testing.T, f *fixture) {
			t.Helper()
			f.wrote("ft-1/out/b/"+file, "loss", 1)
			require.NoError(t, syscall.Mkfifo(filepath.Join(f.volume, "runs/ft-1/out/b/events.out.tfevents.2"), 0o600))
		}, []string{"ft-1", "ft-1/b"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, nil)
			c.prepare(t, f)
			require.Equal(t, http.StatusOK, f.do("carol", "GET", "/tensorboard/ft-1/data/runs", "").Code)
			var names []string
			for _, board := range f.boards {
				for name := range board {
					names = append(names, name)
				}
			}
			require.ElementsMatch(t, c.want, names)
		})
	}
}
