//go:build integration

package studio

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
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

// awake says that the scripts of a page have drawn what they draw in place of the server. A build without scripts has none.
const awake = `document.querySelector('head script') === null ||
	(document.querySelector('[data-live=charts] svg') === null && (document.querySelector('[data-island=editor]') === null || document.querySelector('.cm-line') !== null))`

// checked says that the editor, where there is one, shows the answer of its check.
const checked = `document.querySelector('[data-part=findings]')?.textContent !== ''`

// TestPages looks at each page in both themes and at both widths: nothing reaches beyond the window. Where STUDIO_PICTURES names a folder,
// the pictures are kept there.
func TestPages(t *testing.T) {
	s := site.New(t, site.Options{})
	s.Fill(t)
	file, err := s.Clowder.AddFile(s.Dataset, "finetune.yaml", strings.NewReader("# Film reviews\nepochs: 5\nlearning_rate: 3e-4\n\ntraining:\n  seed: 7\n  weight_decay: 0.1\n"))
	require.NoError(t, err)
	folder := os.Getenv("STUDIO_PICTURES")
	for name, page := range map[string]string{
		"editor":  "datasets/" + s.Dataset + "/files/" + file,
		"model":   "models/" + s.Dataset + "/reviews",
		"models":  "datasets/" + s.Dataset + "/models",
		"files":   "datasets/" + s.Dataset + "/files",
		"login":   "login",
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
				b.until(awake)
				b.until(fmt.Sprintf("document.documentElement.scrollWidth <= %d", v.width)) // nothing scrolls sideways; charts follow the window
				if folder == "" {
					continue
				}
				b.until(checked)
				picture, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
				require.NoError(t, err)
				require.NoError(t, os.WriteFile(filepath.Join(folder, fmt.Sprintf("%s-%d-%s.png", name, v.width, v.theme)), picture, 0o600))
			}
		})
	}
}
