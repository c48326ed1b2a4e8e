//go:build integration

package faults

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/test/broker"
	"github.com/ncsa/clowder-ray/test/stack"
)

func TestAServiceThatIsPaused(t *testing.T) {
	t.Parallel()
	node := broker.Own(t)
	s := newFixture(t, node)
	release := s.HoldTrainings()
	service := s.start(t, nil)
	first := s.submit(t, nil)
	s.training(t, 1)
	require.NoError(t, syscall.Kill(service.Pid(), syscall.SIGSTOP))
	release()
	second := s.submit(t, map[string]any{"seed": 2})
	// To the broker it is gone: its connections are closed, and what it had in hand is in the queue again.
	_, err := node.Ctl(t.Context(), "close_all_connections", "a pause that is too long")
	require.NoError(t, err)

	other, err := stack.StartService(t.Context(), program(t), s.Env, nil)
	require.NoError(t, err)
	t.Cleanup(other.Kill)
	select {
	case <-other.Exited():
	case <-time.After(stepTimeout):
		t.Fatalf("two services work on one store\n%s", other.Log())
	}
	require.Contains(t, other.Log(), "STATE_DIR")
	require.NoError(t, syscall.Kill(service.Pid(), syscall.SIGCONT))
	s.succeeds(t, first)
	s.succeeds(t, second)
	require.EqualValues(t, 2, s.Trainings.Load())
	s.check(t)
}

func TestAServiceThatIsKilledAgainAndAgain(t *testing.T) {
	t.Parallel()
	s := newFixture(t, broker.ForTest(t))
	release := s.HoldTrainings()
	var ids []string
	for range 4 {
		service := s.start(t, map[string]string{"MAX_RUNNING": "2"})
		ids = append(ids, s.submit(t, nil))
		await(t, "the job is not taken", func() bool { return len(s.Records(t)) == len(ids) })
		service.Kill()
	}
	s.start(t, nil)
	release()
	for _, id := range ids {
		s.succeeds(t, id)
	}
	require.EqualValues(t, len(ids), s.Trainings.Load())
	s.check(t)
}

func TestRayForgetsItsTrainings(t *testing.T) {
	t.Parallel()
	s := newFixture(t, broker.ForTest(t))
	release := s.HoldTrainings()
	s.start(t, nil)
	id := s.submit(t, nil)
	s.training(t, 1)
	await(t, "the training is not seen", func() bool { return s.Records(t)[0].State == job.Running })
	s.Ray.Restart()
	s.training(t, 2)
	release()
	s.succeeds(t, id)
	require.Equal(t, 2, s.AwaitRecords(t, 1)[0].Attempt)
	s.check(t)
}
