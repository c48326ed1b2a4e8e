//go:build integration

package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
	"github.com/ncsa/clowder-ray/test/broker"
	"github.com/ncsa/clowder-ray/test/stack"
)

// digest is the queue of the extractor made with pyclowder, which tells from such a name that its messages are about datasets.
const digest = "versus.dataset.digest"

// How many messages each side gets in a round: pyclowder as it comes takes a second for each.
const (
	asItComes = 3
	quickened = 200
	served    = 2000
)

// BenchmarkVersus lets an extractor made with pyclowder and the service work through trivial jobs, one after the other on the
// same RabbitMQ and the same double of Clowder: a dataset of its own for each job, with one small file in it. pyclowder's adds
// one file and one metadata entry. The service's is a check of the settings, which Ray ends at once: three files in a folder,
// a visualization and a metadata entry. The service is measured once more up to the submission on Ray.
func BenchmarkVersus(b *testing.B) {
	// The doubles share both cores with what is measured: they trade memory, which the machine has, for processor time.
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	program := stack.Program(b)
	python := pyclowder(b)
	var rates, costs, ratesToRay, costsToRay ratios
	for b.Loop() {
		w := stack.NewFixtureWith(b, program, clowdertest.Options{AMQPURI: broker.ForTest(b).Vhost(b), Dir: inMemory(b)}, nil)
		s := w.Start(b, map[string]string{"LOG_LEVEL": "warn", "MAX_JOBS": strconv.Itoa(2 * served), "RAY_POLL": "500ms"})
		r := newRace(b, w)
		slow := r.extractor(b, python, "", asItComes)
		quick := r.extractor(b, python, "0.002", quickened)
		ours := r.run(b, stack.Extractor, s.Pid(), served)
		release := w.HoldTrainings()
		toRay := r.submissions(b, s.Pid(), served)
		require.NoError(b, s.Stop(time.Minute))
		release()
		b.Logf("pyclowder %s; its poll cut to 2 ms %s; the service %s; up to Ray %s", slow, quick, ours, toRay)
		rates, costs = append(rates, ours.rate/quick.rate), append(costs, ours.cost(quick))
		ratesToRay, costsToRay = append(ratesToRay, toRay.rate/quick.rate), append(costsToRay, toRay.cost(quick))
	}
	rates.report(b, "x-rate")
	costs.report(b, "x-cpu")
	ratesToRay.report(b, "x-rate-to-ray")
	costsToRay.report(b, "x-cpu-to-ray")
}

// inMemory is a folder without a disk where the system has one: what the double of Clowder keeps is not to take turns on the disk with what
// is measured.
func inMemory(b *testing.B) string {
	b.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "versus-") //nolint:usetesting // not in the folder for temporary files, which is on a disk
	if err != nil {
		return b.TempDir()
	}
	b.Cleanup(func() { require.NoError(b, os.RemoveAll(dir)) })
	return dir
}

// pyclowder is the Python of an environment that has it.
func pyclowder(b *testing.B) string {
	b.Helper()
	out, err := exec.CommandContext(b.Context(), filepath.Join(stack.Root(), "test", "bench", "versus_python.sh")).Output()
	require.NoError(b, err)
	return strings.TrimSpace(string(out))
}

// costs is what one side came to: messages each second, and what its process and the doubles used for each.
type costs struct {
	rate               float64
	processor, doubles time.Duration
}

// cost is the CPU of a message beside that of another side.
func (p costs) cost(other costs) float64 { return p.processor.Seconds() / other.processor.Seconds() }

func (p costs) String() string {
	return fmt.Sprintf("%.1f/s, %.1f ms of CPU (doubles %.1f)", p.rate, p.processor.Seconds()*1000, p.doubles.Seconds()*1000)
}

// comparison is what both sides have in common: the doubles and who reads the statuses.
type comparison struct {
	w        *stack.Fixture
	ch       *amqp.Channel
	reply    string
	statuses <-chan amqp.Delivery
	jobs     int
}

func newRace(b *testing.B, w *stack.Fixture) *comparison {
	b.Helper()
	conn, err := amqp.Dial(w.Env["RABBITMQ_URI"])
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, conn.Close()) })
	r := &comparison{w: w}
	r.ch, err = conn.Channel()
	require.NoError(b, err)
	reply, err := r.ch.QueueDeclare("", false, true, true, false, nil)
	require.NoError(b, err)
	r.reply = reply.Name
	r.statuses, err = r.ch.Consume(r.reply, "", true, true, false, false, nil)
	require.NoError(b, err)
	return r
}

