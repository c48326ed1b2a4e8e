//go:build integration && !soak

package faults

import "github.com/ncsa/clowder-ray/test/stack"

// program is the service, built with the race detector.
var program = stack.RaceProgram
