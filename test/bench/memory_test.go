//go:build integration

package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ncsa/clowder-ray/test/stack"
)

// memoryLimit is what a container may use in which the service starts and follows 500 jobs, in bytes. With 75 MB it hardly starts: the kernel
// reads pages of the program again and again.
const memoryLimit = 90_000_000

// memoryGroups is where the first version of control groups limits memory.
const memoryGroups = "/sys/fs/cgroup/memory"

// BenchmarkRunningJobs starts 500 jobs of the Jobs API and watches the service while nothing changes: once as it is, and once in a container
// with a limit, which counts all: own pages, pages of the program file, buffers of the kernel and files that were read or written. The kernel
// then drops what is not used.
func BenchmarkRunningJobs(b *testing.B) {
	program := stack.Program(b)
	b.Run("unlimited", func(b *testing.B) {
		for b.Loop() {
			runningJobs(b, program)
		}
	})
	b.Run("90MB", func(b *testing.B) {
		group := limitMemory(b, memoryLimit)
		limited := startsIn(b, group, program)
		for b.Loop() {
			runningJobs(b, limited)
			b.ReportMetric(groupFigure(b, group, "memory.stat", "pgmajfault"), "reads-of-dropped-pages")
			require.Zero(b, groupFigure(b, group, "memory.oom_control", "oom_kill"))
		}
	})
}

func runningJobs(b *testing.B, program string) {
	b.Helper()
	w := stack.NewFixture(b, program, map[string]string{"train.csv": "text,label\ngood,yes\nbad,no\n"})
	release := w.HoldTrainings()
	defer release()
	s := w.Start(b, map[string]string{"LOG_LEVEL": "warn", "MAX_JOBS": "1000", "MAX_RUNNING": "1000", "RAY_POLL": "2s"})
	conn, err := amqp.Dial(w.Env["RABBITMQ_URI"])
	require.NoError(b, err)
	defer func() { require.NoError(b, conn.Close()) }()
	ch, err := conn.Channel()
	require.NoError(b, err)
	began := time.Now()
	for n := range flying {
		publish(b, ch, w, fmt.Sprintf("%024x", n), "")
	}
	require.Eventually(b, func() bool { return running(b, w) == flying }, stack.StepTimeout, 100*time.Millisecond, "%s", s.Log())
	b.ReportMetric(flying/time.Since(began).Seconds(), "jobs/s")
	watchAtRest(b, s)
	s.Kill()
}

// running is how many jobs run.
func running(b *testing.B, w *stack.Fixture) (n int) {
	b.Helper()
	for _, r := range w.Records(b) {
		if r.State == "running" {
			n++
		}
	}
	return n
}

// watchAtRest reports what the service costs while nothing changes.
func watchAtRest(b *testing.B, s *stack.Service) {
	b.Helper()
	<-time.After(young)
	before := processorTime(b, s.Pid())
	<-time.After(quiet) // what is measured is the cost of this time
	b.ReportMetric(100*(processorTime(b, s.Pid())-before).Seconds()/quiet.Seconds(), "%core")
	reportMemory(b, s.Pid())
}

// limitMemory makes a control group that may use limit bytes.
func limitMemory(b *testing.B, limit int) (group string) {
	b.Helper()
	if _, err := os.Stat(filepath.Join(memoryGroups, "memory.limit_in_bytes")); err != nil || os.Geteuid() != 0 {
		b.Skip("needs root and the first version of control groups")
	}
	group = filepath.Join(memoryGroups, "clowder-ray-bench-"+strconv.Itoa(os.Getpid()))
	require.NoError(b, os.Mkdir(group, 0o755))
	b.Cleanup(func() {
		require.Eventually(b, func() bool { return os.Remove(group) == nil }, stack.StepTimeout, 100*time.Millisecond)
	})
	require.NoError(b, os.WriteFile(filepath.Join(group, "memory.limit_in_bytes"), []byte(strconv.Itoa(limit)), 0o600))
	return group
}

// startsIn returns a program that starts program in a control group. The kernel counts a page of a file where it is read first, so the
// program is a copy that nobody has read.
func startsIn(b *testing.B, group, program string) string {
	b.Helper()
	dir := b.TempDir()
	content, err := os.ReadFile(program)
	require.NoError(b, err)
	fresh, start := filepath.Join(dir, "extractor"), filepath.Join(dir, "start")
	require.NoError(b, os.WriteFile(fresh, content, 0o755))
	file, err := os.Open(fresh)
	require.NoError(b, err)
	require.NoError(b, file.Sync())
	require.NoError(b, unix.Fadvise(int(file.Fd()), 0, 0, unix.FADV_DONTNEED))
	require.NoError(b, file.Close())
	script := fmt.Sprintf("#!/bin/sh\necho $$ > %s/cgroup.procs\nexec %s \"$@\"\n", group, fresh)
	require.NoError(b, os.WriteFile(start, []byte(script), 0o755))
	return start
}

// groupFigure is the number of a line of a file of a control group.
func groupFigure(b *testing.B, group, file, line string) float64 {
	b.Helper()
	doc, err := os.ReadFile(filepath.Join(group, file))
	require.NoError(b, err)
	for text := range strings.Lines(string(doc)) {
		if value, found := strings.CutPrefix(strings.TrimSpace(text), line+" "); found {
			figure, err := strconv.ParseFloat(value, 64)
			require.NoError(b, err)
			return figure
		}
	}
	b.Fatalf("%s has no line %q:\n%s", file, line, doc)
	return 0
}
