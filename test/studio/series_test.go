//go:build integration

package studio

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/answer/answertest"
	"github.com/ncsa/clowder-ray/internal/registry"
	"github.com/ncsa/clowder-ray/test/studio/site"
)

// TestAStepOfASeriesIsAskedInThePage trains a forecast of two series, and asks for steps of them in the browser.
func TestAStepOfASeriesIsAskedInThePage(t *testing.T) {
	t.Parallel()
	python, volume := answertest.Python(t), t.TempDir()
	trained := answertest.On(t, python, volume)
	s := site.New(t, site.Options{Volume: volume, Python: python, Trainer: trained.Trainer})
	var table strings.Builder
	table.WriteString("station,month,level\n")
	for i := range 192 {
		m := i / 2
		fmt.Fprintf(&table, "%s,%d-%02d,%.3f\n", []string{"lake", "river"}[i%2], 2010+m/12, m%12+1, 50+0.3*float64(m)+8*math.Sin(float64(m)*math.Pi/6)+float64(i*7%5))
	}
	of := registry.Dataset{Clowder: s.Clowder.URL, ID: s.Dataset}
	trained.Train(t, of, "levels", "ft-levels", map[string][]byte{"levels.csv": []byte(table.String())}, map[string]any{})

	b := open(t, s, site.Carol, "models/"+s.Dataset+"/levels")
	b.do(chromedp.SetValue(`[data-column=station]`, "river"), chromedp.SetValue(`[data-column=month]`, "2018-06"), chromedp.Click("form .primary"))
	b.polled(answered + `.length > 0`)
	require.Contains(t, b.text(".answer"), "(90 % interval)")
	require.NotContains(t, b.text(".answer"), "Why", "a forecast has no parts that could be left out")
	looked(b, "model-series")
	accessible(b)
	b.do(chromedp.SetValue(`[data-column=station]`, ""), chromedp.Click("form .primary"))
	b.polled(`document.querySelector(".answer .failed") !== null`)
	looked(b, "model-series-refused")
	require.Contains(t, b.text(".answer .failed"), "station is empty. It says which series is asked for: lake and river.")
}
