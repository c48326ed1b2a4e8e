package section_test

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
	"github.com/ncsa/clowder-ray/internal/results/section"
)

// withBlock is a golden result with one block.
func withBlock(tb testing.TB, b section.Block) []byte {
	tb.Helper()
	r, err := results.DecodeResult(resultstest.Golden(tb, results.ResultFile))
	require.NoError(tb, err)
	r.Sections = []section.Section{{Place: section.PlaceResult, Title: "A kind of ours", Blocks: []section.Block{b}}}
	doc, err := json.Marshal(r)
	require.NoError(tb, err)
	return doc
}

func points(n int) [][]float64 {
	list := make([][]float64, n)
	for i := range list {
		list[i] = []float64{float64(i), 1}
	}
	return list
}

func line(series ...section.Series) *section.Chart {
	return &section.Chart{Form: section.ChartLine, Series: series}
}

func png() string {
	return base64.StdEncoding.EncodeToString([]byte("\x89PNG\r\n\x1a\n and more"))
}

// TestBlocksOverTheirLimitsAreCutWithASentence: a training of hours is not refused because its report is too long.
func TestBlocksOverTheirLimitsAreCutWithASentence(t *testing.T) {
	t.Parallel()
	rows := make([][]section.Cell, 103)
	for i := range rows {
		rows[i] = []section.Cell{{Text: "a"}}
	}
	for name, tc := range map[string]struct {
		block section.Block
		cut   string
	}{
		"rows":       {section.Block{Type: section.BlockTable, Columns: []section.Column{{Title: "A"}}, Rows: rows}, "3 more rows are not shown: there is room for 100 here."},
		"facts":      {section.Block{Type: section.BlockFacts, Facts: make([]section.Fact, 61)}, "1 more fact is not shown: there is room for 60 here."},
		"paragraphs": {section.Block{Type: section.BlockText, Text: make([]string, 22)}, "2 more paragraphs are not shown: there is room for 20 here."},
		"points":     {section.Block{Type: section.BlockChart, Chart: line(section.Series{Points: points(5_001)})}, "1 more point is not shown: there is room for 5,000 here."},
		"pictures":   {section.Block{Type: section.BlockPictures, Pictures: []section.Picture{{PNG: png(), Overlays: make([]section.Overlay, 51)}}}, "1 more mark is not shown: there is room for 50 here."},
		"labels":     {section.Block{Type: section.BlockChart, Chart: &section.Chart{Form: section.ChartLine, X: section.ChartAxis{Labels: make([]string, 102)}, Series: []section.Series{{Points: points(1)}}}}, "2 more labels are not shown: there is room for 100 here."},
		"series":     {section.Block{Type: section.BlockChart, Chart: line(slices.Repeat([]section.Series{{Points: points(1)}}, 11)...)}, "1 more line is not shown: there is room for 10 here."},
		"examples":   {section.Block{Type: section.BlockExamples, Examples: []section.Marked{{Parts: make([]section.MarkedPart, 301)}}}, "1 more part is not shown: there is room for 300 here."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := results.DecodeResult(withBlock(t, tc.block))
			require.NoError(t, err)
			require.Equal(t, []string{tc.cut}, r.Sections[0].Blocks[0].Cut)
		})
	}
}

func TestManySectionsAndBlocksAreCut(t *testing.T) {
	t.Parallel()
	r, err := results.DecodeResult(resultstest.Golden(t, results.ResultFile))
	require.NoError(t, err)
	for range 25 {
		s := section.Section{Place: section.PlaceData, Title: "S", Blocks: make([]section.Block, 40)}
		for i := range s.Blocks {
			s.Blocks[i].Type = section.BlockText
		}
		r.Sections = append(r.Sections, s)
	}
	doc, err := json.Marshal(r)
	require.NoError(t, err)
	r, err = results.DecodeResult(doc)
	require.NoError(t, err)
	require.Len(t, r.Sections, 20)
	for i, s := range r.Sections[len(r.Sections)-15:] {
		require.Len(t, s.Blocks, 30)
		require.Equal(t, "10 more blocks are not shown: there is room for 30 here.", s.Cut[len(s.Cut)-1], i)
	}
	require.Contains(t, r.Sections[19].Cut[0], "sections are not shown: there is room for 20 here.")
}

func TestBlocksThatContradictThemselvesAreRefused(t *testing.T) {
	t.Parallel()
	low, high := 2.0, 1.0
	for name, b := range map[string]section.Block{
		"an unknown type":         {Type: "html"},
		"cells without a head":    {Type: section.BlockTable, Columns: []section.Column{{Title: "A"}}, Rows: [][]section.Cell{{{}, {}}}},
		"an endless number":       {Type: section.BlockTable, Columns: []section.Column{{Title: "A"}}, Rows: [][]section.Cell{{{Value: new(1e301)}}}},
		"no chart":                {Type: section.BlockChart},
		"a point of one number":   {Type: section.BlockChart, Chart: line(section.Series{Points: [][]float64{{1}}})},
		"an interval upside down": {Type: section.BlockChart, Chart: line(section.Series{Points: points(1), Ranges: [][]float64{{0, low, high}}})},
		"a logarithm of nothing":  {Type: section.BlockChart, Chart: &section.Chart{Form: section.ChartDots, X: section.ChartAxis{Log: true}, Series: []section.Series{{Points: [][]float64{{0, 1}}}}}},
		"a path as a file":        {Type: section.BlockChart, Chart: &section.Chart{Form: section.ChartDots, File: "../x"}},
		"a matrix of nobody":      {Type: section.BlockMatrix, Matrix: &section.Matrix{Counts: [][]int{{1}}}},
		"two lists as the same":   {Type: section.BlockMatrix, Matrix: &section.Matrix{RowLabels: []string{"a"}, Labels: []string{"b"}, Counts: [][]int{{1}}, Same: true}},
		"rows in a text":          {Type: section.BlockText, Rows: [][]section.Cell{{{Text: "x"}}}},
		"a point in a text":       {Type: section.BlockText, Chart: line(section.Series{Points: [][]float64{{}}})},
		"a matrix in a text":      {Type: section.BlockText, Matrix: &section.Matrix{Counts: [][]int{{1}}}},
		"a box in facts":          {Type: section.BlockFacts, Pictures: []section.Picture{{PNG: png(), Overlays: []section.Overlay{{Left: -1}}}}},
		"a picture that is none":  {Type: section.BlockPictures, Pictures: []section.Picture{{PNG: "aGVsbG8="}}},
		"a box outside":           {Type: section.BlockPictures, Pictures: []section.Picture{{PNG: png(), Overlays: []section.Overlay{{Left: 0.9, Width: 0.2}}}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := results.DecodeResult(withBlock(t, b))
			require.Error(t, err)
			require.NotContains(t, err.Error(), "\n")
		})
	}
}
