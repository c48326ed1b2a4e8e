//go:build integration

package boundary

import (
	"bufio"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/rayjob/raytest"
	"github.com/ncsa/clowder-ray/test/broker"
	"github.com/ncsa/clowder-ray/test/stack"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(broker.Main(m)) }

// mark stands in all that no user may ever see.
const mark = "SECRET-OF-THE-SERVICE"

// maxMemory is how much memory the service may ever take while all attacks are at work at once, in bytes. A third of it is the
// program itself.
const maxMemory = 200 << 20

// fixture is a service with jobs on it, of which some are hostile.
type fixture struct {
	*stack.Fixture
	program string
	outside string
	// bodies is the folder of all that Clowder has stored.
	bodies  string
	before  map[string]string
	service *stack.Service

	mu      sync.Mutex
	plays   map[string]func(p pod) int // by the id of the dataset
	stop    context.CancelFunc
	life    context.Context //nolint:containedctx // it is that of the pods
	hostile sync.WaitGroup
}

func newFixture(t *testing.T, env map[string]string) *fixture {
	t.Helper()
	program := stack.Program(t)
	s := &fixture{plays: map[string]func(p pod) int{}, outside: t.TempDir(), program: program, bodies: t.TempDir()}
	options := clowdertest.Options{AMQPURI: broker.ForTest(t).Vhost(t), Dir: s.bodies}
	s.Fixture = stack.NewFixtureWith(t, program, options, map[string]string{"train.csv": "text,label\ngood,yes\nbad,no\n"})
	s.life, s.stop = context.WithCancel(context.WithoutCancel(t.Context()))
	t.Cleanup(func() { s.stop(); s.hostile.Wait() })
	for name, body := range map[string]string{"jobs.db": "records " + mark, "victim": "untouched " + mark} {
		require.NoError(t, os.WriteFile(filepath.Join(s.outside, name), []byte(body), 0o600))
	}
	s.before = snapshot(s.outside)
	s.PlayTrainings(s.play)
	all := map[string]string{"ANOTHER_SECRET": mark, "MAX_ATTEMPTS": "2", "MAX_RETRY": "2", "STALL_TIMEOUT": "60s"}
	maps.Copy(all, env)
	s.service = s.Start(t, all)
	return s
}

// dataset makes a dataset whose trainings do what play does. One of its files is called like the job store.
func (s *fixture) dataset(t *testing.T, name string, play func(p pod) int) string {
	t.Helper()
	id := s.Clowder.AddDataset(stack.User, name)
	for file, body := range map[string]string{"train.csv": "text,label\ngood,yes\nbad,no\n", "jobs.db": "not the records"} {
		_, err := s.Clowder.AddFile(id, file, strings.NewReader(body))
		require.NoError(t, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.plays[id] = play
	return id
}

// play is the training of a job: the hostile one of its dataset, or a good one.
func (s *fixture) play(ctx context.Context, folder string, d raytest.Driver) int {
	s.mu.Lock()
	hostile := s.plays[d.Metadata["clowder_dataset"]]
	s.mu.Unlock()
	if hostile == nil {
		return stack.Play(ctx, folder, d)
	}
	run, _ := rayjob.RunOf(d.ID)
	attempt, _ := strconv.Atoi(d.ID[strings.LastIndex(d.ID, "-a")+2:])
	return hostile(pod{
		folder: folder, run: run, attempt: attempt, outside: s.outside, environ: fmt.Sprintf("/proc/%d/environ", s.service.Pid()),
		store: filepath.Join(s.Env["STATE_DIR"], "jobs.db"), job: ctx, life: s.life, work: &s.hostile,
	})
}

func TestBoundary(t *testing.T) {
	t.Parallel()
	s := newFixture(t, nil)
	type sent struct{ name, id, dataset string }
	var jobs []sent
	all := attacks()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		dataset := s.dataset(t, name, all[name].play)
		jobs = append(jobs, sent{name, s.Submit(t, dataset, nil), dataset})
	}
	var good []string
	for range 5 {
		good = append(good, s.Submit(t, s.Dataset, nil))
	}
	t.Run("good jobs beside them", func(t *testing.T) {
		for _, id := range good {
			last, updates := s.AwaitJob(t, id)
			require.Equal(t, "SUCCEEDED", last.Status, "%v", updates)
		}
	})
	for _, j := range jobs {
		t.Run(j.name, func(t *testing.T) {
			last, updates := s.AwaitJob(t, j.id)
			want := all[j.name]
			if want.ends != "" {
				require.Equal(t, want.ends, last.Status, "%v", updates)
			}
			require.NotEmpty(t, updates)
			end := updates[len(updates)-1].Text
			require.Contains(t, end, want.says)
			require.Less(t, len(updates), 100, "a user reads a bounded number of sentences")
			for _, u := range updates {
				require.Less(t, len(u.Text), 2000)
				require.NotContains(t, u.Text, s.Env["SHARED_DIR"], "a user reads no path of the server")
			}
		})
	}
	t.Run("a retry", func(t *testing.T) { s.retry(t, "the files of a retry are staged through links") })
	s.requireIntact(t, maxMemory)
}

// retry retries the job of a dataset, as an operator does.
func (s *fixture) retry(t *testing.T, name string) {
	t.Helper()
	for _, r := range s.Records(t) {
		if r.Request.Name != name {
			continue
		}
		cmd := exec.CommandContext(t.Context(), s.program, "jobs", "retry", r.Run)
		cmd.Env = os.Environ()
		for k, v := range s.Env {
			cmd.Env = append(cmd.Env, k+"="+v)
		}
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.Eventually(t, func() bool { return s.Trainings.Load() > 0 && s.over(t, r.Run) }, stack.StepTimeout, 100*time.Millisecond)
	}
}

// over reports whether a run has ended after its retry.
func (s *fixture) over(t *testing.T, run string) bool {
	t.Helper()
	for _, r := range s.Records(t) {
		if r.Run == run {
			return !r.Active()
		}
	}
	return false
}

// requireIntact looks at all that the attacks were about.
func (s *fixture) requireIntact(t *testing.T, memory int64) {
	t.Helper()
	t.Run("nothing is written outside", func(t *testing.T) { require.Equal(t, s.before, snapshot(s.outside)) })
	s.stop()
	s.hostile.Wait()
	t.Run("nothing is leaked", func(t *testing.T) {
		require.NoError(t, filepath.WalkDir(s.bodies, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			body, err := os.ReadFile(path)
			require.NotContains(t, string(body), mark, path)
			return err
		}))
		s.RequireNoKey(t, s.service.Log())
	})
	t.Run("the service is alive and small", func(t *testing.T) {
		select {
		case <-s.service.Exited():
			require.Fail(t, "the service has ended")
		default:
		}
		peak := peakMemory(t, s.service.Pid())
		t.Logf("the service took at most %d MB", peak>>20)
		require.Less(t, peak, memory)
		id := s.Submit(t, s.Dataset, nil)
		last, updates := s.AwaitJob(t, id)
		require.Equal(t, "SUCCEEDED", last.Status, "%v", updates)
	})
}

// peakMemory is the most memory that a process has ever taken.
func peakMemory(t *testing.T, pid int) int64 {
	t.Helper()
	f, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), "VmHWM:"); ok {
			kb, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			require.NoError(t, err)
			return kb << 10
		}
	}
	require.Fail(t, "the kernel does not tell")
	return 0
}
