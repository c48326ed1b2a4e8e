package chart

import (
	"fmt"
	"io"
	"sync"

	"git.sr.ht/~sbinet/gg"
	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
)

// The picture is drawn larger than Clowder shows it in its cards (about 350 pixels), with letters that are legible there.
const (
	pngScale  = 2.5 // pixels for each unit of the SVG
	PNGWidth  = svgWidth * 5 / 2
	PNGHeight = svgHeight * 5 / 2
	// pngLetters is the height of the letters in units of the SVG.
	pngLetters = 14
)

// fonts are parsed once. A face has a buffer for its letters, so each canvas makes its own.
var fonts = sync.OnceValues(func() (parsed struct{ regular, bold *opentype.Font }, err error) {
	if parsed.regular, err = opentype.Parse(goregular.TTF); err != nil {
		return parsed, fmt.Errorf("parse the font of pictures: %w", err)
	}
	if parsed.bold, err = opentype.Parse(gobold.TTF); err != nil {
		return parsed, fmt.Errorf("parse the bold font of pictures: %w", err)
	}
	return parsed, nil
})

// canvas is a PNG picture on which places, widths and sizes are given in units of the SVG. The same calls give the same bytes.
type canvas struct {
	picture       *gg.Context
	regular, bold *opentype.Font
}

func newCanvas() (*canvas, error) {
	parsed, err := fonts()
	if err != nil {
		return nil, err
	}
	c := &canvas{picture: gg.NewContext(PNGWidth, PNGHeight), regular: parsed.regular, bold: parsed.bold}
	c.picture.SetHexColor("#ffffff")
	c.picture.Clear()
	c.picture.SetLineJoinRound()
	return c, nil
}

// line joins points.
func (c *canvas) line(p pen, points ...Point) {
	if len(points) < 2 {
		return
	}
	c.picture.SetHexColor(p.colour)
	c.picture.SetLineWidth(p.width * pngScale)
	dashes := make([]float64, len(p.dashes))
	for i, length := range p.dashes {
		dashes[i] = length * pngScale
	}
	c.picture.SetDash(dashes...)
	c.picture.SetLineCapButt()
	if len(dashes) == 0 {
		c.picture.SetLineCapRound()
	}
	c.picture.MoveTo(points[0].X*pngScale, points[0].Y*pngScale)
	for _, at := range points[1:] {
		c.picture.LineTo(at.X*pngScale, at.Y*pngScale)
	}
	c.picture.Stroke()
}

func (c *canvas) dots(colour string, radius float64, points []Point) {
	c.picture.SetHexColor(colour)
	for _, at := range points {
		c.picture.DrawCircle(at.X*pngScale, at.Y*pngScale, radius*pngScale)
		c.picture.Fill()
	}
}

func (c *canvas) rectangle(colour string, x, y, width, height float64) {
	c.picture.SetHexColor(colour)
	c.picture.DrawRectangle(x*pngScale, y*pngScale, width*pngScale, height*pngScale)
	c.picture.Fill()
}

// letters selects the font of the next words.
func (c *canvas) letters(of *opentype.Font, height float64) error {
	face, err := opentype.NewFace(of, &opentype.FaceOptions{Size: height * pngScale, DPI: 72, Hinting: font.HintingNone})
	if err != nil {
		return fmt.Errorf("make the letters of a picture: %w", err)
	}
	c.picture.SetFontFace(face)
	return nil
}

// words writes one line of text whose baseline is at y. anchor is the share of the text to the left of x: 0, 0.5 or 1.
func (c *canvas) words(colour, words string, x, y, anchor float64) {
	c.picture.SetHexColor(colour)
	c.picture.DrawStringAnchored(words, x*pngScale, y*pngScale, anchor, 0)
}

// wordsOverLines writes words with a white border, so that they can be read where lines cross them.
func (c *canvas) wordsOverLines(words string, x, y, anchor float64) {
	const border = 1.6
	for _, move := range []Point{{-1, -1}, {-1, 0}, {-1, 1}, {0, -1}, {0, 1}, {1, -1}, {1, 0}, {1, 1}} {
		c.words("#ffffff", words, x+border*move.X, y+border*move.Y, anchor)
	}
	c.words(colourText, words, x, y, anchor)
}

// width is how wide words are in the font that was selected last.
func (c *canvas) width(words string) float64 {
	width, _ := c.picture.MeasureString(words)
	return width / pngScale
}

func (c *canvas) write(w io.Writer) error { return c.picture.EncodePNG(w) }
