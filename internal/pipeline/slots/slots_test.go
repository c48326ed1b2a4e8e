package slots

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
)

func newSlots(l Limits) *Slots {
	return New(l, Hooks{Wake: func(string) {}, Say: func(job.Record, string) {}, OnRay: func(int, int) {}})
}

func TestLooksAreSpreadWhereThereAreVeryMany(t *testing.T) {
	t.Parallel()
	s := newSlots(Limits{Jobs: 4})
	require.Zero(t, s.Pace())
	for i := range 10 * looksPerSecond {
		s.Ray.Restore(strconv.Itoa(i), "alice")
	}
	require.Equal(t, 10*time.Second, s.Pace())
}
