package chart

import (
	"io"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/text"
)

// obj is a JSON object of a Vega-Lite specification.
type obj = map[string]any

// vegaSchema is the version that Clowder draws.
const vegaSchema = "https://vega.github.io/schema/vega-lite/v5.json"

// VegaWidth fits the card that is a third of Clowder's page. "container" would be the thing to say, but the container of the
// card takes its width from the chart and stays empty.
const VegaWidth = 250

// WriteVega writes the lines and rules of a chart as a Vega-Lite specification that holds its own data. A line without a name is
// drawn thin and is called "each step".
func WriteVega(w io.Writer, c *Chart) error {
	const steps = "each step"
	values := []obj{}
	var series, colours []string
	dotted := true
	for _, l := range c.Lines {
		name := results.Plain(l.Name, steps)
		series, colours = append(series, name), append(colours, pens[l.Style].colour)
		dotted = dotted && (l.Dotted || name == steps)
		for _, p := range l.Points {
			values = append(values, obj{"series": name, "x": round(p.X), "y": roundLoss(p.Y)})
		}
	}
	x := obj{"field": "x", "type": "quantitative", "title": text.Capital(c.XLabel), "axis": obj{"values": c.X.Ticks, "grid": false}}
	y := obj{"field": "y", "type": "quantitative", "title": text.Capital(c.YLabel), "scale": obj{"zero": false}}
	colour := obj{
		"field": "series", "type": "nominal", "title": nil,
		"scale":  obj{"domain": series, "range": colours},
		"legend": obj{"orient": "top"},
	}
	encoding := obj{"x": x, "y": y, "color": colour}
	layers := []obj{
		{
			"transform": []obj{{"filter": "datum.series === '" + steps + "'"}},
			"mark":      obj{"type": "line", "strokeWidth": 1}, "encoding": encoding,
		},
		{
			"transform": []obj{{"filter": "datum.series !== '" + steps + "'"}},
			"mark":      obj{"type": "line", "strokeWidth": 2.5, "point": dotted, "tooltip": true}, "encoding": encoding,
		},
	}
	dashes := map[style][]int{styleResume: {2, 3}, styleBest: {4, 4}}
	for _, r := range c.Rules {
		layers = append(layers, obj{
			"data":     obj{"values": []obj{{"x": r.At, "label": r.Label}}},
			"mark":     obj{"type": "rule", "strokeDash": dashes[r.Style], "color": pens[r.Style].colour, "tooltip": obj{"content": "data"}},
			"encoding": obj{"x": obj{"field": "x", "type": "quantitative"}},
		})
	}
	return results.WriteJSON(w, obj{
		"$schema":     vegaSchema,
		"title":       c.Title,
		"description": c.Summary,
		"width":       VegaWidth, "height": 260, "autosize": obj{"type": "fit", "contains": "padding"},
		"background": "white",
		"data":       obj{"values": values},
		"layer":      layers,
	})
}