// extractor runs the extractor made with pyclowder; poll is the pause of its main loop in seconds, empty for its own.
func (r *comparison) extractor(b *testing.B, python, poll string, messages int) costs {
	b.Helper()
	_, err := r.ch.QueueDeclare(digest, true, false, false, false, nil)
	require.NoError(b, err)
	cmd := exec.CommandContext(b.Context(), python, filepath.Join(stack.Root(), "test", "bench", "versus_pyclowder.py"))
	cmd.Dir = b.TempDir()
	info := `{"name": "` + digest + `", "version": "1.0", "description": "digests", "author": "", "contexts": [], "repository": [],
		"process": {"dataset": ["*"]}}`
	require.NoError(b, os.WriteFile(filepath.Join(cmd.Dir, "extractor_info.json"), []byte(info), 0o600))
	cmd.Env = append(os.Environ(), "RABBITMQ_URI="+r.w.Env["RABBITMQ_URI"], "CLOWDER_URL="+r.w.Clowder.URL, "CLOWDER_VERSION=2", "LOGGING=")
	if poll != "" {
		cmd.Env = append(cmd.Env, "POLL="+poll)
	}
	require.NoError(b, cmd.Start())
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	require.Eventually(b, func() bool {
		q, err := r.ch.QueueDeclarePassive(digest, true, false, false, false, nil)
		return err == nil && q.Consumers == 1
	}, stack.StepTimeout, 10*time.Millisecond)
	return r.run(b, digest, cmd.Process.Pid, messages)
}

// run measures from the first of the messages that lie in the queue to the last of their terminal statuses, after one job
// that warms up.
func (r *comparison) run(b *testing.B, queue string, pid, messages int) costs {
	b.Helper()
	r.publish(b, queue, r.bodies(b, 1))
	r.await(b, 1)
	return r.measure(b, queue, pid, messages, func() { r.await(b, messages) })
}

// submissions measures up to the last submission on Ray, where no training ends.
func (r *comparison) submissions(b *testing.B, pid, messages int) costs {
	b.Helper()
	before := r.w.Trainings.Load()
	return r.measure(b, stack.Extractor, pid, messages, func() {
		require.Eventually(b, func() bool { return r.w.Trainings.Load()-before == int64(messages) }, 10*stack.StepTimeout, 5*time.Millisecond)
	})
}

func (r *comparison) measure(b *testing.B, queue string, pid, messages int, await func()) costs {
	b.Helper()
	bodies := r.bodies(b, messages)
	used, own, began := processorTime(b, pid), processorTime(b, os.Getpid()), time.Now()
	r.publish(b, queue, bodies)
	await()
	took, n := time.Since(began), time.Duration(messages)
	return costs{
		rate: float64(messages) / took.Seconds(), processor: (processorTime(b, pid) - used) / n, doubles: (processorTime(b, os.Getpid()) - own) / n,
	}
}

// bodies makes as many datasets with one file and the messages about them.
func (r *comparison) bodies(b *testing.B, n int) [][]byte {
	b.Helper()
	var bodies [][]byte
	for range n {
		r.jobs++
		id := fmt.Sprintf("%024x", r.jobs)
		dataset := r.w.Clowder.AddDataset(stack.User, "Reviews")
		_, err := r.w.Clowder.AddFile(dataset, "train.csv", strings.NewReader("text,label\ngood,yes\nbad,no\n"))
		require.NoError(b, err)
		body, err := json.Marshal(map[string]any{
			"host": r.w.Clowder.URL, "secretKey": r.w.Clowder.Key(stack.User), "retry_count": 0, "resource_type": "dataset", "flags": "",
			"datasetName": "Reviews", "id": dataset, "datasetId": dataset, "job_id": id, "parameters": map[string]any{"dry_run": true},
		})
		require.NoError(b, err)
		bodies = append(bodies, body)
	}
	return bodies
}

func (r *comparison) publish(b *testing.B, queue string, bodies [][]byte) {
	b.Helper()
	for _, body := range bodies {
		require.NoError(b, r.ch.PublishWithContext(b.Context(), "", queue, true, false, amqp.Publishing{Body: body, ReplyTo: r.reply}))
	}
}

// await returns after n terminal statuses, each of which must tell of a success.
func (r *comparison) await(b *testing.B, n int) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), 10*stack.StepTimeout)
	defer cancel()
	for ended := 0; ended < n; {
		select {
		case d := <-r.statuses:
			require.NotContains(b, string(d.Body), "StatusMessage.error")
			if strings.Contains(string(d.Body), `StatusMessage.done: `) {
				ended++
			}
		case <-ctx.Done():
			require.Failf(b, "too slow", "%d of %d jobs have ended", ended, n)
		}
	}
}

// ratios are those of several rounds.
type ratios []float64

// report prints the median of the rounds and how far they lie apart.
func (r ratios) report(b *testing.B, unit string) {
	b.Helper()
	slices.Sort(r)
	b.ReportMetric(r[len(r)/2], unit)
	b.ReportMetric(r[0], unit+"-least")
	b.ReportMetric(r[len(r)-1], unit+"-most")
}
