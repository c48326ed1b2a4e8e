package results_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
)

const phaseLine = `{"time":"2026-11-21T05:03:41.250Z","attempt":1,"kind":"phase","phase":"train","text":"Training"}`

func TestTailReadsWhatIsComplete(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		writes  []string // one Next follows each
		events  []int
		skipped int
	}{
		"whole lines":                          {[]string{phaseLine + "\n" + phaseLine + "\n"}, []int{2}, 0},
		"a half line waits for its end":        {[]string{phaseLine + "\n" + phaseLine[:20], phaseLine[20:] + "\n"}, []int{1, 1}, 0},
		"an empty file":                        {[]string{""}, []int{0}, 0},
		"empty lines are no lines":             {[]string{"\n\n" + phaseLine + "\n\n"}, []int{1}, 0},
		"a corrupt line is skipped":            {[]string{"{\"time\":\n" + phaseLine + "\n"}, []int{1}, 1},
		"NaN is not JSON":                      {[]string{strings.Replace(phaseLine, `"Training"`, "NaN", 1) + "\n" + phaseLine + "\n"}, []int{1}, 1},
		"a line that is too long is skipped":   {[]string{strings.Repeat("x", results.MaxLine+1) + "\n" + phaseLine + "\n"}, []int{1}, 1},
		"also when it comes in pieces":         {[]string{strings.Repeat("x", results.MaxLine+1), strings.Repeat("x", 10), "\n" + phaseLine + "\n"}, []int{0, 0, 1}, 1},
		"zeros are looked at again":            {[]string{strings.Repeat("\x00", 5) + "\n", "", "", phaseLine + "\n"}, []int{0, 0, 0, 1}, 1},
		"an unknown kind is kept":              {[]string{strings.Replace(phaseLine, `"phase"`, `"news"`, 1) + "\n"}, []int{1}, 0},
		"a line without an attempt is skipped": {[]string{strings.Replace(phaseLine, `"attempt":1`, `"attempt":0`, 1) + "\n"}, []int{0}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tail := results.NewTail(disk.Folder{Volume: t.TempDir()})
			f, err := os.OpenFile(logOf(tail), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
			require.NoError(t, err)
			defer func() { require.NoError(t, f.Close()) }()
			var got []int
			for _, w := range tc.writes {
				_, err := f.WriteString(w)
				require.NoError(t, err)
				events, err := tail.Next()
				require.NoError(t, err)
				got = append(got, len(events))
			}
			require.Equal(t, tc.events, got)
			require.Equal(t, tc.skipped, tail.Skipped)
		})
	}
}

func TestTailOfALogThatIsNotThereYet(t *testing.T) {
	t.Parallel()
	events, err := results.NewTail(disk.Folder{Volume: t.TempDir()}).Next()
	require.NoError(t, err)
	require.Empty(t, events)
}

func TestTailRefusesWhatIsNoFile(t *testing.T) {
	t.Parallel()
	for name, place := range map[string]func(path string) error{
		"a folder":                     func(path string) error { return os.Mkdir(path, 0o755) },
		"a pipe that nobody writes to": func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"a link out of the folder":     func(path string) error { return os.Symlink("/etc/passwd", path) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tail := results.NewTail(disk.Folder{Volume: t.TempDir()})
			require.NoError(t, place(logOf(tail)))
			_, err := tail.Next()
			require.ErrorContains(t, err, "instead of a file")
		})
	}
}

func TestTailBeginsAgainWhenTheLogIsReplaced(t *testing.T) {
	t.Parallel()
	tail := results.NewTail(disk.Folder{Volume: t.TempDir()})
	require.NoError(t, os.WriteFile(logOf(tail), []byte(phaseLine+"\n"+phaseLine+"\n"), 0o600))
	events, err := tail.Next()
	require.NoError(t, err)
	require.Len(t, events, 2)
	require.NoError(t, os.WriteFile(logOf(tail), []byte(phaseLine+"\n"), 0o600))
	events, err = tail.Next()
	require.NoError(t, err)
	require.Len(t, events, 1)
}

func TestTailKeepsItsMemoryFlatOnAHugeLog(t *testing.T) {
	t.Parallel()
	tail := results.NewTail(disk.Folder{Volume: t.TempDir()})
	line := []byte(phaseLine + "\n")
	n := 3*results.MaxRead/len(line) + 7
	require.NoError(t, os.WriteFile(logOf(tail), bytes.Repeat(line, n), 0o600))
	total, calls := 0, 0
	for {
		events, err := tail.Next()
		require.NoError(t, err)
		if len(events) == 0 {
			break
		}
		total, calls = total+len(events), calls+1
	}
	require.Equal(t, n, total)
	require.Greater(t, calls, 3)
}

