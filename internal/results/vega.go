package results

import "io"

// obj is a JSON object of a Vega-Lite specification.
type obj = map[string]any

// writeVega writes the loss curve as a Vega-Lite specification that holds its own data. It is as wide as the place where it
// is shown, since Clowder shows it in a third of the page first and in all of it on a click.
func writeVega(w io.Writer, c curves) error {
	var values []obj
	add := func(series string, line []point) {
		for _, p := range line {
			values = append(values, obj{"series": series, "epoch": round(p.X), "loss": round(p.Y)})
		}
	}
	add("training, each step", c.Steps)
	add("training", c.TrainLoss)
	add("validation", c.ValidationLoss)
	x := obj{"field": "epoch", "type": "quantitative", "title": "Epoch", "axis": obj{"tickMinStep": 1, "format": "d", "grid": false}}
	y := obj{"field": "loss", "type": "quantitative", "title": "Loss", "scale": obj{"zero": false}}
	colour := obj{
		"field": "series", "type": "nominal", "title": nil,
		"scale":  obj{"domain": []string{"training, each step", "training", "validation"}, "range": []string{colourSteps, colourTrain, colourValidation}},
		"legend": obj{"orient": "top"},
	}
	layers := []obj{
		{
			"transform": []obj{{"filter": "datum.series === 'training, each step'"}},
			"mark":      obj{"type": "line", "strokeWidth": 1},
			"encoding":  obj{"x": x, "y": y, "color": colour},
		},
		{
			"transform": []obj{{"filter": "datum.series !== 'training, each step'"}},
			"mark":      obj{"type": "line", "strokeWidth": 2.5, "point": true, "tooltip": true},
			"encoding":  obj{"x": x, "y": y, "color": colour},
		},
	}
	if c.Best > 0 {
		layers = append(layers, obj{
			"data":     obj{"values": []obj{{"epoch": c.Best, "label": "best model"}}},
			"mark":     obj{"type": "rule", "strokeDash": []int{4, 4}, "color": colourBest, "tooltip": obj{"content": "data"}},
			"encoding": obj{"x": obj{"field": "epoch", "type": "quantitative"}},
		})
	}
	return writeJSON(w, obj{
		"$schema":     "https://vega.github.io/schema/vega-lite/v5.json",
		"title":       "Loss while training (lower is better)",
		"description": "Training and validation loss by epoch; the dashed line marks the epoch of the best model.",
		"width":       "container", "height": 260, "autosize": obj{"type": "fit", "contains": "padding"},
		"background": "white",
		"data":       obj{"values": values},
		"layer":      layers,
	})
}
