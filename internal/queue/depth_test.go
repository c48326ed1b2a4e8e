//go:build integration

package queue

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDepthCountsWhatWaits(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	n, err := Depth(t.Context(), f.cfg)
	require.NoError(t, err)
	require.Zero(t, n, "the queue is not there yet")

	f.consume(fixedSlots(0), newInbox().handle)
	f.publish(3)
	require.Eventually(t, func() bool {
		n, err = Depth(t.Context(), f.cfg)
		return err == nil && n == 3
	}, soon, 10*time.Millisecond)

	f.cfg.URI = ""
	_, err = Depth(t.Context(), f.cfg)
	require.ErrorContains(t, err, SettingURI)
}
