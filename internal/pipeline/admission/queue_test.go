package admission

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// at is a moment by its number.
func at(n int) time.Time { return time.Unix(int64(n), 0) }

// fixture is a queue with the jobs that it admitted later.
type fixture struct {
	*Queue
	called []string
}

func newCrowd(places, each int) *fixture {
	c := &fixture{}
	c.Queue = NewQueue("Waiting for x", places, each, func(run string) { c.called = append(c.called, run) })
	return c
}

// owner of a test's run is its first letter.
func owner(run string) string { return run[:1] }

func (f *fixture) all(runs ...string) {
	for i, run := range runs {
		f.Enter(run, owner(run), at(i))
	}
}

// drain lets one job after the other leave and returns the order in which the waiting ones were called.
func (f *fixture) drain() []string {
	for len(f.admitted) > 0 {
		for run := range f.admitted {
			f.Leave(run)
			break
		}
	}
	return f.called
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
			f := newCrowd(tc.places, tc.each)
			f.all(tc.runs...)
			if tc.want != nil {
				require.Equal(t, tc.want, f.drain())
				return
			}
			require.Contains(t, f.admitted, "a1")
			require.Contains(t, f.admitted, "b1", "a2 would be the second of its user")
			f.Leave("b1")
			require.Equal(t, []string{"b2"}, f.called, "a2 came earlier and still waits for a1")
			f.Leave("a1")
			require.Equal(t, []string{"b2", "a2"}, f.called)
		})
	}
}

func TestThePlaceThatIsToldIsTheOneThatComes(t *testing.T) {
	t.Parallel()
	for seed := range 200 {
		r := rand.New(rand.NewPCG(uint64(seed), 0))
		f := newCrowd(1, 0)
		f.all("x1")
		var runs []string
		for i := range 1 + r.IntN(12) {
			runs = append(runs, fmt.Sprintf("%c%02d", 'a'+rune(r.IntN(4)), i))
		}
		f.all(runs...)
		for range r.IntN(4) { // turns that were taken change who is next
			for run := range f.admitted {
				f.Leave(run)
			}
		}
		passed := len(f.called)
		told := map[string]int{}
		for _, run := range runs {
			if place, news := f.PositionUpdate(run, at(100)); news {
				told[run] = place.Ahead
			}
		}
		for i, run := range f.drain()[passed:] {
			require.Equal(t, i, told[run], "seed %d: %s in %v", seed, run, f.called)
		}
		require.Len(t, f.called, len(runs))
	}
}

func TestAPlaceIsToldWhenItChangesAndNotTooOften(t *testing.T) {
	t.Parallel()
	f := newCrowd(1, 0)
	f.all("x1", "a1", "b1", "c1")
	place, news := f.PositionUpdate("c1", at(100))
	require.True(t, news)
	require.Equal(t, Position{Ahead: 2}, place)
	_, news = f.PositionUpdate("c1", at(200))
	require.False(t, news, "nothing has changed")
	f.Leave("x1")
	_, news = f.PositionUpdate("c1", at(201))
	require.True(t, news)
	f.Leave("a1")
	_, news = f.PositionUpdate("c1", at(202))
	require.False(t, news, "it was told a second ago")
	place, news = f.PositionUpdate("c1", at(231))
	require.True(t, news)
	require.Equal(t, Position{}, place)
	_, news = f.PositionUpdate("b1", at(300))
	require.False(t, news, "who is inside has no place in the line")
}

func TestAUserAtTheLimitWaitsForTheOwnJobs(t *testing.T) {
	t.Parallel()
	f := newCrowd(0, 1)
	f.all("a1", "a2", "a3", "b1")
	place, _ := f.PositionUpdate("a3", at(100))
	require.Equal(t, Position{Ahead: 1, OwnLimit: true}, place)
	inside, waiting := f.Size()
	require.Equal(t, []int{2, 2}, []int{inside, waiting})
}

