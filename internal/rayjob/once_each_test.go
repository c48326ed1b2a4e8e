package rayjob_test

import (
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/rayjob"
)

func TestEachWordIsWarnedAboutOnce(t *testing.T) {
	t.Parallel()
	var warned rayjob.OnceEach
	var all sync.WaitGroup
	var first atomic.Int32
	for range 10 {
		all.Go(func() {
			if warned.First("HIBERNATING") {
				first.Add(1)
			}
		})
	}
	all.Wait()
	require.EqualValues(t, 1, first.Load())
	require.True(t, warned.First(""), "no word is a word")

	many := 2
	for i := range 100 {
		if warned.First(strconv.Itoa(i)) {
			many++
		}
	}
	require.Equal(t, 32, many, "foreign texts do not fill the memory")
}
