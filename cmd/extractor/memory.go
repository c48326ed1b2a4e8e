package main

import (
	"errors"
	"math"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/dustin/go-humanize"
)

// memoryShare is the share of the container's memory that Go's garbage collector aims to stay below. The rest is for memory that
// Go does not count: SQLite's pages and mapped files.
const memoryShare = 0.9

// limitMemory sets Go's memory limit below the limit of the container, unless GOMEMLIMIT is set. It returns the limit in words
// for the log. Without a container limit it changes nothing.
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