func TestWhoLeavesTheLineKeepsNobodyWaiting(t *testing.T) {
	t.Parallel()
	f := newCrowd(1, 0)
	f.all("x1", "a1", "b1")
	f.Leave("a1")
	f.Leave("a1")
	f.Leave("x1")
	require.Equal(t, []string{"b1"}, f.called)
	require.True(t, f.Enter("b1", "b", at(0)), "who was called is inside")
	f.Leave("b1")
	require.Empty(t, f.held)
	require.Empty(t, f.turns)
	require.Empty(t, f.waiting)
}

func TestJobsThatWereOnTheirWayAreSeatedBeyondTheLimit(t *testing.T) {
	t.Parallel()
	f := newCrowd(1, 0)
	f.Restore("a1", "a")
	f.Restore("a2", "a")
	f.Restore("a2", "a")
	f.all("b1")
	f.Leave("a1")
	require.Empty(t, f.called, "the limit was lowered: one must leave first")
	f.Leave("a2")
	require.Equal(t, []string{"b1"}, f.called)
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

// TestAJobThatYieldsLetsOthersGoFirst at once, whenever they come, and no more of them than there are slots.
func TestAJobThatYieldsLetsOthersGoFirst(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		slots     int
		before    []string // that enter before the job a1 yields, beside it
		after     []string
		had       []string // those that have a slot then
		wanted    bool
		afterward []string // who has a slot when a1 has left
	}{
		"nobody comes":                           {1, nil, nil, []string{"a1"}, false, nil},
		"another user comes later":               {1, nil, []string{"b1"}, []string{"b1"}, true, []string{"b1"}},
		"another user waits already":             {1, []string{"b1"}, nil, []string{"b1"}, true, []string{"b1"}},
		"the second of another user waits":       {1, nil, []string{"b1", "b2"}, []string{"b1"}, true, []string{"b1"}},
		"a job of the same user waits":           {1, nil, []string{"a2"}, []string{"a1"}, false, []string{"a2"}},
		"the same user is before another one":    {1, nil, []string{"a2", "b1"}, []string{"b1"}, true, []string{"b1"}},
		"a slot is free":                         {2, nil, []string{"b1"}, []string{"a1", "b1"}, false, []string{"b1"}},
		"the slots are full of jobs that do not": {2, []string{"c1"}, []string{"b1"}, []string{"b1", "c1"}, true, []string{"b1", "c1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newCrowd(tc.slots, 0)
			f.all(append([]string{"a1"}, tc.before...)...)
			f.Yield("a1")
			f.all(tc.after...)
			require.ElementsMatch(t, tc.had, slices.Collect(maps.Keys(f.admitted)))
			require.Equal(t, tc.wanted, f.Wanted("a1"))
			f.Leave("a1")
			require.ElementsMatch(t, tc.afterward, slices.Collect(maps.Keys(f.admitted)))
			require.False(t, f.Enter("a1", "a", at(0)) && tc.slots == len(tc.afterward), "it queues again")
		})
	}
}

// TestFewJobsAreAside: as many as there are slots. The next one keeps its slot to the end of its part.
func TestFewJobsAreAside(t *testing.T) {
	t.Parallel()
	f := newCrowd(1, 0)
	f.all("a1")
	f.Yield("a1")
	f.all("b1")
	f.Yield("b1")
	f.all("c1")
	require.Contains(t, f.admitted, "b1", "a1 is aside")
	require.True(t, f.Wanted("a1"))
	require.True(t, f.Wanted("b1"))
	f.Leave("a1")
	require.Contains(t, f.admitted, "c1", "b1 is aside now")
	require.False(t, f.Enter("b1", "b", at(0)), "it comes back after c1")
	f.Leave("c1")
	require.Contains(t, f.admitted, "b1")
	f.Yield("z9")
	require.Empty(t, f.yielding, "one without a slot has none to give, and one that comes back has not said that it yields")
}
