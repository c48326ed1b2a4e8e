package main

import (
	"errors"
	"math"
	"os"
	"runtime/debug"
	"testing"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/stretchr/testify/require"
)

func TestGoKeepsBelowTheMemoryOfTheContainer(t *testing.T) {
	unreadable := errors.New("no permission")
	for name, tc := range map[string]struct {
		container memlimit.Provider
		set       string
		want      string
		limit     int64
		err       error
	}{
		"a container of 512 MiB":          {memlimit.Limit(512 << 20), "", "461 MiB", 512 << 20 * 9 / 10, nil},
		"a limit in the environment":      {memlimit.Limit(512 << 20), "1GiB", "none", math.MaxInt64, nil}, // Go itself has read it at the start
		"a container without a limit":     {func() (uint64, error) { return 0, memlimit.ErrNoLimit }, "", "none", math.MaxInt64, nil},
		"no container":                    {func() (uint64, error) { return 0, memlimit.ErrNoCgroup }, "", "none", math.MaxInt64, nil},
		"a container that cannot be seen": {func() (uint64, error) { return 0, unreadable }, "", "none", math.MaxInt64, unreadable},
	} {
		t.Run(name, func(t *testing.T) {
			before := debug.SetMemoryLimit(math.MaxInt64)
			t.Cleanup(func() { debug.SetMemoryLimit(before) })
			t.Setenv("GOMEMLIMIT", tc.set)
			if tc.set == "" {
				require.NoError(t, os.Unsetenv("GOMEMLIMIT"))
			}
			limit, err := limitMemory(tc.container)
			require.ErrorIs(t, err, tc.err)
			require.Equal(t, tc.want, limit)
			require.InDelta(t, tc.limit, debug.SetMemoryLimit(-1), 1)
		})
	}
}
