package kuberay

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/ncsa/clowder-ray/test/bubble"
	"github.com/ncsa/clowder-ray/test/cluster"
)

func TestMain(m *testing.M) {
	bubble.OneProcessor()
	goleak.VerifyTestMain(cluster.Main(m))
}
