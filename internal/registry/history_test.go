package registry

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/disk"
)

func TestAHistoryHasEachRunOnceAndIsBounded(t *testing.T) {
	t.Parallel()
	r, of := New(disk.Folder{Volume: t.TempDir()}), Dataset{Clowder: "https://clowder.example.org", ID: "655fd7c3e4b0a1b2c3d4e5f6"}
	none, err := r.History(of, "birds")
	require.NoError(t, err)
	require.Empty(t, none)
	begin := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	entry := func(i int) Prediction {
		return Prediction{Run: fmt.Sprintf("pr-%d", i), At: begin.Add(time.Duration(i) * time.Hour), Version: 1, File: "a.csv", Files: 1, Rows: i, Counts: map[string]int{"wren": i}}
	}
	for _, i := range []int{2, 1, 3, 2} { // one is delivered again after a kill, one came late
		require.NoError(t, r.Remember(of, "birds", entry(i), Answers{}))
	}
	all, err := r.History(of, "birds")
	require.NoError(t, err)
	require.Equal(t, []Prediction{entry(1), entry(2), entry(3)}, all)
	for i := range maxPredictions {
		require.NoError(t, r.Remember(of, "birds", entry(10+i), Answers{}))
	}
	all, err = r.History(of, "birds")
	require.NoError(t, err)
	require.Len(t, all, maxPredictions)
	require.Equal(t, entry(10), all[0])

	path := r.named(of.Folder(), "birds").In(historyFile).Path()
	require.NoError(t, os.WriteFile(path, []byte("{"), 0o600))
	_, err = r.History(of, "birds")
	require.ErrorIs(t, err, ErrUnreadable)
	require.NoError(t, r.Remember(of, "birds", entry(1), Answers{}), "it is replaced")
	all, err = r.History(of, "birds")
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.Error(t, r.Remember(of, "../birds", entry(1), Answers{}))
}

func TestTheMostFrequentClassesAreCounted(t *testing.T) {
	t.Parallel()
	counts := map[string]int{}
	for i := range 50 {
		counts[fmt.Sprintf("class %02d", i)] = i
	}
	kept := MostFrequent(counts)
	require.Len(t, kept, maxHistoryClasses)
	require.Equal(t, 49, kept["class 49"])
	require.NotContains(t, kept, "class 29")
}
