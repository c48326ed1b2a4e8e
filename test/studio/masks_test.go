//go:build integration

package studio

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/answer/answertest"
	"github.com/ncsa/clowder-ray/internal/registry"
	"github.com/ncsa/clowder-ray/test/studio/site"
)

// plot is a dark picture with a bright pond, and its mask.
func plot(t *testing.T, i int) (picture, mask []byte) {
	t.Helper()
	const side = 64
	p, m := image.NewRGBA(image.Rect(0, 0, side, side)), image.NewGray(image.Rect(0, 0, side, side))
	left, top, wide := 4+i*7%24, 4+i*11%24, 18+i%14
	for x := range side {
		for y := range side {
			c := color.RGBA{uint8(70 + (x*i+3*y)%40), uint8(80 + (x+y*i)%30), 60, 255}
			if x >= left && x < left+wide && y >= top && y < top+wide {
				c = color.RGBA{uint8(150 + (x*y)%30), 190, 210, 255}
				m.SetGray(x, y, color.Gray{1})
			}
			p.SetRGBA(x, y, c)
		}
	}
	return encoded(t, p), encoded(t, m)
}

func encoded(t *testing.T, p image.Image) []byte {
	t.Helper()
	var doc bytes.Buffer
	require.NoError(t, png.Encode(&doc, p))
	return doc.Bytes()
}

// TestAPictureIsAnsweredWithItsMask trains a model of pixels and one of a number for each pixel, and asks both in the browser.
func TestAPictureIsAnsweredWithItsMask(t *testing.T) {
	t.Parallel()
	python, volume := answertest.Python(t), t.TempDir()
	trained := answertest.On(t, python, volume)
	s := site.New(t, site.Options{Volume: volume, Python: python, Trainer: trained.Trainer})
	of := registry.Dataset{Clowder: s.Clowder.URL, ID: s.Dataset}
	classes := map[string][]byte{"classes.txt": []byte("ground\npond\n")}
	var asked []byte
	for i := range 16 {
		asked, classes[fmt.Sprintf("masks/%02d.png", i)] = plot(t, i)
		classes[fmt.Sprintf("images/%02d.png", i)] = asked
	}
	settings := map[string]any{"model": "pixels-unet", "epochs": 6, "batch_size": 4}
	trained.Train(t, of, "ponds", "ft-ponds", classes, settings)
	file := filepath.Join(t.TempDir(), "plot.png")
	require.NoError(t, os.WriteFile(file, asked, 0o600))

	b := open(t, s, site.Carol, "models/"+s.Dataset+"/ponds")
	b.do(chromedp.SetUploadFiles("input[type=file]", []string{file}), chromedp.Click("form .primary"))
	b.polled(`document.querySelector(".answer .drawn img")?.naturalWidth === 64`)
	require.Contains(t, b.text(".answer .legend"), "pond")
	require.Contains(t, b.text(".answer .legend"), "as in the picture")
	require.Equal(t, `rgb(230, 159, 0)`, get[string](b, `getComputedStyle(document.querySelector(".legend rect[fill]")).fill`))
	require.Contains(t, get[string](b, `document.querySelector(".answer .downloads a").download`), "mask.png")
	looked(b, "model-mask")
	accessible(b)
	m := &shown{Site: s}
	status, _, found := m.ask(t, site.Bob, "/v2/models/"+s.Dataset+".ponds/infer", map[string]any{
		"inputs": []any{map[string]any{"name": "image", "datatype": "BYTES", "shape": []int{1}, "data": []string{base64.StdEncoding.EncodeToString(asked)}}},
	})
	require.Equal(t, http.StatusOK, status, found)
	mask := outputOf(t, found, "mask")
	pixels, err := png.Decode(bytes.NewReader(mask))
	require.NoError(t, err)
	require.Equal(t, image.Rect(0, 0, 64, 64), pixels.Bounds())

	heights := map[string][]byte{}
	for i := range 12 {
		picture, height := slope(t, i)
		heights[fmt.Sprintf("images/%02d.png", i)], heights[fmt.Sprintf("heights/%02d.npy", i)] = picture, height
	}
	trained.Train(t, of, "heights", "ft-heights", heights, settings)
	require.NoError(t, os.WriteFile(file, heights["images/03.png"], 0o600))
	b = open(t, s, site.Carol, "models/"+s.Dataset+"/heights")
	b.do(chromedp.SetUploadFiles("input[type=file]", []string{file}), chromedp.Click("form .primary"))
	b.polled(`document.querySelector(".answer .drawn img")?.naturalWidth === 64`)
	require.Len(t, get[[]string](b, `[...document.querySelectorAll(".scale stop")].map((e) => e.getAttribute("stop-color"))`), 6)
	require.Contains(t, b.text(".answer .scale"), "≤")
	require.Contains(t, b.text(".answer .values"), "mean")
	looked(b, "model-map")
	accessible(b)
}

// slope is a picture that gets brighter to the right and below, and the height of each pixel as an array of NumPy.
func slope(t *testing.T, i int) (picture, heights []byte) {
	t.Helper()
	const side = 64
	p := image.NewGray(image.Rect(0, 0, side, side))
	var doc bytes.Buffer
	head := fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }", side, side)
	fmt.Fprintf(&doc, "\x93NUMPY\x01\x00%c\x00%-117s\n", 118, head)
	for y := range side {
		for x := range side {
			height := float32(x*(4+i%5)+y*(9-i%7)) / 50
			p.SetGray(x, y, color.Gray{uint8(20 + 11*height)})
			require.NoError(t, binary.Write(&doc, binary.LittleEndian, height))
		}
	}
	return encoded(t, p), doc.Bytes()
}

// accessible holds that axe-core finds nothing in the page, in the last view.
func accessible(b *tab) {
	b.t.Helper()
	source, err := axe()
	require.NoError(b.t, err)
	b.unguarded(source)
	b.unguarded("delete window.found; " + findings)
	b.until("window.found !== undefined")
	require.Empty(b.t, get[string](b, "window.found"))
}

// looked looks at a page in both themes and at both widths. Where STUDIO_PICTURES names a folder, the pictures are kept there.
func looked(b *tab, name string) {
	b.t.Helper()
	folder := os.Getenv("STUDIO_PICTURES")
	for _, v := range views {
		b.look(v.width, 1000, v.theme)
		require.LessOrEqual(b.t, get[int64](b, "document.documentElement.scrollWidth"), v.width, "%s scrolls sideways at %d px", name, v.width)
		if folder == "" {
			continue
		}
		picture, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
		require.NoError(b.t, err)
		require.NoError(b.t, os.WriteFile(filepath.Join(folder, fmt.Sprintf("%s-%d-%s.png", name, v.width, v.theme)), picture, 0o600))
	}
}

// outputOf is the picture of an output.
func outputOf(t *testing.T, found map[string]any, name string) []byte {
	t.Helper()
	outputs, ok := found["outputs"].([]any)
	require.True(t, ok)
	for _, o := range outputs {
		output := o.(map[string]any) //nolint:forcetypeassert // a test
		if output["name"] == name {
			content, err := base64.StdEncoding.DecodeString(output["data"].([]any)[0].(string)) //nolint:forcetypeassert // a test
			require.NoError(t, err)
			return content
		}
	}
	t.Fatalf("there is no output %s", name)
	return nil
}
