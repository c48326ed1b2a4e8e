package chart

import (
	"bytes"
	"fmt"
	"image/png"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results/graph"
)

func TestChartsOfAGraphLieInsideTheirFrames(t *testing.T) {
	t.Parallel()
	low, high := 0.1, 0.3
	for name, c := range map[string]*Chart{
		"degrees over five powers of ten": DegreeDistribution(&graph.Bins{Edges: []float64{1, 2, 10, 1000, 100_000, 1_000_000}, Counts: []int64{1_000_000, 50_000, 70, 0, 1}}),
		"one degree":                      DegreeDistribution(&graph.Bins{Edges: []float64{3, 4}, Counts: []int64{12}}),
		"degrees of nodes without edges":  DegreeDistribution(&graph.Bins{Edges: []float64{0, 1, 2, 3}, Counts: []int64{7, 4, 2}}),
		"degrees beyond all graphs":       DegreeDistribution(&graph.Bins{Edges: []float64{1, 1e200, 1e300}, Counts: []int64{1_000_000_000_000, 1}}),
		"a node":                          Embedding(&graph.Picture{Points: [][]float64{{5, 5, -1}}}),
		"nodes on a line":                 Embedding(&graph.Picture{Points: [][]float64{{0, 1, 0}, {9, 1, 1}}, Groups: []string{"a", "b"}}),
		"nodes far away":                  Embedding(&graph.Picture{Points: [][]float64{{-1e300, 1, 0}, {1e300, 1e-300, 0}}, Groups: []string{"a"}}),
		"scores by degree":                ScoresByDegree(&graph.ByDegree{Metric: "mrr", Rows: []graph.DegreeRow{{Value: 0.2, Low: &low, High: &high}, {From: 1, To: 4, Value: 0.3}}}),
		"numbers by degree":               ScoresByDegree(&graph.ByDegree{Metric: "rmse", Rows: []graph.DegreeRow{{Value: 1e5}, {From: 1, To: 4, Value: -3}}}),
		"scores":                          Scores(&graph.Scores{Edges: []float64{0, 0.5, 1}, Positive: []int64{1, 3}, Negative: []int64{4, 0}, Threshold: &low}),
		"scores of edges alone":           Scores(&graph.Scores{Edges: []float64{0, 1}, Positive: []int64{3}, Negative: []int64{0}}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.NotNil(t, c)
			svg := requireInside(t, c)
			for _, g := range svg.Groups {
				for place := range strings.FieldsFuncSeq(g.Path, func(r rune) bool { return r == 'M' }) {
					var x, y float64
					_, err := fmt.Sscanf(place, "%f %fh0", &x, &y)
					require.NoError(t, err, place)
					require.True(t, x >= svg.Left-0.1 && x <= svg.Right+0.1 && y >= svg.Top-0.1 && y <= svg.Bottom+0.1, place)
				}
			}
			for _, r := range svg.Ranges {
				require.LessOrEqual(t, svg.Top-0.1, r.High)
				require.LessOrEqual(t, r.High, r.Low)
				require.LessOrEqual(t, r.Low, svg.Bottom+0.1)
			}
			var picture bytes.Buffer
			require.NoError(t, WritePNG(&picture, c))
			_, err := png.DecodeConfig(&picture)
			require.NoError(t, err)
		})
	}
}

func TestGraphsWithoutFiguresHaveNoCharts(t *testing.T) {
	t.Parallel()
	require.Nil(t, DegreeDistribution(nil))
	require.Nil(t, DegreeDistribution(&graph.Bins{Edges: []float64{0, 1}, Counts: []int64{5}}), "nodes without edges only")
	require.Nil(t, Embedding(nil))
	require.Nil(t, Embedding(&graph.Picture{}))
	require.Nil(t, ScoresByDegree(nil))
	require.Nil(t, ScoresByDegree(&graph.ByDegree{Rows: make([]graph.DegreeRow, 1)}), "one bin says nothing of degrees")
	require.Nil(t, Scores(nil))
}

func TestABinOfManyDegreesShowsTheNodesForEachOfThem(t *testing.T) {
	t.Parallel()
	c := DegreeDistribution(&graph.Bins{Edges: []float64{1, 2, 12}, Counts: []int64{100, 50}})
	require.Equal(t, []float64{100, 5}, yOf(c.Dots))
	require.InDelta(t, 1, c.Dots[0].X, 1e-9)
	require.True(t, c.X.Log && c.Y.Log)
	require.Contains(t, c.Summary, "at most 11")
}

func TestColoursOfAPictureAreThoseOfItsLegend(t *testing.T) {
	t.Parallel()
	var groups []string
	var points [][]float64
	for i := range len(groupColours) + 2 {
		groups = append(groups, fmt.Sprintf("group %d", i))
		points = append(points, []float64{float64(i), 1, float64(i)})
	}
	c := Embedding(&graph.Picture{Points: append(points, []float64{0, 0, -1}), Groups: groups})
	require.Len(t, c.Groups, len(groupColours)+1)
	require.Equal(t, "other nodes", c.Groups[0].Name)
	require.Len(t, c.Groups[0].Points, 3, "two groups without a colour, and one node of no group")
	svg := c.SVG()
	require.Equal(t, "other", svg.Groups[0].Class)
	for i, g := range svg.Groups[1:] {
		require.Equal(t, fmt.Sprintf("group %d", i), g.Name)
		require.Equal(t, strconv.Itoa(i), g.Class)
	}
	require.InEpsilon(t, (c.X.High-c.X.Low)/(svg.Right-svg.Left), (c.Y.High-c.Y.Low)/(svg.Bottom-svg.Top), 0.01, "the same unit in both directions")
}

func TestAThousandDotsTakeLittleRoom(t *testing.T) {
	t.Parallel()
	points := make([][]float64, 3000)
	for i := range points {
		points[i] = []float64{float64(i % 61), float64(i % 47), 0}
	}
	svg := Embedding(&graph.Picture{Points: points, Groups: []string{"a"}}).SVG()
	require.Less(t, len(svg.Groups[0].Path), 50<<10)
}

func TestMarksOfALogarithmicAxis(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ values, want []float64 }{
		"powers of ten":                {[]float64{1, 5000}, []float64{1, 10, 100, 1000}},
		"a short axis has more marks":  {[]float64{2, 20}, []float64{2, 5, 10, 20}},
		"a long axis leaves some out":  {[]float64{1, 1e13}, []float64{100, 1e5, 1e8, 1e11}},
		"shares":                       {[]float64{0.02, 30}, []float64{0.1, 1, 10}},
		"one value has its neighbours": {[]float64{10}, []float64{10}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			axis := logAxis(tc.values)
			require.InDeltaSlice(t, tc.want, axis.Ticks, 1e-6*tc.values[len(tc.values)-1])
			require.InDelta(t, 0, axis.share(axis.Low), 1e-9)
			require.InDelta(t, 1, axis.share(axis.High), 1e-9)
		})
	}
}
