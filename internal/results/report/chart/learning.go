package chart

import (
	"strings"

	"github.com/ncsa/clowder-ray/internal/text"
)

// Loss draws the training and validation loss by epoch, nil without one.
func Loss(c Curves) *Chart {
	if c.Empty() {
		return nil
	}
	ch := learningChart("Loss (lower is better)", "loss", c, falling, c.Steps, c.TrainLoss, c.ValidationLoss)
	if len(c.TrainLoss) == 0 {
		ch.line("training", styleTrain, c.Steps, false)
	} else {
		ch.line("", styleSteps, c.Steps, false).line("training", styleTrain, c.TrainLoss, true)
	}
	ch.line("validation", styleValidation, c.ValidationLoss, true)
	ch.Summary = strings.TrimSpace(describe("Training loss", firstOf(c.TrainLoss, c.Steps)) + " " + describe("Validation loss", c.ValidationLoss))
	return ch
}

// Metric draws the validation value of the metric that chose the best model, nil without one.
func Metric(c Curves) *Chart {
	if len(c.Metric) == 0 || c.MetricName == "loss" {
		return nil
	}
	m := c.Described.Named(c.MetricName)
	name := m.Words()
	better, run := "higher", rising
	if m.LowerIsBetter() {
		better, run = "lower", falling
	}
	ch := learningChart("Validation "+name+" ("+better+" is better)", name, c, run, c.Metric)
	ch.line("validation", styleValidation, c.Metric, true)
	ch.Summary = describe("Validation "+name, c.Metric)
	return ch
}

// Rate draws the learning rate by epoch, nil without one.
func Rate(c Curves) *Chart {
	if len(c.Rate) < 2 {
		return nil
	}
	ch := learningChart("Learning rate", "", c, falling, c.Rate, []Point{{}})
	ch.line("", styleTrain, c.Rate, false)
	ch.Summary = describe("Learning rate", c.Rate)
	return ch
}

// Lines that fall leave room for words at the top, those that rise at the bottom.
const (
	rising  = false
	falling = true
)

// learningChart is a frame over the epochs, with marks where the training went on from a checkpoint and where the model was
// taken from.
func learningChart(title, value string, c Curves, falls bool, points ...[]Point) *Chart {
	low, high := span(points...)
	epochs := max(1, c.Epochs)
	ch := &Chart{Title: title, XLabel: "epoch", YLabel: value, X: Axis{Low: 0, High: epochs, Ticks: epochTicks(epochs)}, Y: Axis{Low: low, High: high, Ticks: niceTicks(low, high, 5)}}
	for _, at := range c.Resumes {
		ch.Rules = append(ch.Rules, Rule{at, "resumed", styleResume, labelRow{falls, 1}})
	}
	if c.Best > 0 && c.Best <= epochs {
		ch.Rules = append(ch.Rules, Rule{c.Best, "best", styleBest, labelRow{falls, 0}})
	}
	return ch
}

func firstOf(lines ...[]Point) []Point {
	for _, l := range lines {
		if len(l) > 0 {
			return l
		}
	}
	return nil
}

func describe(name string, line []Point) string {
	if len(line) == 0 {
		return ""
	}
	return name + " from " + text.Significant(line[0].Y) + " to " + text.Significant(line[len(line)-1].Y) + "."
}
