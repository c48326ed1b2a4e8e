package chart

import (
	"io"

	"github.com/ncsa/clowder-ray/internal/results"
)

// fewCells is up to how many classes each cell of the heat map says its number.
const fewCells = 10

// WriteConfusionVega writes the confusion matrix as a Vega-Lite heat map that holds its own data.
func WriteConfusionVega(w io.Writer, m *Matrix) error {
	values, order := []obj{}, []string{}
	for _, row := range m.Rows {
		order = append(order, row.Label)
		for j, c := range row.Cells {
			values = append(values, obj{"truth": row.Label, "answer": m.Heads[j], "rows": c.N, "share": round(c.Share)})
		}
	}
	letters, height := 10, 260
	if m.Wide {
		letters, height = 8, 320
	}
	axis := func(field, title string, order []string, limit int) obj {
		return obj{
			"field": field, "type": "nominal", "title": title, "sort": order,
			"axis": obj{"labelLimit": limit, "labelAngle": 0, "labelFontSize": letters, "labelOverlap": true, "grid": false, "domain": false, "ticks": false},
		}
	}
	place := obj{"x": axis("answer", "Predicted class", m.Heads, 150/min(len(order), wideMatrix)), "y": axis("truth", "True class", order, 90)}
	cells := obj{
		"mark": obj{"type": "rect", "tooltip": obj{"content": "data"}},
		"encoding": obj{"color": obj{
			"field": "share", "type": "quantitative", "title": "Share of the true class", "scale": obj{"domain": []int{0, 1}, "scheme": "blues"},
			"legend": obj{"orient": "bottom", "format": ".0%"},
		}},
	}
	layers := []obj{cells}
	if len(m.Rows) <= fewCells {
		layers = append(layers, obj{
			"mark": "text",
			"encoding": obj{
				"text":  obj{"field": "rows", "type": "quantitative", "format": ","},
				"color": obj{"condition": obj{"test": "datum.share > 0.6", "value": "white"}, "value": colourText},
			},
		})
	}
	return results.WriteJSON(w, obj{
		"$schema":     vegaSchema,
		"title":       "Confusion matrix",
		"description": "Test rows by true and predicted class; a darker cell is a larger share of the true class.",
		"width":       VegaWidth, "height": height, "autosize": obj{"type": "fit", "contains": "padding"},
		"background": "white",
		"data":       obj{"values": values},
		"encoding":   place,
		"layer":      layers,
	})
}
