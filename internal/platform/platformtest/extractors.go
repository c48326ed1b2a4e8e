// Package platformtest holds what tests of the platforms and of the pipeline share.
package platformtest

import (
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	clowderray "github.com/ncsa/clowder-ray"
	"github.com/ncsa/clowder-ray/internal/clowder/form"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/platform"
)

// parsed are the extractors of a test process. Parsing their forms in each test took a quarter of the processor time of many tests.
var parsed = sync.OnceValues(func() (platform.Extractors, error) {
	all := platform.Extractors{{Kind: job.Train}, {Kind: job.Train}, {Kind: job.Predict}, {Kind: job.Script}, {Kind: job.Runs}}
	for i, doc := range [][]byte{clowderray.ExtractorInfo, clowderray.AdvancedInfo, clowderray.PredictInfo, clowderray.ScriptInfo, clowderray.RunsInfo} {
		info, err := form.Parse(doc)
		if err != nil {
			return nil, err
		}
		all[i].Info, all[i].Queue = info, info.Name
	}
	return all, nil
})

// Extractors are the extractors of the product: short form, long form, predictions, scripts, requests about runs. The list is a copy, but
// all tests of a process share the forms, which nobody changes.
func Extractors(tb testing.TB) platform.Extractors {
	tb.Helper()
	all, err := parsed()
	require.NoError(tb, err)
	return slices.Clone(all)
}
