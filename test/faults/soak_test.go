//go:build integration && soak

package faults

import (
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/rayjob/raytest"
	"github.com/ncsa/clowder-ray/test/broker"
	"github.com/ncsa/clowder-ray/test/stack"
)

// program is the service without the race detector, which would halve the number of jobs.
var program = stack.Program

const (
	// backlog is how many jobs may be open at once; more are not submitted.
	backlog = 60
	// theEnd is how long the last jobs may take once everything is healed.
	theEnd = 10 * time.Minute
)

// soak is a fixture under random operations and faults. The seed decides the order of each; how they meet is a matter of time.
type soak struct {
	*fixture
	// random draws the operations, fate the faults.
	random, fate *rand.Rand
	service      *stack.Service
	// endFault ends the fault that is on, at the time until; nil where none is.
	endFault func(testing.TB)
	until    time.Time
	// ids are the trainings that were submitted; injected and asked count what was done.
	ids             []string
	injected, asked map[string]int
}

// TestSoak runs for SOAK (a minute where it is not set) with the seed SEED, or one that it prints.
func TestSoak(t *testing.T) {
	length, seed := time.Minute, uint64(time.Now().UnixNano())
	if text := os.Getenv("SOAK"); text != "" {
		var err error
		length, err = time.ParseDuration(text)
		require.NoError(t, err)
	}
	if text := os.Getenv("SEED"); text != "" {
		var err error
		seed, err = strconv.ParseUint(text, 10, 64)
		require.NoError(t, err)
	}
	t.Logf("again with: make soak SOAK=%s SEED=%d", length, seed)
	s := newSoak(t, seed)
	for end := time.Now().Add(length); time.Now().Before(end); {
		s.step(t)
	}
	s.finish(t)
}

func newSoak(t *testing.T, seed uint64) *soak {
	t.Helper()
	s := &soak{
		fixture: newFixture(t, broker.Own(t)),
		random:  rand.New(rand.NewPCG(seed, 0)), fate: rand.New(rand.NewPCG(seed, 2)),
		injected: map[string]int{}, asked: map[string]int{},
	}
	for range 7 {
		dataset := s.Clowder.AddDataset(stack.User, "Reviews")
		_, err := s.Clowder.AddFile(dataset, "train.csv", strings.NewReader("text,label\ngood,yes\nbad,no\n"))
		require.NoError(t, err)
		s.datasets = append(s.datasets, dataset)
	}
	// A message that the broker loses is missed after a time that no other fault lasts.
	s.Env["RECOVER_EVERY"], s.Env["MAX_RUNNING"] = "15s", "8"
	pace := rand.New(rand.NewPCG(seed, 1))
	s.OnTraining(func(d raytest.Driver) {
		s.mu.Lock()
		pause := time.Duration(pace.IntN(1500)) * time.Millisecond
		s.mu.Unlock()
		s.noteTraining(d)
		<-time.After(pause)
	})
	s.service = s.start(t, nil)
	// A job that failed leaves its user known, without which nothing can be recovered.
	last, _ := s.AwaitJob(t, s.SubmitTo(t, stack.Extractor, s.Dataset, map[string]any{"task": "poetry"}))
	require.Equal(t, "ERROR", last.Status)
	return s
}

// step does one thing, and ends or begins a fault where it is time.
func (s *soak) step(t *testing.T) {
	t.Helper()
	switch {
	case s.endFault == nil && time.Now().After(s.until):
		s.inject(t)
	case s.endFault != nil && time.Now().After(s.until):
		s.clearFault(t)
	}
	pause := 100 * time.Millisecond
	if s.open() < backlog {
		s.operate(t)
		pause = time.Duration(s.random.IntN(300)) * time.Millisecond
	}
	<-time.After(pause)
}

// clearFault ends the fault that is on; the next one comes after two to five seconds.
func (s *soak) clearFault(t *testing.T) {
	t.Helper()
	if s.endFault != nil {
		s.endFault(t)
	}
	s.endFault, s.until = nil, time.Now().Add(2*time.Second+time.Duration(s.fate.IntN(3000))*time.Millisecond)
}

// open counts the jobs that have no end yet.
func (s *soak) open() int {
	over := map[string]bool{}
	for _, status := range s.statuses() {
		if status.terminal() {
			over[status.JobID] = true
		}
	}
	n := 0
	for _, id := range s.ids {
		if !over[id] {
			n++
		}
	}
	return n
}

// operate does what a user does. While Clowder has lost its broker it refuses, and the user comes again later.
func (s *soak) operate(t *testing.T) {
	t.Helper()
	dataset := s.datasets[s.random.IntN(len(s.datasets))]
	commands := []string{"cancel", "cancel", "stop and keep", "retry", "list"}
	drawn := s.random.IntN(5 * len(commands)) // four of five times it is a new job
	if drawn >= len(commands) || len(s.ids) == 0 {
		id, err := s.Session.Submit(t.Context(), dataset, stack.Extractor, map[string]any{"seed": s.random.IntN(1000)})
		if err == nil {
			s.ids = append(s.ids, id)
		}
		return
	}
	action := commands[drawn]
	s.asked[action]++
	id := s.ids[s.random.IntN(len(s.ids))]
	run := rayjob.RunName(s.Env["CLOWDER_URL"], stack.Extractor, id)
	j, err := s.Session.Job(t.Context(), id)
	require.NoError(t, err)
	_, _ = s.Session.Submit(t.Context(), j.Resource.ID, stack.Manager, map[string]any{"action": action, "run": run}) // may be refused as well
}

// finish removes all faults, waits for the last job, and checks.
func (s *soak) finish(t *testing.T) {
	t.Helper()
	s.clearFault(t)
	s.Clowder.ClearFaults()
	jobs := s.jobs(t)
	require.Eventually(t, func() bool {
		over := map[string]bool{}
		for _, status := range s.statuses() {
			over[status.JobID] = over[status.JobID] || status.terminal()
		}
		for _, j := range jobs {
			if !over[j.ID] {
				return false
			}
		}
		return true
	}, theEnd, time.Second, "the last jobs are not over\n%s", s.service.Log())
	ends := map[string]int{}
	for _, j := range s.jobs(t) {
		s.sent = append(s.sent, Sent{JobID: j.ID, Confirmed: true}) // also those that Clowder took and could not send
		ends[j.Status]++
	}
	t.Logf("%d jobs ended as %v after %d trainings in %d starts of the service; requests about runs: %v; faults: %v",
		len(s.sent), ends, s.Trainings.Load(), len(s.services), s.asked, s.injected)
	s.check(t)
}

// jobs are all jobs that Clowder knows.
func (s *soak) jobs(t *testing.T) (all []clowder.Job) {
	t.Helper()
	for _, id := range s.Clowder.Jobs() {
		j, err := s.Session.Job(t.Context(), id)
		require.NoError(t, err)
		all = append(all, j)
	}
	return all
}
