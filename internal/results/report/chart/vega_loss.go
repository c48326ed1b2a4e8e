package chart

import (
	"io"

	"github.com/ncsa/clowder-ray/internal/results"
)

// obj is a JSON object of a Vega-Lite specification.
type obj = map[string]any

// vegaSchema is the version that Clowder draws.
const vegaSchema = "https://vega.github.io/schema/vega-lite/v5.json"

// VegaWidth fits the card that is a third of Clowder's page. "container" would be the thing to say, but the container of the
// card takes its width from the chart and stays empty.
const VegaWidth = 250

// WriteLossVega writes the loss curve as a Vega-Lite specification that holds its own data.
func WriteLossVega(w io.Writer, c Curves) error {
	const steps = "each step"
	values := []obj{}
	var series, colours []string
	add := func(name, colour string, line []Point) {
		if len(line) > 0 {
			series, colours = append(series, name), append(colours, colour)
		}
		for _, p := range line {
			values = append(values, obj{"series": name, "epoch": round(p.X), "loss": roundLoss(p.Y)})
		}
	}
	add(steps, colourSteps, c.Steps)
	add("training", colourTrain, c.TrainLoss)
	add("validation", colourValidation, c.ValidationLoss)
	x := obj{"field": "epoch", "type": "quantitative", "title": "Epoch", "axis": obj{"values": epochTicks(0, max(1, c.Epochs), 8), "format": "d", "grid": false}}
	y := obj{"field": "loss", "type": "quantitative", "title": "Loss", "scale": obj{"zero": false}}
	colour := obj{
		"field": "series", "type": "nominal", "title": nil,
		"scale":  obj{"domain": series, "range": colours},
		"legend": obj{"orient": "top"},
	}
	layers := []obj{
		{
			"transform": []obj{{"filter": "datum.series === '" + steps + "'"}},
			"mark":      obj{"type": "line", "strokeWidth": 1},
			"encoding":  obj{"x": x, "y": y, "color": colour},
		},
		{
			"transform": []obj{{"filter": "datum.series !== '" + steps + "'"}},
			"mark":      obj{"type": "line", "strokeWidth": 2.5, "point": len(values) <= 2*fewDots+len(c.Steps), "tooltip": true},
			"encoding":  obj{"x": x, "y": y, "color": colour},
		},
	}
	for _, at := range c.Resumes {
		layers = append(layers, obj{
			"data":     obj{"values": []obj{{"epoch": at, "label": "resumed"}}},
			"mark":     obj{"type": "rule", "strokeDash": []int{2, 3}, "color": colourResume, "tooltip": obj{"content": "data"}},
			"encoding": obj{"x": obj{"field": "epoch", "type": "quantitative"}},
		})
	}
	if c.Best > 0 {
		layers = append(layers, obj{
			"data":     obj{"values": []obj{{"epoch": c.Best, "label": "best model"}}},
			"mark":     obj{"type": "rule", "strokeDash": []int{4, 4}, "color": colourBest, "tooltip": obj{"content": "data"}},
			"encoding": obj{"x": obj{"field": "epoch", "type": "quantitative"}},
		})
	}
	return results.WriteJSON(w, obj{
		"$schema":     vegaSchema,
		"title":       "Loss (lower is better)",
		"description": "Training and validation loss by epoch; the dashed line marks the best model.",
		"width":       VegaWidth, "height": 260, "autosize": obj{"type": "fit", "contains": "padding"},
		"background": "white",
		"data":       obj{"values": values},
		"layer":      layers,
	})
}
