//go:build integration

package boundary

import (
	"bytes"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/rayjob/raytest"
	"github.com/ncsa/clowder-ray/test/stack"
)

// floodMemory is how much memory the service may take while a run floods it, in bytes.
const floodMemory = 150 << 20

// flood writes a million notes as fast as it can while the service looks on, and then trains until it is stopped.
func flood(p pod) int {
	f, err := os.OpenFile(p.path("events.jsonl"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return 1
	}
	now := time.Now().UTC().Format(time.RFC3339)
	var b bytes.Buffer
	for i := range 1_000_000 {
		_, _ = fmt.Fprintf(&b, `{"time":%q,"attempt":%d,"kind":"warning","code":"c%d","text":"note %d %060d"}`+"\n", now, 1+i%3, i, i, i)
		if b.Len() > 1<<20 {
			if _, err := f.Write(b.Bytes()); err != nil || p.job.Err() != nil {
				break
			}
			b.Reset()
		}
	}
	_ = f.Close()
	<-p.job.Done()
	return 1
}

// chatter prints ten million lines as fast as it can and then ends well.
func chatter(p pod) int {
	f, err := os.OpenFile(p.path("log.txt"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return 1
	}
	lines := bytes.Repeat([]byte("step 12345 loss 0.1234\n"), 50_000)
	for range 200 {
		if _, err := f.Write(lines); err != nil {
			return 1
		}
	}
	_ = f.Close()
	return stack.Play(p.job, p.folder, raytest.Driver{})
}

func TestTenMillionLinesOfOneRunHarmNoOther(t *testing.T) {
	t.Parallel()
	s := newFixture(t, nil)
	jobs := []string{s.Submit(t, s.dataset(t, "Chatter", chatter), nil)}
	for range 4 {
		jobs = append(jobs, s.Submit(t, s.Dataset, nil))
	}
	began := time.Now()
	for _, id := range jobs {
		last, updates := s.AwaitJob(t, id)
		require.Equal(t, "SUCCEEDED", last.Status, "%v", updates)
		require.Less(t, len(updates), 100)
	}
	t.Logf("all five took %s", time.Since(began).Round(time.Millisecond))
	s.requireIntact(t, floodMemory)
}

func TestAMillionEventsOfOneRunHarmNoOther(t *testing.T) {
	t.Parallel()
	s := newFixture(t, nil)
	hostile := s.Submit(t, s.dataset(t, "Flood", flood), nil)
	require.Eventually(t, func() bool { return s.Trainings.Load() > 0 }, stack.StepTimeout, 10*time.Millisecond)
	var slowest time.Duration
	for range 5 { // one after the other, so that each has its time
		began := time.Now()
		last, updates := s.AwaitJob(t, s.Submit(t, s.Dataset, nil))
		require.Equal(t, "SUCCEEDED", last.Status, "%v", updates)
		slowest = max(slowest, time.Since(began))
	}
	t.Logf("the slowest job beside the flood took %s", slowest.Round(time.Millisecond))
	last, updates := s.AwaitJob(t, hostile)
	require.Equal(t, "ERROR", last.Status, "%v", updates)
	require.Contains(t, updates[len(updates)-1].Text, "it wrote more than 64 MiB of events")
	require.Less(t, len(updates), 100)
	s.requireIntact(t, floodMemory)
}
