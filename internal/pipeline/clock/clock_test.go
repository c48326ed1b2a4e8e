package clock

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestWhatAClockThatIsSetMakesOfATime(t *testing.T) {
	t.Parallel()
	const limit = time.Hour
	for name, tc := range map[string]struct {
		passed, since time.Duration
		aged          bool
	}{
		"now":                           {0, 0, false},
		"a moment ago":                  {500 * time.Millisecond, 500 * time.Millisecond, false},
		"a while ago":                   {time.Minute, time.Minute, true},
		"longer ago than may be unseen": {2 * time.Hour, limit / 2, true},
		"in a moment":                   {-500 * time.Millisecond, 0, false},
		"in the future":                 {-time.Hour, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := time.Now()
			c := New()
			c.Wall = func() time.Time { return now.Round(0) }
			stored := now.Add(-tc.passed).UTC()
			require.WithinDuration(t, now.Add(-tc.since), c.Since("ft-one", stored, limit/2), time.Second)
			require.Equal(t, tc.aged, c.Aged(stored, time.Second))
			first := c.Since("ft-one", stored, limit/2)
			now = now.Add(-limit)
			require.Equal(t, first, c.Since("ft-one", stored, limit/2), "the first answer stands")
			c.Forget("ft-one")
			require.NotEqual(t, first, c.Since("ft-one", stored, limit/2))
		})
	}
}
