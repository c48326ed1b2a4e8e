//go:build integration

package studio

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/test/studio/site"
)

// views are the windows in which every page has to look well.
var views = []struct {
	width int64
	theme string
}{{1400, "light"}, {1400, "dark"}, {390, "light"}, {390, "dark"}}

// TestPages looks at each page in both themes and at both widths: nothing reaches beyond the window. Where STUDIO_PICTURES names a folder,
// the pictures are kept there.
func TestPages(t *testing.T) {
	s := site.New(t, site.Options{})
	s.Fill(t)
	folder := os.Getenv("STUDIO_PICTURES")
	for name, page := range map[string]string{
		"runs":    "datasets/" + s.Dataset + "/runs",
		"run":     "runs/ft-lr3e4dyy2gkf5pnmt3vc",
		"running": "runs/ft-k3vr7now2ninghalfway",
		"failed":  "runs/ft-first3ilm6reviews2ab",
		"compare": "compare?run=ft-yigcyhzk4mhq2nof7l3a&run=ft-b2kq91xav5tuw3jz4rme&run=ft-lr3e4dyy2gkf5pnmt3vc",
		"train":   "datasets/" + s.Dataset + "/train?like=ft-lr3e4dyy2gkf5pnmt3vc",
		"mine":    "",
		"empty":   "datasets/" + s.Empty + "/runs",
		"report":  "runs/ft-lr3e4dyy2gkf5pnmt3vc/report",
	} {
		t.Run(name, func(t *testing.T) {
			b := open(t, s, site.Alice, page)
			for _, v := range views {
				b.look(v.width, 1000, v.theme)
				require.NotEmpty(t, b.text("h1"))
				require.LessOrEqual(t, get[int64](b, "document.documentElement.scrollWidth"), v.width, "nothing scrolls sideways at %d px", v.width)
				if folder == "" {
					continue
				}
				picture, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
				require.NoError(t, err)
				require.NoError(t, os.WriteFile(filepath.Join(folder, fmt.Sprintf("%s-%d-%s.png", name, v.width, v.theme)), picture, 0o600))
			}
		})
	}
}
