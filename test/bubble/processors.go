//go:build !race

package bubble

// OneProcessor does nothing without the race detector, so that a benchmark has all processors.
func OneProcessor() {}
