package chart

import (
	"bytes"
	"encoding/json"
	"image/png"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
)

func TestPicturesOfHostileLabels(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 7, 40} {
		r := &results.Result{}
		texts := resultstest.Hostile()
		resultstest.ManyClasses(r, n, func(i int) string { return strings.Repeat("x", i) + texts[i%len(texts)] })
		var out bytes.Buffer
		m := NewMatrix(r)
		require.NoError(t, WriteConfusionPNG(&out, m))
		_, err := png.Decode(&out)
		require.NoError(t, err)
		out.Reset()
		require.NoError(t, WriteConfusionVega(&out, m))
		require.True(t, json.Valid(out.Bytes()))
		require.Less(t, out.Len(), 300<<10)
	}
}
