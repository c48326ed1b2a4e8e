package chart

import (
	"cmp"
	"slices"
	"strings"
)

// Role says which data a value of a script is about.
type Role string

// The roles. A value without a role is drawn like one of the training.
const (
	RoleTrain      Role = "training"
	RoleValidation Role = "validation"
)

// StepLine is a curve of a script, by ascending step.
type StepLine struct {
	// Name is what stands in the legend of a chart with several lines.
	Name   string
	Role   Role
	Points []Point
}

// Steps draws curves of a script over its steps: one line for each role at most. It returns nil if none has points.
func Steps(title string, lines ...StepLine) *Chart {
	var drawn [][]Point
	for i := range lines {
		lines[i].Points = thin(slices.Clone(lines[i].Points))
		if len(lines[i].Points) > 0 {
			drawn = append(drawn, lines[i].Points)
		}
	}
	if len(drawn) == 0 {
		return nil
	}
	from, to := drawn[0][0].X, drawn[0][0].X
	for _, points := range drawn {
		from, to = min(from, points[0].X), max(to, points[len(points)-1].X)
	}
	if to <= from {
		to = from + 1
	}
	low, high := span(drawn...)
	ch := &Chart{Title: title, XLabel: "step", X: Axis{Low: from, High: to, Ticks: niceTicks(from, to, 4)}, Y: Axis{Low: low, High: high, Ticks: niceTicks(low, high, 5)}}
	var words []string
	slices.SortStableFunc(lines, func(a, b StepLine) int { return cmp.Compare(order(a.Role), order(b.Role)) })
	for _, l := range lines {
		name, look := "", styleTrain
		if len(drawn) > 1 {
			name = l.Name
		}
		if l.Role == RoleValidation {
			look = styleValidation
		}
		ch.line(name, look, l.Points, true)
		words = append(words, describe(l.Name, l.Points))
	}
	ch.Summary = strings.TrimSpace(strings.Join(words, " "))
	return ch
}

func order(r Role) int {
	if r == RoleValidation {
		return 1
	}
	return 0
}
