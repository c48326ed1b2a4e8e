// Package jobtest holds the conformance test that every job.Store must pass.
package jobtest

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
)

// Record returns a new record of run with a plausible request and the given content hash.
func Record(run, hash string) job.Record {
	return job.New(run, job.Train, job.Request{
		Key: "key-of-" + run, JobID: strings.Repeat("a", 24), APIVersion: 2, Kind: job.Dataset,
		ResourceID: strings.Repeat("d", 24), DatasetID: strings.Repeat("d", 24), BodyHash: hash,
		Parameters: map[string]any{"epochs": 3.0}, ReplyTo: "clowder.abc", Received: time.Unix(1, 0).UTC(),
	}, "canary-key")
}

// TestStore checks what job.Store promises. open returns the store under test; every call of one subtest's open returns
// a new handle on the same records, as another process would hold it.
func TestStore(t *testing.T, newStore func(t *testing.T) (open func() job.Store)) {
	t.Helper()
	for name, test := range map[string]func(t *testing.T, open func() job.Store){
		"accept is idempotent by run":                             acceptTwice,
		"accept refuses another content under a known run":        acceptOther,
		"a change is there for every other handle":                changeSeen,
		"a change that fails writes nothing":                      changeFails,
		"an old record is amended as it is by now":                amended,
		"a state never goes backwards":                            noWayBack,
		"concurrent changes from two handles are all kept":        concurrent,
		"list filters by activity, by time of change and by size": list,
		"the key is kept until the end and erased then":           secret,
		"what is over and old is forgotten, and nothing else":     forget,
		"an unknown run is not found":                             unknown,
		"a record that is too large is refused, and its job ends": tooLarge,
		"the store can be shredded at any time":                   shred,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newStore(t))
		})
	}
}

func acceptTwice(t *testing.T, open func() job.Store) {
	t.Helper()
	s := open()
	first, created, err := s.Accept(t.Context(), Record("ft-one", "h1"))
	require.NoError(t, err)
	require.True(t, created)
	_, err = s.Change(t.Context(), "ft-one", func(r *job.Record) error { r.Advance(job.Staged); return nil })
	require.NoError(t, err)

	again, created, err := open().Accept(t.Context(), Record("ft-one", "h1"))
	require.NoError(t, err)
	require.False(t, created)
	require.Equal(t, job.Staged, again.State, "the stored record is returned, not the new one")
	require.Equal(t, first.Created, again.Created)
}

func acceptOther(t *testing.T, open func() job.Store) {
	t.Helper()
	s := open()
	_, _, err := s.Accept(t.Context(), Record("ft-one", "h1"))
	require.NoError(t, err)
	stored, created, err := s.Accept(t.Context(), Record("ft-one", "h2"))
	require.ErrorIs(t, err, job.ErrOtherContent)
	require.False(t, created)
	require.Equal(t, "h1", stored.Request.BodyHash)
}

func changeSeen(t *testing.T, open func() job.Store) {
	t.Helper()
	a, b := open(), open()
	want, _, err := a.Accept(t.Context(), Record("ft-one", "h1"))
	require.NoError(t, err)
	got, err := b.Get(t.Context(), "ft-one")
	require.NoError(t, err)
	require.Equal(t, want, got)

	want, err = a.Change(t.Context(), "ft-one", func(r *job.Record) error {
		r.Handle = &job.Handle{ID: "x"}
		r.Advance(job.Submitted)
		return nil
	})
	require.NoError(t, err)
	got, err = b.Get(t.Context(), "ft-one")
	require.NoError(t, err)
	require.Equal(t, want, got)
}

func changeFails(t *testing.T, open func() job.Store) {
	t.Helper()
	s := open()
	want, _, err := s.Accept(t.Context(), Record("ft-one", "h1"))
	require.NoError(t, err)
	boom := errors.New("boom")
	_, err = s.Change(t.Context(), "ft-one", func(r *job.Record) error { r.Advance(job.Done); return boom })
	require.ErrorIs(t, err, boom)
	got, err := s.Get(t.Context(), "ft-one")
	require.NoError(t, err)
	require.Equal(t, want, got)
}

func amended(t *testing.T, open func() job.Store) {
	t.Helper()
	a, b := open(), open()
	old, _, err := a.Accept(t.Context(), Record("ft-one", "h1"))
	require.NoError(t, err)
	seen := 0
	advance := func(r *job.Record) error { seen++; r.Advance(job.Staged); return nil }
	next, err := a.Amend(t.Context(), old, advance)
	require.NoError(t, err)
	require.Equal(t, 1, seen)
	_, err = b.Change(t.Context(), "ft-one", func(r *job.Record) error { r.SecretKey = "another"; return r.Cancel("alice") })
	require.NoError(t, err)

	got, err := a.Amend(t.Context(), next, func(r *job.Record) error { seen++; r.Advance(job.Submitted); return nil })
	require.NoError(t, err)
	require.Equal(t, 3, seen, "on the record of the caller, and then on that of the store")
	require.Equal(t, "alice", got.CancelledBy, "what somebody else changed meanwhile stays")
	require.Equal(t, "another", got.SecretKey.Reveal())
	stored, err := b.Get(t.Context(), "ft-one")
	require.NoError(t, err)
	require.Equal(t, got, stored)
	require.Equal(t, "canary-key", old.SecretKey.Reveal())
}

