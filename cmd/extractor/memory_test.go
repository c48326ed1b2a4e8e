package main

import (
	"errors"
	"math"
	"os"
	"runtime/debug"
	"testing"
	"time"

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

func TestOnlyABusyProgramLetsASmallHeapGrow(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		live, allocated uint64
		in              time.Duration
		want            int
	}{
		"many jobs":                             {12 << 20, 12 << 20, 80 * time.Millisecond, 300},
		"many jobs, after the heap has grown":   {12 << 20, 36 << 20, 240 * time.Millisecond, 300},
		"many jobs and a tiny heap":             {1 << 20, 12 << 20, 80 * time.Millisecond, 700},
		"many jobs and a large heap":            {100 << 20, 100 << 20, 80 * time.Millisecond, 100},
		"trainings that run":                    {12 << 20, 12 << 20, 3 * time.Second, 100},
		"two collections at the same time":      {12 << 20, 1 << 10, 0, 300},
		"a heap of which nothing is known yet":  {0, 12 << 20, time.Second, 100},
		"the heap may become as it may already": {23 << 20, 48 << 20, 100 * time.Millisecond, 108},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, gcPercent(tc.live, tc.allocated, tc.in))
		})
	}
}
