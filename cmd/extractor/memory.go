package main

import (
	"errors"
	"math"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/dustin/go-humanize"
)

// memoryShare is how much of the container's memory Go may fill before it collects garbage ever more often. The rest is for what
// it does not count: SQLite's pages, and mapped files.
const memoryShare = 0.9

// limitMemory has Go keep below what the container may use, as GOMEMLIMIT does; one that is set goes first. It returns the limit
// in words, for the log. Without a limit of the container nothing changes.
func limitMemory(container memlimit.Provider) (string, error) {
	limit, err := memlimit.Set(memlimit.WithRatio(memoryShare), memlimit.WithProvider(container))
	if errors.Is(err, memlimit.ErrNoCgroup) || errors.Is(err, memlimit.ErrCgroupsNotSupported) {
		err = nil
	}
	if limit <= 0 || limit == math.MaxInt64 {
		return "none", err
	}
	return humanize.IBytes(uint64(limit)), err
}