func TestReadEventsEndsOnAnyLog(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"zeros at the end":       phaseLine + "\n\x00\x00\x00\n",
		"zeros and a half line":  phaseLine + "\n\x00\x00\x00",
		"a line without an end":  phaseLine + "\n" + phaseLine,
		"too long without end":   phaseLine + "\n" + strings.Repeat("x", 2*results.MaxLine),
		"corrupt lines and more": phaseLine + "\n}{\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, results.EventsFile), []byte(body), 0o600))
			events, err := results.ReadEvents(disk.Folder{Volume: dir})
			require.NoError(t, err)
			require.Len(t, events, 1)
		})
	}
}

func TestProgressFoldsAWholeTraining(t *testing.T) {
	t.Parallel()
	f := resultstest.New(t)
	events, err := results.ReadEvents(f.Run())
	require.NoError(t, err)
	var p results.Progress
	for _, e := range events {
		p.Fold(e)
	}
	require.Equal(t, 3, p.Epoch)
	require.Equal(t, 3, p.Epochs)
	require.InDelta(t, 1, p.Fraction, 1e-9)
	require.Equal(t, &results.Best{Epoch: 2, Step: 400, Metric: "accuracy", Value: 0.835}, p.Best)
	name, value, ok := p.Metric()
	require.True(t, ok)
	require.Equal(t, "accuracy", name)
	require.InDelta(t, 0.829, value, 1e-9)
	require.Len(t, p.Warnings, 1)
	require.Len(t, p.Decisions, 3)
	require.Equal(t, "dev.tsv", p.Decisions[2].Choice)
	require.Equal(t, "cpu", p.Device)
	require.True(t, p.Done)

	again := p
	for _, e := range events {
		again.Fold(e)
	}
	require.Equal(t, p, again, "a log may be read again from its beginning")
}

func TestProgressForgetsAnEarlierAttempt(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 21, 5, 0, 0, 0, time.UTC)
	var p results.Progress
	p.Fold(results.Event{Time: at, Attempt: 1, Kind: results.KindProgress, Epoch: 2, Epochs: 3, Fraction: 0.5})
	p.Fold(results.Event{Time: at, Attempt: 1, Kind: results.KindWarning, Code: "x", Text: "y"})
	p.Fold(results.Event{Time: at.Add(time.Minute), Attempt: 2, Kind: results.KindPhase, Phase: "start", Text: "Starting"})
	p.Fold(results.Event{Time: at.Add(time.Hour), Attempt: 1, Kind: results.KindProgress, Epoch: 3, Epochs: 3, Fraction: 0.9})
	require.Equal(t, results.Progress{Attempt: 2, Phase: "start", Text: "Starting"}, p)
}

func TestProgressOfReadingIsNoProgressOfTheTraining(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 21, 5, 0, 0, 0, time.UTC)
	var p results.Progress
	for _, e := range []results.Event{
		{Kind: results.KindPhase, Phase: "prepare", Text: "org/small reads 900 texts."},
		{Kind: results.KindProgress, Step: 50, Steps: 100, Fraction: 0.5},
	} {
		e.Time, e.Attempt = at, 1
		p.Fold(e)
	}
	require.Equal(t, "org/small reads 900 texts, 50 %", p.Sentence())
	p.Fold(results.Event{Time: at, Attempt: 1, Kind: results.KindPhase, Phase: "train", Text: "Training on 90 rows."})
	require.Equal(t, results.Progress{Attempt: 1, Phase: "train", Text: "Training on 90 rows."}, p)
}

func TestProgressCountsResumesOnce(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 21, 5, 0, 0, 0, time.UTC)
	events := []results.Event{
		{Time: at, Attempt: 1, Kind: results.KindResume, Epoch: 1.5, Step: 51, Text: "A worker was lost."},
		{Time: at.Add(time.Minute), Attempt: 1, Kind: results.KindResume, Epoch: 2, Step: 68, Text: "Once more."},
	}
	var p results.Progress
	for range 2 { // a log may be read again from its beginning
		for _, e := range events {
			p.Fold(e)
		}
	}
	require.Equal(t, 2, p.Resumes)
	require.Equal(t, "Once more.", p.Resumed)
}

