package disk_test

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/disk"
)

func TestCallersThatComeWhileOneWorksShareTheNextCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var together disk.Together
		var group sync.WaitGroup
		full := errors.New("the disk is full")
		calls, release := 0, make(chan struct{})
		group.Go(func() {
			require.NoError(t, together.Do(func() error { calls++; <-release; return nil }), "the first caller waits for nobody")
		})
		synctest.Wait()
		for range 3 {
			group.Go(func() { require.ErrorIs(t, together.Do(func() error { calls++; return full }), full) })
		}
		synctest.Wait()
		require.Equal(t, 1, calls, "the work of the first caller may have begun before the changes of the others")
		close(release)
		group.Wait()
		require.Equal(t, 2, calls, "one call is for all who waited")
		require.NoError(t, together.Do(func() error { calls++; return nil }), "an error is for those who waited only")
		require.Equal(t, 3, calls)
	})
}
