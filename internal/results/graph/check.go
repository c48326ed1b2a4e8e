package graph

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// What a description may hold at most. The contract is narrower; these keep a broken trainer from filling our memory or a report.
const (
	maxPoints = 5_000
	maxBins   = 1_000
	maxPairs  = 100
	maxGroups = 1_000
	maxLayers = 100
	// maxCount keeps sums of counts from overflowing, maxNumber keeps differences of numbers finite.
	maxCount  = 1_000_000_000_000
	maxNumber = 1e300
)

// CheckSizes bounds the lists of a description, before anything looks at what they hold.
func (d *Description) CheckSizes() error {
	if d == nil {
		return nil
	}
	err := atMost("pairs", max(len(d.Surprising), len(d.Likely)), maxPairs)
	if b := d.ByDegree; b != nil {
		err = errors.Join(err, atMost("degrees", len(b.Rows), maxBins))
	}
	if b := d.Degrees; b != nil {
		err = errors.Join(err, atMost("bins of degrees", max(len(b.Edges), len(b.Counts)), maxBins))
	}
	if s := d.Scores; s != nil {
		err = errors.Join(err, atMost("bins of scores", max(len(s.Edges), len(s.Positive), len(s.Negative)), maxBins))
	}
	if p := d.Picture; p != nil {
		err = errors.Join(err, atMost("points of the picture", len(p.Points), maxPoints), atMost("groups", len(p.Groups), maxGroups))
		for _, v := range p.Points {
			if len(v) != pointSize {
				return errors.Join(err, errPoint)
			}
		}
	}
	return err
}

// CheckSize bounds the list of a network.
func (n *Network) CheckSize() error {
	if n == nil {
		return nil
	}
	return atMost("layers", len(n.Fanout), maxLayers)
}

func atMost(what string, n, limit int) error {
	if n > limit {
		return fmt.Errorf("%d %s are too many", n, what)
	}
	return nil
}

// pointSize is the numbers of a point of a picture.
const pointSize = 3

var errPoint = errors.New("a point of the picture is impossible")

// Check refuses values that contradict each other, or that a chart cannot compute with. CheckSizes comes first.
func (d *Description) Check() error {
	if d == nil {
		return nil
	}
	switch {
	case d.Nodes < 1 || d.Nodes > maxCount || d.Edges < 0 || d.Edges > maxCount:
		return errors.New("the number of nodes or edges is impossible")
	case d.LargestComponent > d.Nodes || d.Isolated > d.Nodes || d.Components > d.Nodes:
		return errors.New("the graph has parts with more nodes than it has itself")
	}
	return errors.Join(d.ByDegree.check(), d.Degrees.check(), d.Scores.check(), d.Picture.check(), checkPairs(d.Surprising), checkPairs(d.Likely))
}

func (b *ByDegree) check() error {
	if b == nil {
		return nil
	}
	for _, r := range b.Rows {
		low, high := r.Bounds()
		if r.From < 0 || r.To < r.From || r.N < 0 || notFinite(r.Value) || notFinite(low) || notFinite(high) || low > high {
			return errors.New("the scores by degree are impossible")
		}
	}
	return nil
}

func (b *Bins) check() error {
	if b != nil && !fits(b.Edges, b.Counts) {
		return errors.New("the degrees do not fit together")
	}
	return nil
}

func (s *Scores) check() error {
	if s != nil && (!fits(s.Edges, s.Positive) || !fits(s.Edges, s.Negative)) {
		return errors.New("the scores do not fit together")
	}
	return nil
}

// fits reports whether there is one edge more than counts, all in order and finite.
func fits(edges []float64, counts []int64) bool {
	bad := func(n int64) bool { return n < 0 || n > maxCount }
	return len(counts) > 0 && len(edges) == len(counts)+1 && slices.IsSorted(edges) && !slices.ContainsFunc(edges, notFinite) && !slices.ContainsFunc(counts, bad)
}

func (p *Picture) check() error {
	if p == nil {
		return nil
	}
	for _, v := range p.Points {
		if len(v) != pointSize || slices.ContainsFunc(v, notFinite) || v[2] < -1 || v[2] > max(0, float64(len(p.Groups)-1)) {
			return errPoint
		}
	}
	return nil
}

func checkPairs(pairs []Pair) error {
	for _, p := range pairs {
		if notFinite(p.Score) {
			return errors.New("the score of a pair is impossible")
		}
	}
	return nil
}

func notFinite(v float64) bool { return math.IsNaN(v) || math.Abs(v) > maxNumber }
