package attempt

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestWaitingLine(t *testing.T) {
	t.Parallel()
	until := time.Date(2026, time.May, 4, 23, 59, 30, 0, time.FixedZone("", -3600))
	for name, tc := range map[string]struct {
		what   string
		waited time.Duration
		want   string
	}{
		"at first":                {"waiting for 2 of 4 workers: no node has 1 GPU free", 59 * time.Second, "waiting for 2 of 4 workers: no node has 1 GPU free"},
		"at first, for no reason": {"", 0, "waiting for Ray to start the job"},
		"after a while": {
			"waiting for 2 of 4 workers: no node has 1 GPU free", time.Minute,
			"waiting for 2 of 4 workers: no node has 1 GPU free; if this lasts until 5 May 00:59 UTC, the job fails",
		},
		"after a while, for no reason": {
			"", time.Hour, "waiting for Ray to start the job; if this lasts until 5 May 00:59 UTC, the job fails",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, waitingLine(tc.what, tc.waited, until))
		})
	}
}
