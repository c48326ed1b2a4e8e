//go:build race

package bubble

import "runtime"

// OneProcessor runs the goroutines of this test process one at a time if it has the race detector. Call it from TestMain.
//
// With the race detector, two timers of one bubble that fire on two threads at the same moment end the process with
// "ThreadSanitizer: CHECK failed" (https://go.dev/issue/78156, seen with Go 1.26.8). Races are found all the same:
// the detector compares the order of events and not their times.
func OneProcessor() { runtime.GOMAXPROCS(1) }
