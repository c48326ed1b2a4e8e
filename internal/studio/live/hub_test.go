package live

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/results"
)

func TestAViewerBeginsWithASnapshotAndGetsNews(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.tell(t, training, progress(1, 0.9), progress(2, 0.8))
	f.write(t, results.LogFile, "step 1\nstep 2\n")
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t, f)
		v, err := h.Watch(run, "alice", -1)
		require.NoError(t, err)
		defer v.Close()
		b := newBrowser()
		require.ErrorIs(t, b.listen(t, v), context.DeadlineExceeded)
		require.Equal(t, []string{kindSnapshot}, b.kinds())
		require.Equal(t, []float64{0.9, 0.8}, b.points["loss"])
		require.Equal(t, "running", b.state.State)
		require.Equal(t, "Epoch 1 of 2, 0 %, loss 0.80", b.said.Sentence)
		require.Equal(t, "step 1\nstep 2\n", b.log)

		f.tell(t, progress(3, 0.7), validation(3, 0.6))
		f.write(t, results.LogFile, "step 3\nstep")
		require.ErrorIs(t, b.listen(t, v), context.DeadlineExceeded)
		require.Equal(t, []float64{0.9, 0.8, 0.7}, b.points["loss"])
		require.Equal(t, []float64{0.6}, b.points["validation/accuracy"])
		require.Equal(t, "step 1\nstep 2\nstep 3\n", b.log, "a line that is not whole yet waits")
		require.Equal(t, []string{kindSnapshot, kindEvent, kindEvent, kindLog, kindProgress}, b.kinds())
		info, err := os.Stat(filepath.Join(f.dir, run, results.EventsFile))
		require.NoError(t, err)
		require.Equal(t, info.Size(), b.last, "the id is the offset after the event")

		f.change(func(rec *job.Record) { rec.StoppedBy = "alice" })
		require.ErrorIs(t, b.listen(t, v), context.DeadlineExceeded)
		require.True(t, b.state.Stopping)

		f.end(job.Done, "All is well.")
		require.ErrorIs(t, b.listen(t, v), io.EOF)
		require.True(t, b.state.Over)
		require.Equal(t, "All is well.", b.said.Sentence)
	})
}

func TestAViewerThatComesBackMissesNothingAndGetsNothingTwice(t *testing.T) {
	t.Parallel()
	for name, restarted := range map[string]bool{"after a break": false, "after a restart of the service": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.tell(t, training, progress(1, 0.9))
			synctest.Test(t, func(t *testing.T) {
				h := newHub(t, f)
				v, err := h.Watch(run, "alice", -1)
				require.NoError(t, err)
				b := newBrowser()
				require.ErrorIs(t, b.listen(t, v), context.DeadlineExceeded)
				v.Close()

				f.tell(t, progress(2, 0.8), progress(3, 0.7))
				if restarted {
					h.Close()
					h = newHub(t, f)
				}
				v, err = h.Watch(run, "alice", b.last)
				require.NoError(t, err)
				defer v.Close()
				require.ErrorIs(t, b.listen(t, v), context.DeadlineExceeded)
				require.Equal(t, []float64{0.9, 0.8, 0.7}, b.points["loss"])
				require.NotContains(t, b.kinds()[1:], kindSnapshot)
				require.Equal(t, "Epoch 1 of 2, 0 %, loss 0.70", b.said.Sentence)
			})
		})
	}
}

func TestAViewerGetsANewSnapshot(t *testing.T) {
	t.Parallel()
	many := func(from, n int) []string {
		var out []string
		for i := range n {
			out = append(out, progress(from+i, 1/float64(from+i)))
		}
		return out
	}
	for name, c := range map[string]struct {
		after func(t *testing.T, f *fixture, b *browser) int64 // prepares, and returns the last id that the viewer knows
		loss  int
	}{
		"that knows an offset of another log": {func(_ *testing.T, _ *fixture, b *browser) int64 { return b.last + 17 }, 3},
		"where the log was begun again": {func(t *testing.T, f *fixture, b *browser) int64 {
			t.Helper()
			require.NoError(t, os.Remove(filepath.Join(f.dir, run, results.EventsFile)))
			f.tell(t, progress(1, 0.5))
			time.Sleep(2 * look)
			return b.last
		}, 1},
		"that is far behind": {func(t *testing.T, f *fixture, b *browser) int64 {
			t.Helper()
			for i := range 10 {
				f.tell(t, many(4+400*i, 400)...)
				time.Sleep(2 * look)
			}
			return b.last
		}, snapshotPoints},
		"when very much comes at once": {func(t *testing.T, f *fixture, b *browser) int64 {
			t.Helper()
			f.tell(t, many(4, maxEventsAtOnce+1)...)
			time.Sleep(2 * look)
			return b.last
		}, maxEventsAtOnce + 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.tell(t, many(1, 3)...)
			synctest.Test(t, func(t *testing.T) {
				h := newHub(t, f)
				v, err := h.Watch(run, "alice", -1)
				require.NoError(t, err)
				b := newBrowser()
				require.ErrorIs(t, b.listen(t, v), context.DeadlineExceeded)
				defer v.Close()

				again, err := h.Watch(run, "alice", c.after(t, f, b))
				require.NoError(t, err)
				defer again.Close()
				fresh := newBrowser()
				require.ErrorIs(t, fresh.listen(t, again), context.DeadlineExceeded)
				require.Equal(t, []string{kindSnapshot}, fresh.kinds())
				require.InDelta(t, c.loss, len(fresh.points["loss"]), 2)

				require.ErrorIs(t, b.listen(t, v), context.DeadlineExceeded)
				require.InDelta(t, fresh.points["loss"][len(fresh.points["loss"])-1], b.points["loss"][len(b.points["loss"])-1], 0, "the slow one has the newest value, too")
			})
		})
	}
}

