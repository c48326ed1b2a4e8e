package admission

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAUserWhoBringsVeryManyJobsHasThemSpread(t *testing.T) {
	t.Parallel()
	a := NewLimiter(60)
	wait := func(owner string, second int) time.Duration {
		return a.Reserve(owner, at(second)).DelayFrom(at(second)).Round(time.Second)
	}
	for i := range 60 {
		require.Zero(t, wait("alice", 0), "job %d", i)
	}
	require.Equal(t, time.Minute, wait("alice", 0))
	again := a.Reserve("alice", at(0))
	require.Equal(t, 2*time.Minute, again.DelayFrom(at(0)).Round(time.Second))
	again.CancelAt(at(0))
	require.Equal(t, 2*time.Minute, wait("alice", 0), "the token that was given back")
	require.Zero(t, wait("bob", 0), "others are not touched")
	require.Zero(t, wait("alice", 4*3600), "the bucket is full again")
	require.Zero(t, wait("carol", 12*3600))
	require.Len(t, a.buckets, 1, "full buckets are forgotten")
}

func TestWithoutALimitNobodyWaits(t *testing.T) {
	t.Parallel()
	a := NewLimiter(0)
	for range 1000 {
		require.Zero(t, a.Reserve("alice", at(0)).DelayFrom(at(0)))
	}
}
