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
	"github.com/ncsa/clowder-ray/internal/results/section"
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

func TestAMatrixOfASectionIsDrawnAsTheConfusionIs(t *testing.T) {
	t.Parallel()
	require.Nil(t, OfMatrix(nil))
	long := []string{"alpha", "b", "c", "d", "e", "f"}
	wide := [][]int{{1, 1, 0, 0, 0, 0}}
	for name, tc := range map[string]struct {
		block section.Matrix
		heads []string
		row   string
		first cell
	}{
		"two lists":         {section.Matrix{RowTitle: "soil", ColumnTitle: "crop", RowLabels: []string{"clay"}, Labels: []string{"rye", "oats"}, Counts: [][]int{{1, 3}}}, []string{"rye", "oats"}, "clay", cell{Count: "1", N: 1, Share: 0.25, Shade: 3, Percent: "25 %", Title: "clay, rye: 25 %"}},
		"one list":          {section.Matrix{RowLabels: []string{"a"}, Labels: []string{"a"}, Counts: [][]int{{2}}, Same: true}, []string{"a"}, "a", cell{Count: "2", N: 2, Share: 1, Shade: 10, Percent: "100 %", Title: "a, a: 100 %", Hit: true}},
		"a long list":       {section.Matrix{RowLabels: long, Labels: long, Counts: wide, Same: true}, []string{"1", "2", "3", "4", "5", "6"}, "alpha · 1", cell{Count: "1", N: 1, Share: 0.5, Shade: 5, Title: "alpha, alpha: 50 %", Hit: true}},
		"another long list": {section.Matrix{RowLabels: []string{"x"}, Labels: long, Counts: wide}, long, "x", cell{Count: "1", N: 1, Share: 0.5, Shade: 5, Title: "x, alpha: 50 %"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := OfMatrix(&tc.block)
			require.Equal(t, tc.heads, m.Heads)
			require.Equal(t, tc.row, m.Rows[0].Label)
			require.Equal(t, tc.first, m.Rows[0].Cells[0])
		})
	}
}
