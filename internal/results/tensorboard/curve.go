package tensorboard

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
)

// thinned collects the points of a curve in bounded memory: with twice MaxPoints it drops every second one, and from then on takes only
// every second of those that it took before.
type thinned struct {
	points    []Point
	every     int // takes every n-th point
	seen      int
	last      *Point // the newest point, if it was not taken
	notFinite int
}

// maxValue is what a chart can still compute with.
const maxValue = 1e300

func (t *thinned) add(p Point) {
	if math.IsNaN(p.Value) || math.Abs(p.Value) > maxValue {
		t.notFinite++
		return
	}
	t.seen++
	if (t.seen-1)%t.every != 0 {
		t.last = &p
		return
	}
	t.points, t.last = append(t.points, p), nil
	if len(t.points) >= 2*MaxPoints {
		t.points = halve(t.points)
		t.every *= 2
	}
}

// all returns the points by ascending step. Of several with the same step the newest stays.
func (t *thinned) all() []Point {
	points := slices.Clone(t.points)
	if t.last != nil {
		points = append(points, *t.last)
	}
	slices.SortStableFunc(points, func(a, b Point) int { return cmp.Compare(a.Step, b.Step) })
	return lastOfEachStep(points)
}

func lastOfEachStep(points []Point) []Point {
	kept := points[:0]
	for i, p := range points {
		if i+1 == len(points) || points[i+1].Step != p.Step {
			kept = append(kept, p)
		}
	}
	return kept
}

// halve keeps every second point.
func halve(points []Point) []Point {
	kept := points[:0]
	for i := 0; i < len(points); i += 2 {
		kept = append(kept, points[i])
	}
	return kept
}

// merge puts the files of one folder together. See Read.
func merge(parts []part) []Curve {
	slices.SortStableFunc(parts, func(a, b part) int {
		return cmp.Or(cmp.Compare(a.began, b.began), strings.Compare(a.path, b.path))
	})
	merged, notFinite := map[string][]Point{}, map[string]int{}
	for _, p := range parts {
		if p.purge != nil {
			for tag, points := range merged {
				merged[tag] = before(points, *p.purge)
			}
		}
		for tag, c := range p.curves {
			notFinite[tag] += c.notFinite
			points := c.all()
			if len(points) > 0 {
				merged[tag] = append(before(merged[tag], points[0].Step), points...)
			}
		}
	}
	var curves []Curve
	for _, tag := range slices.Sorted(maps.Keys(notFinite)) {
		if points := limit(merged[tag]); len(points) > 0 || notFinite[tag] > 0 {
			curves = append(curves, Curve{Tag: tag, Points: points, NotFinite: notFinite[tag]})
		}
	}
	return curves
}

// before returns the points before step.
func before(points []Point, step int64) []Point {
	at, _ := slices.BinarySearchFunc(points, step, func(p Point, step int64) int { return cmp.Compare(p.Step, step) })
	return points[:at:at]
}

// limit thins a curve out to MaxPoints, evenly. The first and the last point stay.
func limit(points []Point) []Point {
	if len(points) <= MaxPoints {
		return points
	}
	kept := make([]Point, MaxPoints)
	for i := range kept {
		kept[i] = points[i*(len(points)-1)/(MaxPoints-1)]
	}
	return kept
}
