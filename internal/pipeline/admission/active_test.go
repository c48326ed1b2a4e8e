package admission

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestActiveJobsAreCountedOnceForEachUser(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change     func(a *Active)
		alice, bob int
	}{
		"nobody":                          {func(*Active) {}, 0, 0},
		"one job":                         {func(a *Active) { a.Add("r1", "alice") }, 1, 0},
		"the same job twice":              {func(a *Active) { a.Add("r1", "alice"); a.Add("r1", "alice") }, 1, 0},
		"the same job of another user":    {func(a *Active) { a.Add("r1", "alice"); a.Add("r1", "bob") }, 1, 0},
		"jobs of two users":               {func(a *Active) { a.Add("r1", "alice"); a.Add("r2", "bob"); a.Add("r3", "bob") }, 1, 2},
		"a job that is over":              {func(a *Active) { a.Add("r1", "alice"); a.Remove("r1") }, 0, 0},
		"a job that is over twice":        {func(a *Active) { a.Add("r1", "alice"); a.Add("r2", "alice"); a.Remove("r1"); a.Remove("r1") }, 1, 0},
		"a job that was never there":      {func(a *Active) { a.Remove("r9"); a.Add("r1", "alice") }, 1, 0},
		"a job that is over and is back":  {func(a *Active) { a.Add("r1", "alice"); a.Remove("r1"); a.Add("r1", "bob") }, 0, 1},
		"a job of a user without a name":  {func(a *Active) { a.Add("r1", "") }, 0, 0},
		"many jobs of which half is over": {func(a *Active) { addMany(a, "bob", 100); removeMany(a, 50) }, 0, 50},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := NewActive("training", 0)
			require.Equal(t, "training", a.Noun)
			tc.change(a)
			require.Equal(t, []int{tc.alice, tc.bob}, []int{a.Count("alice"), a.Count("bob")})
		})
	}
}

func addMany(a *Active, owner string, n int) {
	for i := range n {
		a.Add(fmt.Sprint("run ", i), owner)
	}
}

func removeMany(a *Active, n int) {
	for i := range n {
		a.Remove(fmt.Sprint("run ", i))
	}
}

func TestActiveForgetsUsersWhoseJobsAreOver(t *testing.T) {
	t.Parallel()
	a := NewActive("training", 10)
	require.Equal(t, 10, a.Limiter.PerHour)
	var changing sync.WaitGroup
	for user := range 8 {
		changing.Go(func() {
			for i := range 100 {
				run, owner := fmt.Sprintf("%d-%d", user, i), fmt.Sprint("user ", user)
				a.Add(run, owner)
				a.Remove(run)
			}
		})
	}
	changing.Wait()
	require.Empty(t, a.owners)
	require.Empty(t, a.counts)
}

func TestAQueueKnowsWhetherAnybodyWaitsOrWould(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		slots, perUser int
		runs           []string
		heldByA        int
		contended      bool
	}{
		"an empty queue":                  {1, 1, nil, 0, false},
		"no limit for a user":             {1, 0, []string{"a1", "a2", "b1"}, 1, false},
		"room for everybody":              {9, 2, []string{"a1", "b1"}, 1, false},
		"a user at the limit":             {9, 2, []string{"a1", "a2", "b1"}, 2, true},
		"a user beyond the limit":         {9, 2, []string{"a1", "a2", "a3"}, 2, true},
		"all slots taken and one waits":   {1, 2, []string{"a1", "b1"}, 1, true},
		"all slots taken and nobody else": {1, 2, []string{"a1"}, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newCrowd(tc.slots, tc.perUser)
			f.all(tc.runs...)
			require.Equal(t, tc.heldByA, f.HeldBy("a"))
			require.Equal(t, tc.contended, f.Contended())
			for _, run := range tc.runs {
				f.Leave(run)
			}
			require.False(t, f.Contended())
			require.Zero(t, f.HeldBy("a"))
		})
	}
}

func TestAQueueKeepsItsLimitsWhateverHappens(t *testing.T) {
	t.Parallel()
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 7))
		slots, perUser := r.IntN(4), r.IntN(3)
		f := newCrowd(slots, perUser)
		inside, present := map[string]bool{}, map[string]bool{}
		for moment := range 120 {
			run := fmt.Sprintf("%c%d", 'a'+rune(r.IntN(4)), r.IntN(6))
			if r.IntN(3) > 0 {
				if f.Enter(run, owner(run), at(moment)) {
					inside[run] = true
				}
				present[run] = true
			} else {
				f.Leave(run)
				delete(inside, run)
				delete(present, run)
			}
			for _, called := range f.called {
				require.False(t, inside[called], "seed %d: %s was called twice", seed, called)
				inside[called] = true
			}
			f.called = nil

			held := map[string]int{}
			for run := range inside {
				held[owner(run)]++
			}
			admitted, waiting := f.Size()
			require.Equal(t, []int{len(inside), len(present) - len(inside)}, []int{admitted, waiting}, "seed %d", seed)
			require.True(t, slots == 0 || admitted <= slots, "seed %d", seed)
			for _, user := range []string{"a", "b", "c", "d"} {
				require.Equal(t, held[user], f.HeldBy(user), "seed %d", seed)
				require.True(t, perUser == 0 || held[user] <= perUser, "seed %d", seed)
			}
			if slots > 0 && admitted == slots {
				continue
			}
			for run := range present {
				require.True(t, inside[run] || perUser > 0 && held[owner(run)] == perUser, "seed %d: %s waits beside a free slot", seed, run)
			}
		}
	}
}

func TestAJobThatEntersAgainKeepsItsPlace(t *testing.T) {
	t.Parallel()
	f := newCrowd(1, 0)
	f.all("x1", "a1", "a2")
	require.True(t, f.Enter("x1", "x", at(99)), "it has a slot already")
	require.False(t, f.Enter("a1", "a", at(99)), "it waits already")
	place, _ := f.PositionUpdate("a1", at(100))
	require.Zero(t, place.Ahead)
	place, _ = f.PositionUpdate("a2", at(100))
	require.Equal(t, 1, place.Ahead)
	f.Leave("never there")
	_, waiting := f.Size()
	require.Equal(t, 2, waiting)
}

func TestAnOlderJobOfAUserGoesFirstThoughItCameLater(t *testing.T) {
	t.Parallel()
	f := newCrowd(1, 0)
	f.Enter("x1", "x", at(0))
	f.Enter("a2", "a", at(20))
	f.Enter("a1", "a", at(10))
	f.Enter("a4", "a", at(30))
	f.Enter("a3", "a", at(30))
	f.Leave("x1")
	require.Equal(t, []string{"a1", "a2", "a3", "a4"}, append([]string(nil), f.drain()...))
}
