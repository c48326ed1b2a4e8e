package runs

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// counted makes a submission with a number in its name.
func counted(n *int, at time.Time) func() (Sent, error) {
	return func() (Sent, error) {
		*n++
		return Sent{Run: fmt.Sprintf("ft-%d", *n), At: at}, nil
	}
}

func TestADoubleClickStartsOneRun(t *testing.T) {
	t.Parallel()
	s, n := newSubmissions(), 0
	for _, c := range []struct {
		session, key, want string
		at                 time.Time
		why                string
	}{
		{"alice", "k1", "ft-1", noon, ""},
		{"alice", "k1", "ft-1", noon.Add(time.Second), "the same form again"},
		{"alice", "k2", "ft-2", noon, "another form"},
		{"bob", "k1", "ft-3", noon, "the key of another person is another key"},
		{"alice", "", "ft-4", noon, "without a key"},
		{"alice", "", "ft-5", noon, "each submission is one"},
		{"alice", "k1", "ft-1", noon.Add(sentAge - 1), "keys are remembered"},
		{"alice", "k1", "ft-6", noon.Add(sentAge), "for an hour"},
	} {
		sent, err := s.make(c.session, c.key, c.at, counted(&n, c.at))
		require.NoError(t, err)
		require.Equal(t, c.want, sent.Run, c.why)
	}
}

func TestASubmissionThatFailedIsMadeAgain(t *testing.T) {
	t.Parallel()
	s, n := newSubmissions(), 0
	for _, key := range []string{"k", ""} {
		_, err := s.make("alice", key, noon, func() (Sent, error) { return Sent{Run: "ft-lost"}, errors.New("the line is cut") })
		require.EqualError(t, err, "the line is cut")
		_, ok := s.of("ft-lost", noon)
		require.False(t, ok, "what failed is not shown as on its way")
	}
	sent, err := s.make("alice", "k", noon, counted(&n, noon))
	require.NoError(t, err)
	require.Equal(t, "ft-1", sent.Run)
}

func TestClicksAtTheSameInstantStartOneRun(t *testing.T) {
	t.Parallel()
	s := newSubmissions()
	var made atomic.Int32
	var all sync.WaitGroup
	begin, got := make(chan struct{}), make([]string, 20)
	for i := range got {
		all.Go(func() {
			<-begin
			sent, err := s.make("alice", "k", noon, func() (Sent, error) { return Sent{Run: fmt.Sprintf("ft-%d", made.Add(1)), At: noon}, nil })
			if err == nil {
				got[i] = sent.Run
			}
		})
	}
	close(begin)
	all.Wait()
	require.EqualValues(t, 1, made.Load())
	for _, run := range got {
		require.Equal(t, "ft-1", run)
	}
}

func TestASubmissionIsOnItsWayForAnHour(t *testing.T) {
	t.Parallel()
	s, n := newSubmissions(), 0
	_, err := s.make("alice", "k", noon, counted(&n, noon))
	require.NoError(t, err)
	sent, ok := s.of("ft-1", noon.Add(sentAge-time.Second))
	require.True(t, ok)
	require.Equal(t, noon, sent.At)
	_, ok = s.of("ft-1", noon.Add(sentAge))
	require.False(t, ok)
	_, ok = s.of("ft-2", noon)
	require.False(t, ok)
	_, err = s.make("alice", "l", noon.Add(sentAge), counted(&n, noon.Add(sentAge)))
	require.NoError(t, err)
	require.Len(t, s.runs, 1, "what is old is forgotten")
	require.Len(t, s.keys, 1)
}

func TestSubmissionsAreBounded(t *testing.T) {
	t.Parallel()
	s, n := newSubmissions(), 0
	for i := range maxSent {
		s.runs[fmt.Sprintf("ft-old-%d", i)] = Sent{At: noon}
		s.keys[sentKey{"bob", strconv.Itoa(i)}] = &once{at: noon}
	}
	sent, err := s.make("alice", "k", noon, counted(&n, noon))
	require.NoError(t, err)
	require.LessOrEqual(t, len(s.runs), maxSent)
	require.LessOrEqual(t, len(s.keys), maxSent)
	_, ok := s.of(sent.Run, noon)
	require.True(t, ok, "the newest stays")
}
