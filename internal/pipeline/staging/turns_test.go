package staging

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/platform"
)

// part counts how often it is closed.
type part struct{ closed int }

func (p *part) Close() error { p.closed++; return nil }

func turnOf(run string, files int) (turn, *part) {
	p := &part{}
	return turn{rec: job.Record{Run: run, Model: []byte(`{"ref":"plots/1"}`)}, kept: platform.Kept{Part: p, Files: files}}, p
}

// TestATurnIsKeptUntilTheNext in the record as it is then, or until the job is over.
func TestATurnIsKeptUntilTheNext(t *testing.T) {
	t.Parallel()
	var turns Turns
	one, p := turnOf("ft-one", 5)
	require.NoError(t, turns.keep(one))
	next, found := turns.take(job.Record{Run: "ft-one", Version: 7})
	require.True(t, found)
	require.Equal(t, int64(7), next.rec.Version)
	require.JSONEq(t, `{"ref":"plots/1"}`, string(next.rec.Model))
	require.Zero(t, p.closed)
	_, found = turns.take(job.Record{Run: "ft-one"})
	require.False(t, found, "it is given away once")

	require.NoError(t, turns.keep(one))
	turns.Forget("ft-one")
	require.Equal(t, 1, p.closed)
	turns.Forget("ft-one")
	require.Equal(t, 1, p.closed)
	require.Zero(t, turns.files)
}

// TestFewFilesAreKept: a job beyond the limit begins as after a kill, and leaves nothing open.
func TestFewFilesAreKept(t *testing.T) {
	t.Parallel()
	var turns Turns
	large, _ := turnOf("ft-large", maxKept)
	require.NoError(t, turns.keep(large))
	more, p := turnOf("ft-more", 1)
	require.NoError(t, turns.keep(more))
	require.Equal(t, 1, p.closed)
	_, found := turns.take(more.rec)
	require.False(t, found)
	turns.Forget("ft-large")
	require.NoError(t, turns.keep(more))
	require.Equal(t, 1, p.closed)
	nothing := turn{rec: job.Record{Run: "ft-nothing"}}
	require.NoError(t, turns.keep(nothing))
	_, found = turns.take(nothing.rec)
	require.False(t, found)
	turns.Forget("ft-more")
}
