//go:build integration

// Package bench measures the service as a process beside a real RabbitMQ and the doubles of Clowder and Ray.
package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/ncsa/clowder-ray/internal/rayjob/raytest"
	"github.com/ncsa/clowder-ray/test/broker"
	"github.com/ncsa/clowder-ray/test/cluster"
	"github.com/ncsa/clowder-ray/test/stack"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(cluster.Main(broker.Main(m))) }

// BenchmarkDelivery publishes one message after the other and measures how long it takes from the publishing to the first
// status and to the submission on Ray, each with a dataset of one small file.
func BenchmarkDelivery(b *testing.B) {
	program := stack.Program(b)
	w := stack.NewFixture(b, program, map[string]string{"train.csv": "text,label\ngood,yes\nbad,no\n"})
	submitted := make(chan time.Time, 1)
	w.OnTraining(func(raytest.Driver) { submitted <- time.Now() })
	release := w.HoldTrainings() // as in real life, where a training takes longer than a submission
	defer release()
	s := w.Start(b, map[string]string{"LOG_LEVEL": "warn", "MAX_JOBS": "100000", "RAY_POLL": "2s"})
	conn, err := amqp.Dial(w.Env["RABBITMQ_URI"])
	require.NoError(b, err)
	defer func() { require.NoError(b, conn.Close()) }()
	ch, err := conn.Channel()
	require.NoError(b, err)
	reply, err := ch.QueueDeclare("", false, true, true, false, nil)
	require.NoError(b, err)
	statuses, err := ch.Consume(reply.Name, "", true, true, false, false, nil)
	require.NoError(b, err)
	first := newFirsts(statuses)

	var toStatus, toRay []time.Duration
	n := 0
	for b.Loop() {
		n++
		id := fmt.Sprintf("%024x", n)
		seen := first.expect(id)
		began := time.Now()
		publish(b, ch, w, id, reply.Name)
		toStatus = append(toStatus, (<-seen).Sub(began))
		toRay = append(toRay, (<-submitted).Sub(began))
	}
	report(b, toStatus, "first-status")
	report(b, toRay, "submission")
	reportMemory(b, s.Pid())
}

func publish(b *testing.B, ch *amqp.Channel, w *stack.Fixture, id, reply string) {
	b.Helper()
	body, err := json.Marshal(map[string]any{
		"host": w.Clowder.URL, "secretKey": w.Clowder.Key(stack.User), "retry_count": 0, "resource_type": "dataset", "flags": "",
		"datasetName": "Reviews", "id": w.Dataset, "datasetId": w.Dataset, "job_id": id, "parameters": map[string]any{"run_name": id},
	})
	require.NoError(b, err)
	require.NoError(b, ch.PublishWithContext(b.Context(), "", stack.Extractor, true, false, amqp.Publishing{Body: body, ReplyTo: reply}))
}

// firsts tells when the first status of a job came.
type firsts struct {
	mu   sync.Mutex
	wait map[string]chan time.Time
}

func newFirsts(statuses <-chan amqp.Delivery) *firsts {
	f := &firsts{wait: map[string]chan time.Time{}}
	go func() {
		for d := range statuses {
			now := time.Now()
			var s struct {
				JobID string `json:"job_id"`
			}
			if json.Unmarshal(d.Body, &s) != nil {
				continue
			}
			f.mu.Lock()
			if c := f.wait[s.JobID]; c != nil {
				c <- now
				delete(f.wait, s.JobID)
			}
			f.mu.Unlock()
		}
	}()
	return f
}

func (f *firsts) expect(id string) <-chan time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := make(chan time.Time, 1)
	f.wait[id] = c
	return c
}

func report(b *testing.B, d []time.Duration, what string) {
	b.Helper()
	slices.Sort(d)
	for _, p := range []int{50, 99} {
		b.ReportMetric(d[(len(d)-1)*p/100].Seconds()*1000, fmt.Sprintf("ms-to-%s-p%d", what, p))
	}
}

// reportMemory reports the memory of a process: its own pages, the pages of its program file, which the kernel can drop at any time and shares
// between processes of one program, and the most of both that there was.
func reportMemory(b *testing.B, pid int) {
	b.Helper()
	b.ReportMetric(memoryMB(b, pid, "RssAnon"), "MB-own")
	b.ReportMetric(memoryMB(b, pid, "RssFile"), "MB-program-file")
	b.ReportMetric(memoryMB(b, pid, "VmHWM"), "MB-peak")
}

// memoryMB is the memory of a process as the system counts it in a field of its status.
func memoryMB(b *testing.B, pid int, field string) float64 {
	b.Helper()
	doc, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	require.NoError(b, err)
	for line := range strings.Lines(string(doc)) {
		if rest, ok := strings.CutPrefix(line, field+":"); ok {
			kib, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			require.NoError(b, err)
			return kib * 1024 / 1e6
		}
	}
	b.Fatal("no " + field)
	return 0
}
