package pipeline

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// next takes the run that is due, or none.
func next(s *schedule, now time.Time) string {
	run, _, _ := s.take(now)
	return run
}

func TestARunIsInOnePlaceAtATime(t *testing.T) {
	t.Parallel()
	s := newSchedule()
	s.add("late", at(10))
	s.touch("now")
	s.touch("now")
	require.Equal(t, "now", next(s, at(1)))
	_, wait, ok := s.take(at(1))
	require.False(t, ok)
	require.Equal(t, 9*time.Second, wait)
	s.touch("now") // while somebody works on it
	require.Empty(t, next(s, at(1)))
	s.put("now", at(1), time.Hour)
	require.Equal(t, "now", next(s, at(1)), "it was touched meanwhile")
	s.drop("now")
	require.False(t, s.has("now"))
	s.touch("late")
	require.Equal(t, "late", next(s, at(1)))
}

func TestAHeldRunIsNobodyElses(t *testing.T) {
	t.Parallel()
	s := newSchedule()
	s.touch("busy")
	require.False(t, s.hold("busy"))
	require.True(t, s.hold("over"))
	require.False(t, s.hold("over"))
	s.touch("over") // its job begins anew
	s.drop("over")
	require.Equal(t, "busy", next(s, at(1)))
	require.Equal(t, "over", next(s, at(1)))

	require.True(t, s.hold("resumed"))
	s.add("resumed", at(10))
	s.drop("resumed")
	require.Equal(t, "resumed", next(s, at(1)), "what is added while it is held is not forgotten")
	s.drop("resumed")

	require.True(t, s.hold("quiet"))
	s.drop("quiet")
	require.False(t, s.has("quiet"))
}
