package delivery

import (
	"bytes"
	"encoding/json"
	"image/png"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/report/chart"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
)

func TestPicturesOfTheGoldenResults(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{
		results.ResultFile:       {"loss_curve.vl.json", "plots/loss.png", "confusion.vl.json", "plots/confusion.png"},
		"result-regression.json": {"loss_curve.vl.json", "plots/loss.png", "plots/predicted.png"},
		"result-graph.json":      {"loss_curve.vl.json", "plots/loss.png", "plots/embedding.png"},
		"result-image.json":      {"loss_curve.vl.json", "plots/loss.png", "confusion.vl.json", "plots/confusion.png"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := results.DecodeResult(resultstest.Golden(t, name))
			require.NoError(t, err)
			var names []string
			for _, d := range pictures(chart.NewCurves(resultstest.LikelyEvents(t, r), r), r) {
				names = append(names, d.Name)
				var first, second bytes.Buffer
				require.NoError(t, d.write(&first))
				require.NoError(t, d.write(&second))
				require.Equal(t, first.Bytes(), second.Bytes(), "%s: the same bytes each time", d.Name)
				if strings.HasSuffix(d.Name, ".png") {
					picture, err := png.DecodeConfig(&first)
					require.NoError(t, err)
					require.Equal(t, []int{chart.PNGWidth, chart.PNGHeight}, []int{picture.Width, picture.Height})
				} else {
					var spec map[string]any
					require.NoError(t, json.Unmarshal(first.Bytes(), &spec))
					require.EqualValues(t, chart.VegaWidth, spec["width"], "Clowder draws a width of its own empty")
				}
			}
			require.Equal(t, want, names)
		})
	}
}