func FuzzDecodeEvent(f *testing.F) {
	for _, line := range bytes.Split(resultstest.EventLog(), []byte("\n"))[:12] {
		f.Add(line)
	}
	f.Add([]byte(`{"time":"2026-11-21T05:03:41.250Z","attempt":1,"kind":"progress","eta_seconds":1e308}`))
	f.Add([]byte(`{"time":"2026-11-21T05:03:41.250Z","attempt":1,"kind":"decision","choice":[1,{"a":null}]}`))
	f.Add([]byte(`{"time":"2026-11-21T05:03:41.250Z","attempt":1,"kind":"phase","text":"` + strings.Repeat("ü", 2*results.MaxEventText) + `"}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		e, err := results.DecodeEvent(line)
		if err != nil {
			return
		}
		require.GreaterOrEqual(t, e.Time.Year(), results.EarliestYear)
		require.GreaterOrEqual(t, e.Attempt, 1)
		require.GreaterOrEqual(t, e.ETA(), time.Duration(0))
		require.LessOrEqual(t, utf8.RuneCountInString(e.ChoiceText()), 2*results.MaxEventText)
		for _, words := range []string{e.Text, e.Why, e.What, e.Do} {
			require.LessOrEqual(t, utf8.RuneCountInString(words), results.MaxEventText)
		}
		require.LessOrEqual(t, len(e.Metrics), results.MaxEventMetrics)
		var p results.Progress
		p.Fold(e)
		require.Equal(t, e.Attempt, p.Attempt)
	})
}

func FuzzTail(f *testing.F) {
	f.Add([]byte(phaseLine+"\n"+phaseLine), 10)
	f.Add([]byte("\x00\n"+phaseLine+"\n"), 1)
	f.Fuzz(func(t *testing.T, body []byte, split int) {
		tail := results.NewTail(disk.Folder{Volume: t.TempDir()})
		split = min(max(0, split), len(body))
		for _, upTo := range []int{split, len(body), len(body), len(body), len(body)} {
			require.NoError(t, os.WriteFile(logOf(tail), body[:upTo], 0o600))
			_, err := tail.Next()
			require.NoError(t, err)
			require.LessOrEqual(t, tail.Offset, int64(upTo))
		}
	})
}

func BenchmarkTail(b *testing.B) {
	tail := results.NewTail(disk.Folder{Volume: b.TempDir()})
	require.NoError(b, os.WriteFile(logOf(tail), bytes.Repeat(resultstest.EventLog(), 20), 0o600))
	b.ReportAllocs()
	for b.Loop() {
		tail.Offset = 0
		events, err := tail.Next()
		require.NoError(b, err)
		b.SetBytes(tail.Offset)
		require.NotEmpty(b, events)
	}
}

func TestALongLogIsReadFromItsBeginningToItsEnd(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var log strings.Builder
	const steps = 30_000
	for i := range steps {
		fmt.Fprintf(&log, `{"time":"2026-11-21T10:00:05Z","attempt":1,"kind":"progress","epoch":1,"epochs":1,"step":%d,"steps":%d,"fraction":%g,"loss":1}`+"\n",
			i, steps, float64(i)/steps)
	}
	log.WriteString(phaseLine + "\n")
	require.NoError(t, os.WriteFile(filepath.Join(dir, results.EventsFile), []byte(log.String()), 0o600))
	events, err := results.ReadEvents(disk.Folder{Volume: dir})
	require.NoError(t, err)
	require.Less(t, len(events), results.MaxEventsOfAKind+2)
	require.Greater(t, len(events), results.MaxEventsOfAKind/3)
	require.Equal(t, results.KindPhase, events[len(events)-1].Kind)
	require.Equal(t, steps-1, events[len(events)-2].Step, "the last one is there")
	for i := 1; i < len(events)-1; i++ {
		require.Greater(t, events[i].Step, events[i-1].Step)
		require.Less(t, events[i].Step-events[i-1].Step, 32, "none is far from the one before")
	}
}

func TestWhatAnEventSaysIsCut(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 60_000)
	for name, line := range map[string]string{
		"a text":      `{"time":"2026-11-21T10:00:05Z","attempt":1,"kind":"phase","phase":"p","text":"` + long + `"}`,
		"a choice":    `{"time":"2026-11-21T10:00:05Z","attempt":1,"kind":"decision","what":"w","choice":["` + long + `"],"why":"y"}`,
		"a kind":      `{"time":"2026-11-21T10:00:05Z","attempt":1,"kind":"` + long + `"}`,
		"one metric":  `{"time":"2026-11-21T10:00:05Z","attempt":1,"kind":"eval","split":"test","metrics":{"` + long + `":1,"a":1}}`,
		"its metrics": `{"time":"2026-11-21T10:00:05Z","attempt":1,"kind":"eval","split":"test","metrics":{` + manyMetrics(5000) + `}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, err := results.DecodeEvent([]byte(line))
			require.NoError(t, err)
			doc, err := json.Marshal(e)
			require.NoError(t, err)
			require.Less(t, len(doc), 4000)
		})
	}
}

func manyMetrics(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(`"m%d":1`, i)
	}
	return strings.Join(all, ",")
}
