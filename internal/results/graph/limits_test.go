package graph

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTheLimitsOfADescriptionAreInsideOfIt: what a trainer may write is not refused.
func TestTheLimitsOfADescriptionAreInsideOfIt(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Description){
		"a node without edges":     func(d *Description) { *d = Description{Nodes: 1, Components: 1, LargestComponent: 1, Isolated: 1} },
		"as many as can be summed": func(d *Description) { d.Nodes, d.Edges = maxCount, maxCount },
		"as many pairs as shown":   func(d *Description) { d.Likely = make([]Pair, maxPairs) },
		"as many points as shown": func(d *Description) {
			d.Picture.Points = make([][]float64, maxPoints)
			for i := range d.Picture.Points {
				d.Picture.Points[i] = []float64{maxNumber, -maxNumber, -1}
			}
		},
		"a picture without groups":  func(d *Description) { d.Picture = &Picture{Points: [][]float64{{0, 0, 0}}} },
		"edges that are the same":   func(d *Description) { d.Degrees.Edges = []float64{1, 1, 1} },
		"an interval of one number": func(d *Description) { v := 0.2; d.ByDegree.Rows[0].Low, d.ByDegree.Rows[0].High = &v, &v },
		"degrees of nobody":         func(d *Description) { d.ByDegree.Rows = nil },
		"a score that is no share":  func(d *Description) { d.Surprising[0].Score = -12 },
		"the last group of a point": func(d *Description) { d.Picture.Groups, d.Picture.Points[0][2] = []string{"a", "b"}, 1 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := whole()
			change(d)
			require.NoError(t, d.CheckSizes())
			require.NoError(t, d.Check())
		})
	}
}

func TestMoreImpossibleDescriptionsAreRefused(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(*Description)
		want   string
	}{
		"edges below zero":          {func(d *Description) { d.Edges = -1 }, "number of nodes or edges"},
		"more alone than there are": {func(d *Description) { d.Isolated = 11 }, "more nodes than it has"},
		"more parts than nodes":     {func(d *Description) { d.Components = 11 }, "more nodes than it has"},
		"too many degrees":          {func(d *Description) { d.ByDegree.Rows = make([]DegreeRow, maxBins+1) }, "degrees are too many"},
		"too many bins of degrees":  {func(d *Description) { d.Degrees.Edges = make([]float64, maxBins+1) }, "bins of degrees are too many"},
		"a degree below zero":       {func(d *Description) { d.ByDegree.Rows[0].From = -1 }, "by degree"},
		"rows below zero":           {func(d *Description) { d.ByDegree.Rows[0].N = -1 }, "by degree"},
		"a value that is none":      {func(d *Description) { d.ByDegree.Rows[0].Value = math.NaN() }, "by degree"},
		"a bound without an end":    {func(d *Description) { v := math.Inf(1); d.ByDegree.Rows[0].High = &v }, "by degree"},
		"a count that overflows":    {func(d *Description) { d.Scores.Positive[0] = maxCount + 1 }, "scores do not fit"},
		"an edge that is none":      {func(d *Description) { d.Scores.Edges[1] = math.NaN() }, "scores do not fit"},
		"a group below none":        {func(d *Description) { d.Picture.Points[0][2] = -2 }, "point"},
		"a likely pair of no score": {func(d *Description) { d.Likely = []Pair{{Score: math.Inf(-1)}} }, "score of a pair"},
		"two parts at once":         {func(d *Description) { d.Degrees.Counts, d.Scores.Positive = nil, nil }, "degrees do not fit together\nthe scores do not fit together"},
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
			require.Less(t, strings.Count(err.Error(), "\n"), 3)
		})
	}
}
