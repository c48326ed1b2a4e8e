package admission

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// at is a moment by its number.
func at(n int) time.Time { return time.Unix(int64(n), 0) }

// crowd is a queue with the jobs that it admitted later.
type crowd struct {
	*Queue
	called []string
}

func newCrowd(places, each int) *crowd {
	c := &crowd{}
	c.Queue = NewQueue("Waiting for x", places, each, func(run string) { c.called = append(c.called, run) })
	return c
}

// owner of a test's run is its first letter.
func owner(run string) string { return run[:1] }

func (c *crowd) all(runs ...string) {
	for i, run := range runs {
		c.Enter(run, owner(run), at(i))
	}
}

// drain lets one job after the other leave and returns the order in which the waiting ones were called.
func (c *crowd) drain() []string {
	for len(c.admitted) > 0 {
		for run := range c.admitted {
			c.Leave(run)
			break
		}
	}
	return c.called
}

func TestUsersTakeTurns(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		places, each int
		runs         []string
		want         []string
	}{
		"one user's jobs go in the order in which they came": {1, 0, []string{"x1", "a1", "a2", "a3"}, []string{"a1", "a2", "a3"}},
		"a late user does not wait for all jobs of another":  {1, 0, []string{"x1", "a1", "a2", "a3", "b1"}, []string{"a1", "b1", "a2", "a3"}},
		"three users":                      {1, 0, []string{"x1", "a1", "a2", "b1", "b2", "c1"}, []string{"a1", "b1", "c1", "a2", "b2"}},
		"a user at the limit is passed by": {2, 1, []string{"a1", "a2", "b1", "b2", "c1"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCrowd(tc.places, tc.each)
			c.all(tc.runs...)
			if tc.want != nil {
				require.Equal(t, tc.want, c.drain())
				return
			}
			require.Contains(t, c.admitted, "a1")
			require.Contains(t, c.admitted, "b1", "a2 would be the second of its user")
			c.Leave("b1")
			require.Equal(t, []string{"b2"}, c.called, "a2 came earlier and still waits for a1")
			c.Leave("a1")
			require.Equal(t, []string{"b2", "a2"}, c.called)
		})
	}
}

func TestThePlaceThatIsToldIsTheOneThatComes(t *testing.T) {
	t.Parallel()
	for seed := range 200 {
		r := rand.New(rand.NewPCG(uint64(seed), 0))
		c := newCrowd(1, 0)
		c.all("x1")
		var runs []string
		for i := range 1 + r.IntN(12) {
			runs = append(runs, fmt.Sprintf("%c%02d", 'a'+rune(r.IntN(4)), i))
		}
		c.all(runs...)
		for range r.IntN(4) { // turns that were taken change who is next
			for run := range c.admitted {
				c.Leave(run)
			}
		}
		passed := len(c.called)
		told := map[string]int{}
		for _, run := range runs {
			if place, news := c.PositionUpdate(run, at(100)); news {
				told[run] = place.Ahead
			}
		}
		for i, run := range c.drain()[passed:] {
			require.Equal(t, i, told[run], "seed %d: %s in %v", seed, run, c.called)
		}
		require.Len(t, c.called, len(runs))
	}
}

func TestAPlaceIsToldWhenItChangesAndNotTooOften(t *testing.T) {
	t.Parallel()
	c := newCrowd(1, 0)
	c.all("x1", "a1", "b1", "c1")
	place, news := c.PositionUpdate("c1", at(100))
	require.True(t, news)
	require.Equal(t, Position{Ahead: 2}, place)
	_, news = c.PositionUpdate("c1", at(200))
	require.False(t, news, "nothing has changed")
	c.Leave("x1")
	_, news = c.PositionUpdate("c1", at(201))
	require.True(t, news)
	c.Leave("a1")
	_, news = c.PositionUpdate("c1", at(202))
	require.False(t, news, "it was told a second ago")
	place, news = c.PositionUpdate("c1", at(231))
	require.True(t, news)
	require.Equal(t, Position{}, place)
	_, news = c.PositionUpdate("b1", at(300))
	require.False(t, news, "who is inside has no place in the line")
}

func TestAUserAtTheLimitWaitsForTheOwnJobs(t *testing.T) {
	t.Parallel()
	c := newCrowd(0, 1)
	c.all("a1", "a2", "a3", "b1")
	place, _ := c.PositionUpdate("a3", at(100))
	require.Equal(t, Position{Ahead: 1, OwnLimit: true}, place)
	inside, waiting := c.Size()
	require.Equal(t, []int{2, 2}, []int{inside, waiting})
}

func TestWhoLeavesTheLineKeepsNobodyWaiting(t *testing.T) {
	t.Parallel()
	c := newCrowd(1, 0)
	c.all("x1", "a1", "b1")
	c.Leave("a1")
	c.Leave("a1")
	c.Leave("x1")
	require.Equal(t, []string{"b1"}, c.called)
	require.True(t, c.Enter("b1", "b", at(0)), "who was called is inside")
	c.Leave("b1")
	require.Empty(t, c.held)
	require.Empty(t, c.turns)
	require.Empty(t, c.waiting)
}

func TestJobsThatWereOnTheirWayAreSeatedBeyondTheLimit(t *testing.T) {
	t.Parallel()
	c := newCrowd(1, 0)
	c.Restore("a1", "a")
	c.Restore("a2", "a")
	c.Restore("a2", "a")
	c.all("b1")
	c.Leave("a1")
	require.Empty(t, c.called, "the limit was lowered: one must leave first")
	c.Leave("a2")
	require.Equal(t, []string{"b1"}, c.called)
}

func TestAPositionIsDescribedForItsUser(t *testing.T) {
	t.Parallel()
	for want, tc := range map[string]struct {
		position Position
		perUser  int
	}{
		"Waiting for x: next in the queue":                                                     {Position{}, 0},
		"Waiting for x: 1 job ahead in the queue":                                              {Position{Ahead: 1}, 0},
		"Waiting for x: 3 jobs ahead in the queue":                                             {Position{Ahead: 3}, 0},
		"Waiting for x: the limit is 1 job per user at a time":                                 {Position{OwnLimit: true}, 1},
		"Waiting for x: the limit is 2 jobs per user at a time, and 1 job of yours is ahead":   {Position{OwnLimit: true, Ahead: 1}, 2},
		"Waiting for x: the limit is 2 jobs per user at a time, and 3 jobs of yours are ahead": {Position{OwnLimit: true, Ahead: 3}, 2},
	} {
		require.Equal(t, want, NewQueue("Waiting for x", 1, tc.perUser, nil).Describe(tc.position))
	}
	require.Empty(t, NewQueue("", 1, 0, nil).Describe(Position{Ahead: 3}), "nobody waits long there")
}