func noWayBack(t *testing.T, open func() job.Store) {
	t.Helper()
	s := open()
	_, _, err := s.Accept(t.Context(), Record("ft-one", "h1"))
	require.NoError(t, err)
	states := job.States()
	for i, from := range states {
		_, err := s.Change(t.Context(), "ft-one", func(r *job.Record) error { r.State = from; return nil })
		if from.Terminal() && i > len(states)-4 {
			require.ErrorIs(t, err, job.ErrBackwards, "one terminal state to another")
			continue
		}
		require.NoError(t, err)
		for _, to := range states[:i] {
			_, err := s.Change(t.Context(), "ft-one", func(r *job.Record) error { r.State = to; return nil })
			require.ErrorIs(t, err, job.ErrBackwards, "%s to %s", from, to)
		}
	}
	_, err = s.Change(t.Context(), "ft-one", func(r *job.Record) error { r.NextAttempt(); return nil })
	require.NoError(t, err, "a new attempt begins again")
	_, err = s.Change(t.Context(), "ft-one", func(r *job.Record) error { r.Attempt--; return nil })
	require.ErrorIs(t, err, job.ErrBackwards)
}

func concurrent(t *testing.T, open func() job.Store) {
	t.Helper()
	const writers, changes = 4, 10
	_, _, err := open().Accept(t.Context(), Record("ft-one", "h1"))
	require.NoError(t, err)
	var wg sync.WaitGroup
	errs := make(chan error, writers*changes)
	for range writers {
		s := open()
		wg.Go(func() {
			for range changes {
				_, err := s.Change(t.Context(), "ft-one", func(r *job.Record) error { r.Failures++; return nil })
				errs <- err
			}
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		require.NoError(t, err)
	}
	got, err := open().Get(t.Context(), "ft-one")
	require.NoError(t, err)
	require.Equal(t, writers*changes, got.Failures)
}

func list(t *testing.T, open func() job.Store) {
	t.Helper()
	s := open()
	for i := range 4 {
		_, _, err := s.Accept(t.Context(), Record(fmt.Sprintf("ft-%d", i), "h1"))
		require.NoError(t, err)
	}
	changed, err := s.Change(t.Context(), "ft-1", func(r *job.Record) error {
		r.End(job.Failed, "no table")
		return r.Close()
	})
	require.NoError(t, err)

	runs := func(q job.Query) (out []string) {
		recs, err := s.List(t.Context(), q)
		require.NoError(t, err)
		for _, r := range recs {
			out = append(out, r.Run)
		}
		return out
	}
	require.Equal(t, []string{"ft-0", "ft-1", "ft-2", "ft-3"}, runs(job.Query{}))
	enough := errors.New("enough")
	var seen []string
	require.Equal(t, enough, s.Each(t.Context(), job.Query{Active: true}, func(r job.Record) error {
		if seen = append(seen, r.Run); len(seen) == 2 {
			return enough
		}
		return nil
	}))
	require.Equal(t, []string{"ft-0", "ft-2"}, seen)
	require.Equal(t, []string{"ft-0", "ft-2", "ft-3"}, runs(job.Query{Active: true}))
	require.Equal(t, []string{"ft-2", "ft-3"}, runs(job.Query{Limit: 2}), "the newest, oldest first")
	require.Equal(t, []string{"ft-1"}, runs(job.Query{ChangedAfter: changed.Updated.Add(-1)}))
	require.Empty(t, runs(job.Query{ChangedAfter: changed.Updated}))
	require.Equal(t, []string{"ft-1"}, runs(job.Query{Over: true}))
	require.Empty(t, runs(job.Query{Over: true, ChangedBefore: changed.Updated}))
	require.Equal(t, []string{"ft-1"}, runs(job.Query{Over: true, WithKey: true, ChangedBefore: changed.Updated.Add(1)}))
	_, err = s.Change(t.Context(), "ft-1", func(r *job.Record) error { r.SecretKey = ""; return nil })
	require.NoError(t, err)
	require.Equal(t, []string{"ft-0", "ft-2", "ft-3"}, runs(job.Query{WithKey: true}))
	require.Equal(t, []string{"ft-2", "ft-3"}, runs(job.Query{Dataset: strings.Repeat("d", 24), Active: true, Limit: 2}))
	require.Empty(t, runs(job.Query{Dataset: strings.Repeat("e", 24)}))

	third, err := s.Change(t.Context(), "ft-2", func(r *job.Record) error { r.User = "alice@example.org"; return nil })
	require.NoError(t, err)
	require.Equal(t, []string{"ft-2"}, runs(job.Query{User: "alice@example.org"}))
	require.Equal(t, []string{"ft-0", "ft-1"}, runs(job.Query{Before: third.Position()}))
	require.Equal(t, []string{"ft-1"}, runs(job.Query{Before: third.Position(), Limit: 1}), "page by page")
}

func forget(t *testing.T, open func() job.Store) {
	t.Helper()
	s := open()
	for _, run := range []string{"ft-active", "ft-old", "ft-new"} {
		_, _, err := s.Accept(t.Context(), Record(run, "h1"))
		require.NoError(t, err)
	}
	over := func(run string) job.Record {
		rec, err := s.Change(t.Context(), run, func(r *job.Record) error { r.End(job.Done, "x"); return r.Close() })
		require.NoError(t, err)
		return rec
	}
	over("ft-old")
	cut := over("ft-new").Updated
	n, err := open().Forget(t.Context(), cut)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	_, err = s.Get(t.Context(), "ft-old")
	require.ErrorIs(t, err, job.ErrNotFound)
	for _, run := range []string{"ft-active", "ft-new"} {
		_, err := s.Get(t.Context(), run)
		require.NoError(t, err, run)
	}
	_, created, err := s.Accept(t.Context(), Record("ft-old", "h1"))
	require.NoError(t, err)
	require.True(t, created, "a message of a forgotten job is a new one")
}

func secret(t *testing.T, open func() job.Store) {
	t.Helper()
	s := open()
	for run, end := range map[string]job.State{"ft-done": job.Done, "ft-failed": job.Failed, "ft-cancelled": job.Cancelled} {
		_, _, err := s.Accept(t.Context(), Record(run, "h1"))
		require.NoError(t, err)
		got, err := open().Get(t.Context(), run)
		require.NoError(t, err)
		require.Equal(t, "canary-key", got.SecretKey.Reveal())

		_, err = s.Change(t.Context(), run, func(r *job.Record) error { r.End(end, "x"); return r.Close() })
		require.NoError(t, err)
		got, err = open().Get(t.Context(), run)
		require.NoError(t, err)
		require.Equal(t, end == job.Failed, got.SecretKey != "", "only a failed job can be retried and needs its key")
	}
}

func unknown(t *testing.T, open func() job.Store) {
	t.Helper()
	s := open()
	_, err := s.Get(t.Context(), "ft-none")
	require.ErrorIs(t, err, job.ErrNotFound)
	_, err = s.Change(t.Context(), "ft-none", func(*job.Record) error { return nil })
	require.ErrorIs(t, err, job.ErrNotFound)
	_, err = s.Amend(t.Context(), Record("ft-none", "h1"), func(*job.Record) error { return nil })
	require.ErrorIs(t, err, job.ErrNotFound)
}

func tooLarge(t *testing.T, open func() job.Store) {
	t.Helper()
	s := open()
	huge := []byte(`"` + strings.Repeat("x", 8<<20) + `"`)
	rec := Record("ft-one", "h1")
	rec.Model = huge
	_, _, err := s.Accept(t.Context(), rec)
	require.ErrorIs(t, err, job.ErrTooLarge)
	_, created, err := s.Accept(t.Context(), Record("ft-one", "h1"))
	require.NoError(t, err)
	require.True(t, created, "nothing was written before")
	_, err = s.Change(t.Context(), "ft-one", func(r *job.Record) error { r.Ledger = huge; return nil })
	require.ErrorIs(t, err, job.ErrTooLarge)
	kind, _ := job.Classify(err)
	require.Equal(t, job.KindPermanent, kind)
	_, err = s.Change(t.Context(), "ft-one", func(r *job.Record) error { r.End(job.Failed, err.Error()); return r.Close() })
	require.NoError(t, err)
}

func shred(t *testing.T, open func() job.Store) {
	t.Helper()
	s, other := open(), open()
	require.NoError(t, s.Shred(t.Context()), "an empty store")
	want, _, err := s.Accept(t.Context(), Record("ft-one", "h1"))
	require.NoError(t, err)
	for range 3 {
		require.NoError(t, s.Shred(t.Context()))
	}
	want, err = other.Amend(t.Context(), want, func(r *job.Record) error { r.End(job.Done, "x"); return r.Close() })
	require.NoError(t, err)
	require.NoError(t, other.Shred(t.Context()))
	got, err := s.Get(t.Context(), "ft-one")
	require.NoError(t, err)
	require.Equal(t, want, got)
}
