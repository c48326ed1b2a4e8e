package delivery

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
)

func TestOutputsOfAScriptAreFilesOrInAnArchive(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		paths        []string
		single, rest string
	}{
		"none":                          {nil, "", ""},
		"files by their names":          {[]string{"b.csv", "a.csv"}, "a.csv b.csv", ""},
		"a file in a folder":            {[]string{"a/b.csv"}, "", "a/b.csv"},
		"a page in small letters":       {[]string{"a.html", "b.svg", "c.js", "d.pdf"}, "", "a.html b.svg c.js d.pdf"},
		"a page in capitals":            {[]string{"A.HTM", "B.SvG", "C.IPYNB", "D.XHTML"}, "", "A.HTM B.SvG C.IPYNB D.XHTML"},
		"a page behind another ending":  {[]string{"a.html.txt", "a.txt.html"}, "a.html.txt", "a.txt.html"},
		"a name that is an ending":      {[]string{".html", ".txt"}, ".txt", ".html"},
		"a name without an ending":      {[]string{"LICENSE"}, "LICENSE", ""},
		"the name of a file half built": {[]string{"a.part", "a.part.txt"}, "a.part.txt", "a.part"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var outputs []results.Output
			for _, p := range tc.paths {
				outputs = append(outputs, results.Output{Path: "out/" + p})
			}
			single, rest := sortOutputs(outputs)
			require.Equal(t, tc.single, joined(single))
			require.Equal(t, tc.rest, joined(rest))
			for i, p := range tc.paths {
				require.Equal(t, "out/"+p, outputs[i].Path, "the list of the result stays as it was")
			}
		})
	}
}

// joined are the names of outputs in their order.
func joined(outputs []results.Output) string {
	var names []string
	for _, o := range outputs {
		names = append(names, strings.TrimPrefix(o.Path, "out/"))
	}
	return strings.Join(names, " ")
}

func TestOfManyOutputsTheFirstAreFilesOfTheirOwn(t *testing.T) {
	t.Parallel()
	for n, want := range map[int][2]int{maxSingleFiles: {maxSingleFiles, 0}, maxSingleFiles + 1: {maxSingleFiles, 1}, 500: {maxSingleFiles, 480}} {
		var outputs []results.Output
		for i := range n {
			outputs = append(outputs, results.Output{Path: fmt.Sprintf("out/%03d.txt", n-1-i)}, results.Output{Path: fmt.Sprintf("out/page%03d.html", i)})
		}
		single, rest := sortOutputs(outputs)
		require.Len(t, single, want[0])
		require.Len(t, rest, want[1]+n)
		require.Equal(t, "out/000.txt", single[0].Path)
		require.Equal(t, fmt.Sprintf("out/%03d.txt", maxSingleFiles-1), single[maxSingleFiles-1].Path, "pages take no place of the others")
	}
}

// TestNothingOfAScriptIsDrawn: Clowder draws pictures, pages and charts by their types, and a file may not be what its name says.
func TestNothingOfAScriptIsDrawn(t *testing.T) {
	t.Parallel()
	for p, want := range map[string]string{
		"out/a.txt": typeText, "out/a.LOG": typeText, "out/chart.vl.json": typeText, "out/a.jsonl": typeText, "out/a.yml": typeText,
		"out/README.md": typeText,
		"out/a.csv":     typeCSV, "out/A.CSV": typeCSV,
		"out/a.png": typeBytes, "out/a.html": typeBytes, "out/a.svg": typeBytes, "out/a.pt": typeBytes, "out/a": typeBytes, "out/a.csv.gz": typeBytes,
		"out/.csv": typeCSV,
	} {
		require.Equal(t, want, outputType(p), p)
	}
}
