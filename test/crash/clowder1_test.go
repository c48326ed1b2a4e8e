//go:build integration && crash

package crash

import (
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/crash"
	"github.com/ncsa/clowder-ray/test/stack"
)

// TestCrashPointsOfAJobOfClowder1: what a job of Clowder v1 makes is delivered once. Its first status may stand there twice, and its last one
// after a kill between its confirm and the record, because v1 shows them only to people.
func TestCrashPointsOfAJobOfClowder1(t *testing.T) {
	t.Parallel()
	program := stack.Program(t)
	for _, point := range crash.Points() {
		t.Run(string(point), func(t *testing.T) {
			t.Parallel()
			w := stack.NewFixture(t, program, nil)
			one := w.AddClowder1(t, map[string]string{"train.csv": "text,label\ngood,yes\nbad,no\n"})
			first := w.Start(t, map[string]string{"CRASH_AT": string(point)})
			id := one.Submit(t, stack.Extractor)
			awaitKill(t, first, point)
			second := w.Start(t, nil)
			records := w.AwaitRecords(t, 1)
			require.Equal(t, job.Done, records[0].State)
			require.NoError(t, second.Stop(30*time.Second))
			require.EqualValues(t, 1, w.Trainings.Load(), "one training")

			lines := one.AwaitEnd(t, id)
			require.Equal(t, "DONE", lines[len(lines)-1], "%q", lines)
			all := strings.Join(lines, "\n")
			require.Contains(t, []int{1, 2}, strings.Count(all, "Accepted dataset"), "%q", lines)
			ends := 1
			if point == crash.EndSent {
				ends = 2 // nobody can see that it was sent
			}
			for _, words := range []string{"DONE", "Results in folder finetune/"} {
				require.Equal(t, ends, strings.Count(all, words), "%s in %q", words, lines)
			}
			files := slices.Sorted(slices.Values(one.Files(t)))
			require.Equal(t, slices.Compact(slices.Clone(files)), files, "no file twice")
			for _, name := range []string{"model.zip", "metrics.json", "predictions.csv", "report.html"} {
				require.True(t, slices.ContainsFunc(files, func(p string) bool { return path.Base(p) == name }), "%s in %v", name, files)
			}
			require.Len(t, one.V1Entries(one.Dataset), 1, "one metadata entry")
			w.RequireNoKey(t, append(lines, first.Log(), second.Log())...)
		})
	}
}
