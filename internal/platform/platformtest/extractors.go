// Package platformtest holds what tests of the platforms and of the pipeline share.
package platformtest

import (
	"testing"

	"github.com/stretchr/testify/require"

	clowderray "github.com/ncsa/clowder-ray"
	"github.com/ncsa/clowder-ray/internal/clowder/form"
	"github.com/ncsa/clowder-ray/internal/platform"
)

// Extractors are the extractors of the product: short form, long form, predictions, scripts, requests about runs.
func Extractors(tb testing.TB) platform.Extractors {
	tb.Helper()
	all := platform.Extractors{{Kind: platform.Train}, {Kind: platform.Train}, {Kind: platform.Predict}, {Kind: platform.Script}, {Kind: platform.Runs}}
	for i, doc := range [][]byte{clowderray.ExtractorInfo, clowderray.AdvancedInfo, clowderray.PredictInfo, clowderray.ScriptInfo, clowderray.RunsInfo} {
		info, err := form.Parse(doc)
		require.NoError(tb, err)
		all[i].Info, all[i].Queue = info, info.Name
	}
	return all
}