func TestAttemptsOfARun(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.tell(t, progress(10, 0.9), progress(20, 0.8), progress(30, 0.7))
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t, f)
		v, err := h.Watch(run, "alice", -1)
		require.NoError(t, err)
		defer v.Close()
		b := newBrowser()
		require.ErrorIs(t, b.listen(t, v), context.DeadlineExceeded)

		f.tell(t, strings.Replace(progress(1, 66), `"attempt":1`, `"attempt":3`, 1))
		require.ErrorIs(t, b.listen(t, v), context.DeadlineExceeded)
		require.Equal(t, []float64{0.9, 0.8, 0.7}, b.points["loss"], "an attempt that the service did not start")

		f.change(func(rec *job.Record) { rec.Attempt = 2 })
		f.tell(t, strings.Replace(progress(20, 0.75), `"attempt":1`, `"attempt":2`, 1))
		time.Sleep(2 * look)
		s, err := h.Snapshot(t.Context(), run, snapshotPoints)
		require.NoError(t, err)
		require.Equal(t, []Point{{0.002, 0.9}, {0.004, 0.75}}, s.Lines[0].Points, "it went on from step 10")
	})
}

func TestARunIsLookedAtWhileItHasViewers(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t, f)
		first, err := h.Watch(run, "alice", -1)
		require.NoError(t, err)
		second, err := h.Watch(run, "bob", -1)
		require.NoError(t, err)
		require.Len(t, h.watched, 1)
		first.Close()
		time.Sleep(2 * linger)
		require.Len(t, h.watched, 1)
		second.Close()
		time.Sleep(linger / 2)
		require.Len(t, h.watched, 1)
		third, err := h.Watch(run, "carol", -1)
		require.NoError(t, err)
		time.Sleep(2 * linger)
		require.Len(t, h.watched, 1)
		third.Close()
		time.Sleep(2 * linger)
		synctest.Wait()
		require.Empty(t, h.watched)
		require.Empty(t, h.ofUser)
	})
}

func TestViewersAreLimited(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t, f)
		var viewers []*Viewer
		for i := range maxViewers {
			v, err := h.Watch(run, fmt.Sprint("user ", i/maxViewersOfUser), -1)
			require.NoError(t, err)
			viewers = append(viewers, v)
			if i == maxViewersOfUser-1 {
				_, err := h.Watch(run, "user 0", -1)
				require.ErrorIs(t, err, errTooMany)
			}
		}
		_, err := h.Watch(run, "one more", -1)
		require.ErrorIs(t, err, errBusy)
		viewers[0].Close()
		v, err := h.Watch(run, "one more", -1)
		require.NoError(t, err)
		v.Close()
		for _, v := range viewers[1:] {
			v.Close()
		}
	})
}

func TestTheStopOfTheServiceEndsViewers(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t, f)
		v, err := h.Watch(run, "alice", -1)
		require.NoError(t, err)
		defer v.Close()
		ended := make(chan error)
		go func() {
			for {
				if _, err := v.Next(t.Context(), nil); err != nil {
					ended <- err
					return
				}
			}
		}()
		time.Sleep(look)
		h.Stop()
		require.ErrorIs(t, <-ended, errStopping)
		_, err = h.Watch(run, "bob", -1)
		require.ErrorIs(t, err, errStopping)
	})
}

func TestARunWithoutARecordOrAFolderEnds(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.gone = true
	require.NoError(t, os.RemoveAll(filepath.Join(f.dir, run)))
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t, f)
		v, err := h.Watch(run, "alice", -1)
		require.NoError(t, err)
		defer v.Close()
		b := newBrowser()
		require.ErrorIs(t, b.listen(t, v), io.EOF)
		require.Equal(t, []string{kindSnapshot}, b.kinds())
	})
}
