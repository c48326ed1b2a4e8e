package chart

import (
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results/section"
)

// TestLinesOfABlockAreSeenEverywhere: each line has a rule of its own in the report and in the studio, and a colour of its own in pictures.
func TestLinesOfABlockAreSeenEverywhere(t *testing.T) {
	t.Parallel()
	c := &section.Chart{Form: section.ChartLine}
	for i := range blockStyles {
		c.Series = append(c.Series, section.Series{Name: strconv.Itoa(i), Points: [][]float64{{0, 0}, {1, float64(i)}}})
	}
	drawn := OfBlock(section.Block{Type: section.BlockChart, Chart: c}).SVG()
	require.Len(t, drawn.Lines, len(blockStyles))
	colours := map[string]bool{}
	for i, file := range []string{"../template/style.tmpl.html", "../../../studio/web/style.css"} {
		rules, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, line := range drawn.Lines {
			require.Regexp(t, `\.cft-line-`+line.Class+` ?\{[^}]*stroke:`, string(rules), file)
			if i == 0 {
				colours[pens[style(line.Class)].colour] = true
			}
		}
	}
	require.Len(t, colours, len(blockStyles))
}
