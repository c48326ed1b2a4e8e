package clowder_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/ncsa/clowder-ray/test/broker"
	"github.com/ncsa/clowder-ray/test/bubble"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(serveVar); dir != "" {
		os.Exit(serveDouble(dir)) //nolint:forbidigo // this process is the double of a benchmark
	}
	bubble.OneProcessor()
	goleak.VerifyTestMain(broker.Main(m))
}
