package main

import (
	"errors"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"

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

const (
	// calmPercent is Go's own default: the heap may double between two collections.
	calmPercent = 100
	// busyHeap is how large a small heap may become in bytes while many jobs are at work. Ten megabytes are in use then, and to collect at every
	// twenty costs a twentieth of the processor time.
	busyHeap = 48 << 20
	// collectAfter is the time between two collections that is long enough for them to cost nothing.
	collectAfter = time.Second
)

// collectLess makes collections rarer while the program allocates fast, unless GOGC is set. After that the heap becomes small again. A limit of
// the memory stays a limit.
func collectLess() {
	if os.Getenv("GOGC") != "" {
		return
	}
	c := &collections{at: time.Now(), read: []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/heap/allocs:bytes"}}}
	metrics.Read(c.read)
	c.allocated = c.read[1].Value.Uint64()
	c.await()
}

// collections sees each collection of garbage: how much is in use after it, and how much was allocated since the one before.
type collections struct {
	at        time.Time
	allocated uint64
	read      []metrics.Sample
}

// await calls next after the next collection.
func (c *collections) await() {
	garbage := new([1 << 6]byte)
	runtime.AddCleanup(garbage, (*collections).next, c)
}

func (c *collections) next() {
	metrics.Read(c.read)
	now, live, allocated := time.Now(), c.read[0].Value.Uint64(), c.read[1].Value.Uint64()
	debug.SetGCPercent(gcPercent(live, allocated-c.allocated, now.Sub(c.at)))
	c.at, c.allocated = now, allocated
	c.await()
}

// gcPercent is by how many percent the heap may grow until the next collection, where live bytes are in use and so many were allocated in a time.
func gcPercent(live, allocated uint64, in time.Duration) int {
	rate := float64(allocated) / max(in, time.Microsecond).Seconds()
	if live == 0 || live >= busyHeap/2 || rate*collectAfter.Seconds() < float64(live) {
		return calmPercent
	}
	return int(min(busyHeap*100/max(live, busyHeap/8)-100, 700))
}
