package chart

import (
	"io"

	"github.com/ncsa/clowder-ray/internal/text"
)

// The place of the cells of a confusion matrix, and the most letters of the name of a class beside them.
const (
	cellsLeft, cellsRight = 118, svgWidth - 4
	cellsTop, cellsBottom = 28, svgHeight - 26
	rowLetters            = 18
	columnLetters         = 48
)

// WriteConfusionPNG draws the confusion matrix as a picture, the true classes downwards.
func WriteConfusionPNG(w io.Writer, m *Matrix) error {
	c, err := newCanvas()
	if err != nil {
		return err
	}
	if err := c.letters(c.bold, pngLetters); err != nil {
		return err
	}
	c.words(colourTitle, "True class (rows), predicted class (columns)", 2, 14, 0)
	n := len(m.Rows)
	letters := float64(pngLetters)
	if m.Wide {
		letters = 10
	}
	if err := c.letters(c.regular, letters); err != nil {
		return err
	}
	left := float64(cellsLeft)
	if longestName := c.longestRow(m); longestName+10 < left { // short names leave their room to the cells
		left = longestName + 10
	}
	width, height := (cellsRight-left)/float64(n), float64(cellsBottom-cellsTop)/float64(n)
	for i, row := range m.Rows {
		c.words(colourText, text.Shorten(row.Label, rowLetters), left-6, cellsTop+height*(float64(i)+0.5)+0.36*letters, 1)
		c.words(colourText, text.Shorten(m.Heads[i], columnLetters/n+1), left+width*(float64(i)+0.5), cellsBottom+6+letters, 0.5)
	}
	if err := c.letters(c.regular, min(pngLetters, 168/float64(n))); err != nil {
		return err
	}
	for i, row := range m.Rows {
		for j, cell := range row.Cells {
			c.cell(cell, n, left+width*float64(j), cellsTop+height*float64(i), width, height)
		}
	}
	return c.write(w)
}

func (c *canvas) longestRow(m *Matrix) float64 {
	longest := 0.0
	for _, row := range m.Rows {
		longest = max(longest, c.width(text.Shorten(row.Label, rowLetters)))
	}
	return longest
}

// cell draws one of n × n cells, with its number and its share where there is room for them.
func (c *canvas) cell(cell cell, n int, x, y, width, height float64) {
	const gap = 0.04
	c.rectangle(shades[cell.Shade], x+gap/2*width, y+gap/2*height, (1-gap)*width, (1-gap)*height)
	if n > MaxMatrixClasses/2 && cell.Shade == 0 {
		return
	}
	colour, middle := colourText, y+height/2+0.36*min(pngLetters, 168/float64(n))
	if cell.Shade >= darkShade {
		colour = "#ffffff"
	}
	if cell.Percent != "" {
		c.words(colour, cell.Percent, x+width/2, middle+0.6*pngLetters, 0.5)
		middle -= 0.6 * pngLetters
	}
	c.words(colour, cell.Count, x+width/2, middle, 0.5)
}
