//go:build integration && !soak

package faults

// raced says that the service is built with the race detector.
const raced = true
