package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAvailableMemory(t *testing.T) {
	t.Parallel()
	for info, want := range map[string]uint64{
		"MemTotal:       24683656 kB\nMemFree:        16000000 kB\nMemAvailable:   22500000 kB\n": 22_500_000 << 10,
		"MemTotal: 24683656 kB\n": 0,
		"":                        0,
		"MemAvailable: much kB\n": 0,
	} {
		require.Equal(t, want, available(info), info)
	}
}
