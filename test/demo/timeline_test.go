package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTheTimelineHasAnOwnerForEachSecond(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	event := func(after float64, kind, phase string) string {
		at := began.Add(time.Duration(after * float64(time.Second))).Format("2006-01-02T15:04:05.000Z")
		return fmt.Sprintf(`{"time": %q, "kind": %q, "phase": %q}`, at, kind, phase)
	}
	steps := []string{
		event(2, "phase", "start"), event(2.1, "phase", "start"), event(2.2, "phase", "prepare"), event(3, "phase", "train"),
		event(3.5, "progress", ""), event(4, "progress", ""), event(6, "phase", "test"), event(6.5, "phase", "export"),
	}
	shared := t.TempDir()
	run, deliver := filepath.Join(shared, "runs", "ft-one"), filepath.Join(shared, "deliver", "ft-one")
	require.NoError(t, os.MkdirAll(run, 0o700))
	require.NoError(t, os.MkdirAll(deliver, 0o700))
	for name, f := range map[string]struct {
		text  string
		after time.Duration
	}{
		filepath.Join(run, "spec.json"):       {"{}", 100 * time.Millisecond},
		filepath.Join(run, "events.jsonl"):    {strings.Join(steps, "\n") + "\n", 0},
		filepath.Join(run, "result.json"):     {"{}", 7 * time.Second},
		filepath.Join(deliver, "report.html"): {"", 8 * time.Second},
		filepath.Join(deliver, "model.zip"):   {"", 7500 * time.Millisecond},
	} {
		require.NoError(t, os.WriteFile(name, []byte(f.text), 0o600))
		require.NoError(t, os.Chtimes(name, time.Time{}, began.Add(f.after)))
	}
	var out strings.Builder
	require.NoError(t, (&timeline{began: began}).print(&out, shared, began.Add(10*time.Second)))
	var rows []string
	for line := range strings.Lines(out.String()) {
		if cells := strings.Split(line, " | "); len(cells) == 4 && strings.Contains(cells[1], ".") {
			rows = append(rows, strings.TrimSpace(strings.Trim(cells[0], "| "))+" "+cells[2])
		}
	}
	require.Equal(t, []string{
		"0.1 service", "1.9 Ray", "0.2 trainer", "0.8 trainer", "0.5 trainer", "2.5 trainer", "0.5 trainer", "0.5 trainer", "1.0 service", "2.0 Clowder",
	}, rows, out.String())

	require.NoError(t, os.RemoveAll(deliver), "small deliverables stay in memory")
	out.Reset()
	require.NoError(t, (&timeline{began: began}).print(&out, shared, began.Add(10*time.Second)))
	require.Contains(t, out.String(), "|   3.0 |  10.0 | service, Clowder |")
}

func TestATimelineIsThatOfOneRun(t *testing.T) {
	t.Parallel()
	require.ErrorContains(t, (&timeline{}).print(&strings.Builder{}, t.TempDir(), time.Now()), "0 runs are on the volume")
}
