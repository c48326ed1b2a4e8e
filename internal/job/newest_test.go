package job

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTheNewestRecordsAreKept(t *testing.T) {
	t.Parallel()
	var n newest
	rec := New("ft-1", Train, Request{}, "key")
	rec.Version = 2
	n.keep(rec)
	_, ok := n.newer("ft-1", 2)
	require.False(t, ok, "the caller has this version")
	kept, ok := n.newer("ft-1", 1)
	require.True(t, ok)
	require.EqualValues(t, 2, kept.Version)
	old := rec
	old.Version = 1
	n.keep(old)
	kept, _ = n.newer("ft-1", 0)
	require.EqualValues(t, 2, kept.Version, "an older version never replaces a newer one")
	for i := range newestMost {
		n.keep(New(fmt.Sprintf("ft-other-%d", i), Train, Request{}, ""))
	}
	require.LessOrEqual(t, len(n.byRun), newestMost)
	rec.Version, rec.State = 3, Done
	n.keep(rec)
	_, ok = n.newer("ft-1", 0)
	require.False(t, ok, "what is over is forgotten, and its key")
}

// opened is a store as a process opens it.
func opened(t *testing.T, path string) *SQLite {
	t.Helper()
	s, err := OpenSQLite(t.Context(), path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func TestAChangeBeginsFromWhatAnotherProcessWrote(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/jobs.db"
	ours, theirs := opened(t, path), opened(t, path)
	rec, _, err := ours.Accept(t.Context(), New("ft-1", Train, Request{}, "key"))
	require.NoError(t, err)
	_, err = theirs.Change(t.Context(), "ft-1", func(r *Record) error { r.CancelledBy = "bob"; return nil })
	require.NoError(t, err)

	refused := errors.New("it is not cancelled")
	ifCancelled := func(r *Record) error {
		if r.CancelledBy == "" {
			return refused
		}
		return nil
	}
	_, err = ours.Change(t.Context(), "ft-1", ifCancelled)
	require.NoError(t, err, "what is refused from memory is read again")
	next, err := ours.Amend(t.Context(), rec, func(r *Record) error { r.User = "alice"; return nil })
	require.NoError(t, err)
	require.Equal(t, "bob", next.CancelledBy)
	require.Equal(t, "alice", next.User)
}

// changedAfter lists the active records that changed after a moment, and those that were left out.
func changedAfter(t *testing.T, s *SQLite, after time.Time) (found, leftOut []string) {
	t.Helper()
	s.leftOut = func(run string, _ error) { leftOut = append(leftOut, run) }
	recs, err := s.List(t.Context(), Query{Active: true, ChangedAfter: after})
	require.NoError(t, err)
	for _, rec := range recs {
		found = append(found, fmt.Sprintf("%s %d %s", rec.Run, rec.Version, rec.CancelledBy))
	}
	return found, leftOut
}

func TestRecentChangesAreThoseOfAllProcesses(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/jobs.db"
	ours, theirs := opened(t, path), opened(t, path)
	var last Record
	for i := range 4 {
		var err error
		last, _, err = ours.Accept(t.Context(), New(fmt.Sprintf("ft-%d", i), Train, Request{}, "key"))
		require.NoError(t, err)
	}
	cancel := func(r *Record) error { r.CancelledBy = "bob"; return nil }
	_, err := theirs.Change(t.Context(), "ft-1", cancel)
	require.NoError(t, err)
	_, err = ours.Change(t.Context(), "ft-2", cancel)
	require.NoError(t, err)
	_, err = theirs.Change(t.Context(), "ft-3", func(r *Record) error { r.End(Failed, "it failed"); return r.Close() })
	require.NoError(t, err)
	found, leftOut := changedAfter(t, ours, last.Updated)
	require.Equal(t, []string{"ft-1 2 bob", "ft-2 2 bob"}, found, "the one that is over is in no list of active ones")
	require.Empty(t, leftOut)
}

func TestWhatThisProcessWroteIsNotReadAgain(t *testing.T) {
	t.Parallel()
	s := opened(t, t.TempDir()+"/jobs.db")
	before := time.Now().Add(-time.Second)
	for _, run := range []string{"ft-known", "ft-unknown"} {
		_, _, err := s.Accept(t.Context(), New(run, Train, Request{}, "key"))
		require.NoError(t, err)
	}
	// Damage shows what is read from the file.
	_, err := s.write.ExecContext(t.Context(), "UPDATE jobs SET record = CAST('{' AS BLOB)")
	require.NoError(t, err)
	delete(s.newest.byRun, "ft-unknown")
	found, leftOut := changedAfter(t, s, before)
	require.Equal(t, []string{"ft-known 1 "}, found)
	require.Equal(t, []string{"ft-unknown"}, leftOut)
	_, err = s.write.ExecContext(t.Context(), "UPDATE jobs SET version = 2 WHERE run = 'ft-known'")
	require.NoError(t, err)
	_, leftOut = changedAfter(t, s, before)
	require.Equal(t, []string{"ft-known", "ft-unknown"}, leftOut, "a version that another process wrote is read")
}
