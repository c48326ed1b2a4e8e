//go:build integration

package helm

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/ncsa/clowder-ray/test/cluster"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(cluster.Main(m)) }
