package results

import (
	"bytes"
	"encoding/json"
	"image/png"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPicturesOfTheGoldenResults(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{
		ResultFile:               {"loss_curve.vl.json", "plots/loss.png", "confusion.vl.json", "plots/confusion.png"},
		"result-regression.json": {"loss_curve.vl.json", "plots/loss.png", "plots/predicted.png"},
		"result-image.json":      {"loss_curve.vl.json", "plots/loss.png", "confusion.vl.json", "plots/confusion.png"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := DecodeResult(readGolden(t, name))
			require.NoError(t, err)
			var names []string
			for _, d := range pictures(newCurves(likelyEvents(t, r), r), r) {
				names = append(names, d.Name)
				var first, second bytes.Buffer
				require.NoError(t, d.write(&first))
				require.NoError(t, d.write(&second))
				require.Equal(t, first.Bytes(), second.Bytes(), "%s: the same bytes each time", d.Name)
				if strings.HasSuffix(d.Name, ".png") {
					picture, err := png.DecodeConfig(&first)
					require.NoError(t, err)
					require.Equal(t, []int{pngWidth, pngHeight}, []int{picture.Width, picture.Height})
				} else {
					var spec map[string]any
					require.NoError(t, json.Unmarshal(first.Bytes(), &spec))
					require.EqualValues(t, vegaWidth, spec["width"], "Clowder draws a width of its own empty")
				}
			}
			require.Equal(t, want, names)
		})
	}
}

func TestPicturesOfHostileLabels(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 7, 40} {
		r := &Result{}
		texts := hostile()
		manyClasses(r, n, func(i int) string { return strings.Repeat("x", i) + texts[i%len(texts)] })
		var out bytes.Buffer
		m := newMatrix(r)
		require.NoError(t, plotConfusion(&out, m))
		_, err := png.Decode(&out)
		require.NoError(t, err)
		out.Reset()
		require.NoError(t, writeVegaConfusion(&out, m))
		require.True(t, json.Valid(out.Bytes()))
		require.Less(t, out.Len(), 300<<10)
	}
}
