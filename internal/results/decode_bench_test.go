package results_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
)

// BenchmarkDecodeResult measures a usual result and the largest confusion matrix that is read.
func BenchmarkDecodeResult(b *testing.B) {
	usual := resultstest.Golden(b, results.ResultFile)
	r, err := results.DecodeResult(usual)
	require.NoError(b, err)
	resultstest.ManyClasses(r, 2000, func(i int) string { return fmt.Sprintf("class %d", i) })
	large, err := json.Marshal(r)
	require.NoError(b, err)
	for name, doc := range map[string][]byte{"usual": usual, "2000 classes": large} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(doc)))
			b.ReportAllocs()
			for b.Loop() {
				_, err := results.DecodeResult(doc)
				require.NoError(b, err)
			}
		})
	}
}
