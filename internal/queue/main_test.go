package queue

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/ncsa/clowder-ray/test/broker"
	"github.com/ncsa/clowder-ray/test/bubble"
)

func TestMain(m *testing.M) {
	bubble.OneProcessor()
	goleak.VerifyTestMain(broker.Main(m))
}
