//go:build integration

package faults

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/test/stack"
)

// The gauges of the process that must come back, with what may differ: connections that are kept open for the next job.
var gauges = map[string]float64{"go_goroutines": 12, "process_open_fds": 12}

// lastWords is how much of a log a failure shows.
const lastWords = 10_000

// check waits until everything is quiet, stops the service and requires that no promise was broken.
func (s *fixture) check(tb testing.TB) {
	tb.Helper()
	service := s.services[len(s.services)-1]
	await(tb, "the jobs are not over", s.quiet(tb))
	h := History{Sent: s.sent, Records: s.Records(tb), Gauges: s.gauges(tb, service), Texts: map[string]string{}}
	require.NoError(tb, service.Stop(time.Minute), service.Log())
	s.mu.Lock()
	h.Trainings = slices.Clone(s.trainings)
	maps.Copy(h.Texts, s.env)
	s.mu.Unlock()
	for i, service := range s.services {
		require.NotContains(tb, service.Log(), "DATA RACE")
		h.Trail = append(h.Trail, trail(tb, service.Log())...)
		h.Texts[fmt.Sprintf("the log of start %d", i+1)] = service.Log()
	}
	h.Statuses = s.statuses()
	for _, status := range h.Statuses {
		h.Texts["a status of "+status.JobID] += status.Text + "\n"
	}
	s.refused(tb, &h)
	s.volume(tb, &h)
	s.results(tb, &h)
	for _, v := range Check(h) {
		tb.Errorf("%s", v)
	}
	if tb.Failed() {
		tb.Logf("the service said at last:\n%s", service.Log()[max(0, len(service.Log())-lastWords):])
	}
}

// quiet reports whether every job of the store is over and every message is settled.
func (s *fixture) quiet(tb testing.TB) func() bool {
	tb.Helper()
	ch := s.channel(tb)
	return func() bool {
		for _, extractor := range []string{stack.Extractor, stack.Manager} {
			q, err := ch.QueueDeclarePassive(extractor, true, false, false, false, nil)
			require.NoError(tb, err)
			if q.Messages > 0 {
				return false
			}
		}
		return !slices.ContainsFunc(s.Records(tb), func(r job.Record) bool { return r.Active() })
	}
}

// gauges reads what must come back, and gives it some time to do so.
func (s *fixture) gauges(tb testing.TB, service *stack.Service) (all []Gauge) {
	tb.Helper()
	settled := func() bool {
		now := s.metrics(tb, service)
		all = nil
		fine := true
		for name, slack := range gauges {
			all = append(all, Gauge{Name: name, Before: s.baseline[name], After: now[name], Slack: slack})
			fine = fine && now[name] <= s.baseline[name]+slack
		}
		return fine
	}
	for end := time.Now().Add(20 * time.Second); !settled() && time.Now().Before(end); {
		<-time.After(200 * time.Millisecond)
	}
	unsettled := s.unsettled(tb)
	for end := time.Now().Add(20 * time.Second); unsettled > 0 && time.Now().Before(end); unsettled = s.unsettled(tb) { // Clowder may still have the last one
		<-time.After(200 * time.Millisecond)
	}
	return append(all, Gauge{Name: "unacknowledged messages", After: unsettled})
}

// unsettled is the number of unacknowledged messages in all queues, also those of Clowder.
func (s *fixture) unsettled(tb testing.TB) float64 {
	tb.Helper()
	vhost := s.uri[strings.LastIndex(s.uri, "/")+1:]
	out, err := s.broker.Eval(tb.Context(), `lists:sum([N || [{_, N}] <- rabbit_amqqueue:info_all(<<"`+vhost+`">>, [messages_unacknowledged])]).`)
	require.NoError(tb, err)
	n, err := strconv.ParseFloat(out, 64)
	require.NoError(tb, err)
	return n
}

