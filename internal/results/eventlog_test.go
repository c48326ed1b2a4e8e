package results_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/results"
)

// loggedRun is a run folder with that event log.
func loggedRun(t *testing.T, lines ...string) disk.Folder {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, results.EventsFile), []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	return disk.Folder{Volume: dir}
}

func TestARunWithoutALogHasNoEvents(t *testing.T) {
	t.Parallel()
	for name, dir := range map[string]disk.Folder{
		"an empty folder": {Volume: t.TempDir()},
		"no folder":       {Volume: t.TempDir(), Name: "runs/ft-none"},
		"an empty log":    loggedRun(t),
	} {
		events, err := results.ReadEvents(dir)
		require.NoError(t, err, name)
		require.Empty(t, events, name)
	}
}

func TestALogThatCannotBeReadIsAnError(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(dir, results.EventsFile)))
	_, err := results.ReadEvents(disk.Folder{Volume: dir})
	require.ErrorIs(t, err, disk.ErrNotAllowed)
}

func TestEventsOfAllKindsComeInTheOrderOfTheLog(t *testing.T) {
	t.Parallel()
	var lines, want []string
	for i, kind := range []string{"phase", "decision", "progress", "news", "best", "warning", "scalar", "resume", "started", "done", "progress"} {
		lines = append(lines, string(eventLine(fmt.Sprintf(`"kind":%q,"step":%d`, kind, i))))
		if kind != "news" && kind != "scalar" && kind != "started" { // a report has the numbers of a script from its result
			want = append(want, fmt.Sprintf("%s %d", kind, i))
		}
	}
	events, err := results.ReadEvents(loggedRun(t, lines...))
	require.NoError(t, err)
	var got []string
	for _, e := range events {
		got = append(got, fmt.Sprintf("%s %d", e.Kind, e.Step))
	}
	require.Equal(t, want, got)
}

func TestOfManyNotesTheFirstAreKept(t *testing.T) {
	t.Parallel()
	lines := make([]string, results.MaxEventsOfAKind+10)
	for i := range lines {
		lines[i] = string(eventLine(fmt.Sprintf(`"kind":"warning","code":"long","step":%d`, i)))
	}
	events, err := results.ReadEvents(loggedRun(t, lines...))
	require.NoError(t, err)
	require.Len(t, events, results.MaxEventsOfAKind)
	require.Equal(t, results.MaxEventsOfAKind-1, events[len(events)-1].Step)
}

func TestTheLastOfManyEvaluationsIsKept(t *testing.T) {
	t.Parallel()
	for _, extra := range []int{-1, 0, 1, 2, 3} {
		lines := make([]string, results.MaxEventsOfAKind+extra)
		for i := range lines {
			lines[i] = string(eventLine(fmt.Sprintf(`"kind":"best","step":%d`, i)))
		}
		events, err := results.ReadEvents(loggedRun(t, lines...))
		require.NoError(t, err)
		require.Equal(t, len(lines)-1, events[len(events)-1].Step, "%d events", len(lines))
		require.LessOrEqual(t, len(events), results.MaxEventsOfAKind)
	}
}
