package results_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/results"
)

// placedAll reads a log to its end from an offset.
func placedAll(t *testing.T, dir disk.Folder, offset int64) []results.LoggedEvent {
	t.Helper()
	tail := results.NewTail(dir)
	tail.Offset = offset
	all := []results.LoggedEvent{}
	for {
		placed, err := tail.NextLogged()
		require.NoError(t, err)
		if len(placed) == 0 {
			return all
		}
		all = append(all, placed...)
	}
}

func TestATailThatBeginsBehindAnEventReadsTheEventsThatFollow(t *testing.T) {
	t.Parallel()
	lines := []string{
		string(eventLine(`"kind":"phase","step":1`)), "", "no event", string(eventLine(`"kind":"phase","step":2,"text":"größe"`)),
		strings.Repeat("x", results.MaxLine+1), string(eventLine(`"kind":"phase","step":3`)) + "\r", string(eventLine(`"kind":"phase","step":4`)),
	}
	dir := loggedRun(t, lines...)
	all := placedAll(t, dir, 0)
	require.Len(t, all, 4)
	log, err := os.ReadFile(logOf(results.NewTail(dir)))
	require.NoError(t, err)
	for i, p := range all {
		require.Equal(t, i+1, p.Step)
		require.Equal(t, byte('\n'), log[p.End-1], "a place is the end of a line")
		require.Equal(t, all[i+1:], placedAll(t, dir, p.End), "no event comes twice, and none is lost")
	}
}

func TestPlacesHoldAlsoWhereALogIsReadInPieces(t *testing.T) {
	t.Parallel()
	var lines []string
	var ends []int64
	for i := range 2 * results.MaxRead / 100 { // each line is longer than 100 bytes
		lines = append(lines, string(eventLine(`"kind":"progress","step":`+strconv.Itoa(i)+`,"text":"`+strings.Repeat("x", i%97)+`"`)))
		ends = append(ends, int64(len(lines[i]))+1)
		if i > 0 {
			ends[i] += ends[i-1]
		}
	}
	dir := loggedRun(t, lines...)
	all := placedAll(t, dir, 0)
	got := make([]int64, len(all))
	for i, p := range all {
		got[i] = p.End
	}
	require.Equal(t, ends, got)
}

func TestALogIsReadUpToALimitOnly(t *testing.T) {
	t.Parallel()
	tail := results.NewTail(disk.Folder{Volume: t.TempDir()})
	require.NoError(t, os.WriteFile(logOf(tail), []byte(phaseLine+"\n"), 0o600))
	require.NoError(t, os.Truncate(logOf(tail), results.MaxEventBytes+1<<20)) // a file with a hole takes no room
	for range 5 {                                                             // zeros are looked at again, because NFS shows them before the bytes
		_, err := tail.Next()
		require.NoError(t, err)
	}
	require.False(t, tail.Full())
	tail.Offset = results.MaxEventBytes
	require.True(t, tail.Full())
	events, err := tail.Next()
	require.NoError(t, err)
	require.Empty(t, events)
	require.Equal(t, int64(results.MaxEventBytes), tail.Offset, "nothing behind the limit is read")

	require.NoError(t, os.WriteFile(logOf(tail), []byte(phaseLine+"\n"), 0o600))
	events, err = tail.Next()
	require.NoError(t, err)
	require.Len(t, events, 1, "a log that begins again is read")
	require.False(t, tail.Full())
}

func TestATailThatWaitsForBytesDoesNotCountThemTwice(t *testing.T) {
	t.Parallel()
	hole := strings.Repeat("\x00", len(phaseLine)) + "\n"
	tail := results.NewTail(disk.Folder{Volume: t.TempDir()})
	write := func(body string) []results.LoggedEvent {
		require.NoError(t, os.WriteFile(logOf(tail), []byte(body), 0o600))
		placed, err := tail.NextLogged()
		require.NoError(t, err)
		return placed
	}
	first := write(phaseLine + "\n" + hole + phaseLine + "\n")
	require.Len(t, first, 1, "what stands behind a hole waits for it")
	require.Zero(t, tail.Skipped)
	second := write(phaseLine + "\n" + phaseLine + "\n" + phaseLine + "\n") // the bytes came
	require.Len(t, second, 2)
	require.Zero(t, tail.Skipped, "the hole was no line")

	next := phaseLine + "\n" + phaseLine + "\n" + phaseLine + "\n" + hole + phaseLine + "\n"
	var looks int
	for placed := write(next); len(placed) == 0; placed = write(next) {
		looks++
		require.LessOrEqual(t, looks, 10, "a hole that stays is given up")
	}
	require.Equal(t, 3, looks)
	require.Equal(t, 1, tail.Skipped)
}