// trail reads the changes of state in a log.
func trail(tb testing.TB, log string) (steps []Step) {
	tb.Helper()
	lines := bufio.NewScanner(strings.NewReader(log))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line struct {
			Msg, Run, State string
			Attempt         int
		}
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "job" {
			steps = append(steps, Step{line.Run, line.Attempt, job.State(line.State)})
		}
	}
	require.NoError(tb, lines.Err())
	return steps
}

// statuses are those that the service sent. One that RabbitMQ handed to Clowder a second time is Clowder's own matter.
func (s *fixture) statuses() (all []Status) {
	for _, told := range s.Clowder.ReceivedStatuses() {
		status := Status{told.JobID, told.Status, told.Text}
		if !told.Again || !slices.Contains(all, status) {
			all = append(all, status)
		}
	}
	return all
}

// refused empties the error queue: its headers are read, and its jobs are not lost.
func (s *fixture) refused(tb testing.TB, h *History) {
	tb.Helper()
	ch := s.channel(tb)
	for {
		d, ok, err := ch.Get("error."+stack.Extractor, true)
		require.NoError(tb, err)
		if !ok {
			return
		}
		h.Texts["the headers of the error queue"] += fmt.Sprint(d.Headers)
		var body struct {
			JobID string `json:"job_id"`
		}
		if json.Unmarshal(d.Body, &body) == nil && body.JobID != "" {
			h.Waiting = append(h.Waiting, body.JobID)
		}
	}
}

// volume reads everything that lies on the shared volume.
func (s *fixture) volume(tb testing.TB, h *History) {
	tb.Helper()
	root := os.DirFS(s.Env["SHARED_DIR"])
	parts := 0.0
	require.NoError(tb, fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		if strings.HasSuffix(name, ".part") || strings.HasPrefix(path.Base(name), ".part-") {
			parts++
		}
		body, err := fs.ReadFile(root, name)
		h.Texts[name] = string(body)
		return err
	}))
	if len(s.services) == 1 { // what a killed one left is removed when it is a day old
		h.Gauges = append(h.Gauges, Gauge{Name: "half-written files", After: parts})
	}
}

// results reads what Clowder holds beside the user's own files.
func (s *fixture) results(tb testing.TB, h *History) {
	tb.Helper()
	short := map[string]string{} // a folder names its run in short
	for _, r := range h.Records {
		short[strings.TrimPrefix(r.Run, "ft-")[:8]] = r.Run
	}
	for _, dataset := range s.datasets {
		s.resultsIn(tb, dataset, short, h)
	}
}

func (s *fixture) resultsIn(tb testing.TB, dataset string, short map[string]string, h *History) {
	tb.Helper()
	files, err := s.Session.Files(tb.Context(), dataset)
	require.NoError(tb, err)
	for _, f := range files {
		if path.Dir(f.Path) == "." {
			continue
		}
		file := s.file(tb, f)
		file.Dataset = dataset
		if names := strings.Split(f.Path, "/"); len(names) > 2 {
			file.Run = short[names[1][strings.LastIndex(names[1], "-")+1:]]
		}
		h.Files = append(h.Files, file)
	}
	notes, err := s.Session.Metadata(tb.Context(), dataset)
	require.NoError(tb, err)
	for _, n := range notes {
		run, _ := n.Content["run"].(string)
		h.Notes = append(h.Notes, Note{Run: run, Resource: dataset, Listener: n.Listener})
	}
}

func (s *fixture) file(tb testing.TB, f clowder.File) File {
	tb.Helper()
	file := File{Path: f.Path, Unfinished: f.InFlight}
	if !f.InFlight {
		body, err := s.Clowder.ReadFile(f.ID)
		require.NoError(tb, err)
		require.NotContains(tb, string(body), clowdertest.JobKeyMark, f.Path)
		sum := sha256.Sum256(body)
		file.SHA256 = hex.EncodeToString(sum[:])
	}
	return file
}
