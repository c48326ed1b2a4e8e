package runs

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
)

func TestTheNameOfADatasetIsAskedOnceAMinute(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.rename("ds1", "Film reviews", alice)
	ds, creator := f.dataset(f.as(alice), "ds1", "")
	require.Equal(t, Dataset{ID: "ds1", Name: "Film reviews"}, ds)
	require.Equal(t, alice, creator)
	f.rename("ds1", "Books", bob)
	ds, _ = f.dataset(f.as(alice), "ds1", "")
	require.Equal(t, "Film reviews", ds.Name)
	require.EqualValues(t, 1, f.asked.Load())
	f.pass(nameAge + time.Second)
	ds, creator = f.dataset(f.as(alice), "ds1", "")
	require.Equal(t, "Books", ds.Name)
	require.Equal(t, bob, creator)
	require.EqualValues(t, 2, f.asked.Load())
}

func TestWhereClowderDoesNotTellANameTheOneBeforeStands(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.down = errors.New("no answer")
	for given, want := range map[string]string{"Film reviews": "Film reviews", "": "ds1", "two\nlines": "two lines"} {
		ds, creator := f.dataset(f.as(alice), "ds1", given)
		require.Equal(t, Dataset{ID: "ds1", Name: want}, ds)
		require.Empty(t, creator)
	}
	f.down = nil
	f.rename("ds1", "Letters", alice)
	_, _ = f.dataset(f.as(alice), "ds1", "")
	f.down = clowder.NewAnswerError(503, "busy")
	f.pass(time.Hour)
	ds, creator := f.dataset(f.as(alice), "ds1", "of the record")
	require.Equal(t, "Letters", ds.Name)
	require.Equal(t, alice, creator)
}

func TestNamesAreBounded(t *testing.T) {
	t.Parallel()
	n := newNames()
	for i := range maxNames + 10 {
		n.keep(strconv.Itoa(i), knownName{name: "a dataset", at: noon})
	}
	require.Len(t, n.known, maxNames)
	require.Contains(t, n.known, strconv.Itoa(maxNames+9), "the newest stays")
}

func TestAChampionIsAskedAgainAfterTenSeconds(t *testing.T) {
	t.Parallel()
	version, asked := 1, 0
	c := &championCache{known: map[modelKey]cachedChampion{}, ask: func(dataset, name string) (int, string) {
		asked++
		return version, dataset + " " + name
	}}
	champion := func(at time.Time, name string) int {
		n, run := c.champion(at, "ds1", name)
		require.Equal(t, "ds1 "+name, run)
		return n
	}
	require.Equal(t, 1, champion(noon, "reviews"))
	version = 2
	require.Equal(t, 1, champion(noon.Add(championAge), "reviews"))
	require.Equal(t, 2, champion(noon, "letters"), "each model has its own")
	require.Equal(t, 2, champion(noon.Add(championAge+1), "reviews"))
	require.Equal(t, 3, asked)
	for i := range maxChampions + 5 {
		_ = champion(noon, strconv.Itoa(i))
	}
	require.LessOrEqual(t, len(c.known), maxChampions)
	n, run := (&championCache{}).champion(noon, "ds1", "reviews")
	require.Zero(t, n, "without a registry none is known")
	require.Empty(t, run)
}
