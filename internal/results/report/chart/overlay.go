package chart

import (
	"slices"
	"strconv"
	"strings"
)

// RunColours is the number of colours that lines of runs can have.
const RunColours = 12

// RunLine is the curve of one run in a chart of several runs. Colour is below RunColours.
type RunLine struct {
	Name   string
	Colour int
	Points []Point
}

// Overlay draws the curves of several runs over their epochs; nil where none has points. The classes of the lines are run-0 to run-11.
func Overlay(title, label string, runs []RunLine) *Chart { return Lines(title, "epoch", label, runs) }

// Lines draws curves over a whole number from 0 on, such as epochs or workers; nil where none has points. The classes of the lines are those
// of Overlay.
func Lines(title, over, label string, runs []RunLine) *Chart {
	var drawn [][]Point
	var end float64
	for i := range runs {
		runs[i].Points = thin(slices.Clone(runs[i].Points))
		if n := len(runs[i].Points); n > 0 {
			drawn = append(drawn, runs[i].Points)
			end = max(end, runs[i].Points[n-1].X)
		}
	}
	if len(drawn) == 0 {
		return nil
	}
	low, high := span(drawn...)
	end = max(1, end)
	ch := &Chart{Title: title, XLabel: over, YLabel: label, X: Axis{Low: 0, High: end, Ticks: epochTicks(end)}, Y: Axis{Low: low, High: high, Ticks: niceTicks(low, high, 5)}}
	var words []string
	for _, r := range runs {
		ch.line(r.Name, style("run-"+strconv.Itoa(r.Colour%RunColours)), r.Points, true)
		if s := describe(r.Name, r.Points); s != "" {
			words = append(words, s)
		}
	}
	ch.Summary = strings.Join(words, " ")
	return ch
}
