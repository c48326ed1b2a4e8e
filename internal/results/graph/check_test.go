package graph

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// whole is a description with all of its parts.
func whole() *Description {
	return &Description{
		Nodes: 10, Edges: 12, Components: 2, LargestComponent: 7, Isolated: 1,
		Degrees:    &Bins{Edges: []float64{1, 2, 4}, Counts: []int64{5, 4}},
		ByDegree:   &ByDegree{Metric: "mrr", Rows: []DegreeRow{{From: 0, To: 1, N: 3, Value: 0.2}, {From: 2, To: 9, N: 2, Value: 0.4}}},
		Scores:     &Scores{Edges: []float64{0, 0.5, 1}, Positive: []int64{1, 4}, Negative: []int64{3, 2}},
		Picture:    &Picture{Points: [][]float64{{0, 1, 0}, {1, 0, -1}}, Groups: []string{"a"}},
		Surprising: []Pair{{Source: "a", Target: "b", Score: 0.1}},
	}
}

func TestImpossibleDescriptionsAreRefused(t *testing.T) {
	t.Parallel()
	low := 0.9
	for name, tc := range map[string]struct {
		change func(*Description)
		want   string
	}{
		"no nodes":                          {func(d *Description) { d.Nodes = 0 }, "number of nodes"},
		"more edges than can be summed":     {func(d *Description) { d.Edges = math.MaxInt64 }, "number of nodes or edges"},
		"a part larger than the whole":      {func(d *Description) { d.LargestComponent = 11 }, "more nodes than it has"},
		"degrees without a last edge":       {func(d *Description) { d.Degrees.Edges = d.Degrees.Edges[:2] }, "degrees do not fit"},
		"degrees in no order":               {func(d *Description) { d.Degrees.Edges[0] = 9 }, "degrees do not fit"},
		"a degree beyond all numbers":       {func(d *Description) { d.Degrees.Edges[2] = 1e308 }, "degrees do not fit"},
		"fewer nodes than none":             {func(d *Description) { d.Degrees.Counts[0] = -1 }, "degrees do not fit"},
		"scores of other bins":              {func(d *Description) { d.Scores.Negative = []int64{1} }, "scores do not fit"},
		"scores without bins":               {func(d *Description) { *d.Scores = Scores{} }, "scores do not fit"},
		"a degree from more to less":        {func(d *Description) { d.ByDegree.Rows[1].To = 1 }, "by degree"},
		"an interval upside down":           {func(d *Description) { d.ByDegree.Rows[0].Low = &low }, "by degree"},
		"a point of two numbers":            {func(d *Description) { d.Picture.Points[0] = []float64{1, 2} }, "point"},
		"a point of an unknown group":       {func(d *Description) { d.Picture.Points[0][2] = 1 }, "point"},
		"a point beyond all numbers":        {func(d *Description) { d.Picture.Points[0][0] = math.Inf(1) }, "point"},
		"a score beyond all numbers":        {func(d *Description) { d.Surprising[0].Score = math.NaN() }, "score of a pair"},
		"more pairs than anybody reads":     {func(d *Description) { d.Likely = make([]Pair, maxPairs+1) }, "pairs are too many"},
		"more points than a picture holds":  {func(d *Description) { d.Picture.Points = make([][]float64, maxPoints+1) }, "points of the picture are too many"},
		"more groups than there are labels": {func(d *Description) { d.Picture.Groups = make([]string, maxGroups+1) }, "groups are too many"},
		"more bins than a chart shows": {func(d *Description) {
			d.Scores.Positive = make([]int64, maxBins+1)
		}, "bins of scores are too many"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := whole()
			tc.change(d)
			err := d.CheckSizes()
			if err == nil {
				err = d.Check()
			}
			require.ErrorContains(t, err, tc.want)
		})
	}
	require.NoError(t, whole().CheckSizes())
	require.NoError(t, whole().Check())
	var none *Description
	require.NoError(t, none.CheckSizes())
	require.NoError(t, none.Check())
}

func TestANetworkHasFewLayers(t *testing.T) {
	t.Parallel()
	var none *Network
	require.NoError(t, none.CheckSize())
	require.NoError(t, (&Network{Fanout: []int64{10, 10}}).CheckSize())
	require.ErrorContains(t, (&Network{Fanout: make([]int64, maxLayers+1)}).CheckSize(), "layers")
}

func FuzzCheck(f *testing.F) {
	doc, err := json.Marshal(whole())
	require.NoError(f, err)
	f.Add(doc)
	f.Add([]byte(`{"nodes":1,"picture":{"points":[[]]},"scores":{},"by_degree":{"rows":[{}]},"degrees":{}}`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		var d Description
		if json.Unmarshal(doc, &d) != nil || d.CheckSizes() != nil || d.Check() != nil {
			return
		}
		for _, p := range append(d.Surprising, d.Likely...) {
			require.False(t, math.IsNaN(p.Score))
		}
		if p := d.Picture; p != nil {
			for _, v := range p.Points {
				require.Len(t, v, pointSize)
			}
		}
	})
}
