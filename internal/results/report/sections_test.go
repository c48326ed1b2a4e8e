package report

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
	"github.com/ncsa/clowder-ray/internal/results/section"
)

// blocksOfEachType are one block of each type, and some whose parts are of another type.
func blocksOfEachType(tb testing.TB) []string {
	tb.Helper()
	chart := &section.Chart{Form: section.ChartBars, Series: []section.Series{{Name: "a", Points: [][]float64{{0, 1, 2}}, Ranges: [][]float64{{0, 1, 2}}}}, Rules: []section.ChartRule{{At: 1}}}
	matrix := &section.Matrix{RowLabels: []string{"a"}, Labels: []string{"b"}, Counts: [][]int{{1}}}
	png := base64.StdEncoding.EncodeToString([]byte("\x89PNG\r\n\x1a\n and more"))
	value := 0.5
	var list []string
	for _, b := range []section.Block{
		{Type: section.BlockText, Text: []string{"Words."}, Note: "A note."},
		{Type: section.BlockFacts, Facts: []section.Fact{{Name: "Rows", Value: "7"}}},
		{Type: section.BlockTable, Columns: []section.Column{{Title: "A"}, {Title: "B", Form: section.FormNumber}}, Rows: [][]section.Cell{{{Text: "x"}, {Value: &value}}}},
		{Type: section.BlockChart, Chart: chart},
		{Type: section.BlockMatrix, Matrix: matrix},
		{Type: section.BlockPictures, Pictures: []section.Picture{{PNG: png, Overlays: []section.Overlay{{Width: 0.5, Height: 0.5, Mark: section.MarkWrong}}}}},
		{Type: section.BlockExamples, Examples: []section.Marked{{Parts: []section.MarkedPart{{Text: "x", Mark: section.MarkShown, Note: "y"}}}}},
		{Type: section.BlockText, Rows: [][]section.Cell{{{Text: "x"}}}},
		{Type: section.BlockText, Chart: &section.Chart{Form: section.ChartLine, Series: []section.Series{{Points: [][]float64{{}}}}}},
		{Type: section.BlockFacts, Matrix: &section.Matrix{RowLabels: []string{}, Labels: []string{"b"}, Counts: [][]int{{1}}}},
	} {
		doc, err := json.Marshal(b)
		require.NoError(tb, err)
		list = append(list, string(doc))
	}
	return list
}

// FuzzSections: whatever a trainer writes as a block is refused, or it is drawn.
func FuzzSections(f *testing.F) {
	for _, doc := range blocksOfEachType(f) {
		f.Add(doc)
	}
	golden := resultstest.Golden(f, results.ResultFile)
	f.Fuzz(func(t *testing.T, block string) {
		var result map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(golden, &result))
		result["sections"] = json.RawMessage(`[{"place":"data","title":"Of a kind","blocks":[` + block + `]}]`)
		doc, err := json.Marshal(result)
		if err != nil {
			return // it is no JSON
		}
		r, err := results.DecodeResult(doc)
		if err != nil {
			return
		}
		var page, card bytes.Buffer
		require.NoError(t, Write(&page, nil, r, resultstest.LikelyMeta(r)))
		require.NoError(t, WriteCard(&card, resultstest.LikelyMeta(r), r))
		requireSelfContained(t, page.String())
	})
}

func TestWordsAmongOthersKeepTheirDistance(t *testing.T) {
	t.Parallel()
	for written, shown := range map[string]string{
		"Ann ": "Ann ", " lives\tin\x1b\u202e ": " lives in ", "Rome.\n": "Rome.\n", " ": " ", "\n  in": "\n  in", "": "", "a": "a",
	} {
		require.Equal(t, shown, partText(written), "%q", written)
	}
	require.LessOrEqual(t, utf8.RuneCountInString(blockText(strings.Repeat("é", 1<<16))), maxText)
}
