package job

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheNewestRecordsAreKept(t *testing.T) {
	t.Parallel()
	var n newest
	rec := New("ft-1", Request{}, "key")
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
		n.keep(New(fmt.Sprintf("ft-other-%d", i), Request{}, ""))
	}
	require.LessOrEqual(t, len(n.byRun), newestMost)
	rec.Version, rec.State = 3, Done
	n.keep(rec)
	_, ok = n.newer("ft-1", 0)
	require.False(t, ok, "what is over is forgotten, and its key")
}

func TestAChangeBeginsFromWhatAnotherProcessWrote(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/jobs.db"
	ours, err := OpenSQLite(t.Context(), path)
	require.NoError(t, err)
	defer func() { require.NoError(t, ours.Close()) }()
	theirs, err := OpenSQLite(t.Context(), path)
	require.NoError(t, err)
	defer func() { require.NoError(t, theirs.Close()) }()
	rec, _, err := ours.Accept(t.Context(), New("ft-1", Request{}, "key"))
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
