package queue

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/ncsa/clowder-ray/test/broker"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(broker.Main(m)) }
