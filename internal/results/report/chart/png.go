package chart

import "io"

// WritePNG draws a chart as a picture, with the layout of its SVG.
func WritePNG(w io.Writer, ch *Chart) error {
	c, err := newCanvas()
	if err != nil {
		return err
	}
	s := ch.SVG()
	if err := c.letters(c.bold, pngLetters); err != nil {
		return err
	}
	c.words(colourTitle, s.Title, 2, 14, 0)
	if err := c.letters(c.regular, pngLetters); err != nil {
		return err
	}
	c.axes(&s)
	for _, r := range s.Rules {
		c.line(penOf(style(r.Class)), Point{r.At, s.Top}, Point{r.At, s.Bottom})
	}
	for _, g := range ch.Groups {
		colour := colourOther
		if g.Colour >= 0 {
			colour = groupColours[g.Colour%len(groupColours)]
		}
		c.dots(colour, 2.3, s.places(ch, g.Points))
	}
	for _, r := range s.Ranges {
		c.line(pens[styleTrain], Point{r.X, r.High}, Point{r.X, r.Low})
	}
	c.dots(colourTrain, 3, s.Dots)
	c.lines(ch, &s)
	for _, r := range s.Rules {
		anchor := 0.0
		if r.Anchor == "end" {
			anchor = 1
		}
		c.wordsOverLines(r.Label, r.X, r.Y, anchor)
	}
	return c.write(w)
}

// axes draws the frame of a chart, its words and its bars.
func (c *canvas) axes(s *SVG) {
	for _, tick := range s.YTicks {
		c.line(pen{colour: colourGrid, width: 1}, Point{s.Left, tick.At}, Point{s.Right, tick.At})
		c.words(colourText, tick.Label, s.Left-6, tick.At+5, 1)
	}
	for _, tick := range s.XTicks {
		c.words(colourText, tick.Label, tick.At, s.Bottom+20, 0.5)
	}
	c.words(colourText, s.XLabel, s.Right, s.Bottom+40, 1)
	c.words(colourText, s.YLabel, 2, 36, 0)
	for _, b := range s.Bars {
		c.rectangle(colourBar, b.X, b.Y, b.Width, b.Height)
	}
	c.line(pen{colour: colourAxis, width: 1}, Point{s.Left, s.Top}, Point{s.Left, s.Bottom}, Point{s.Right, s.Bottom})
}

// lines draws the lines of a chart, with a legend where they have names.
func (c *canvas) lines(ch *Chart, s *SVG) {
	legend := s.Left
	for i, l := range ch.Lines {
		p := penOf(l.Style)
		c.line(p, s.places(ch, l.Points)...)
		c.dots(p.colour, 3.4, s.Lines[i].Dots)
		if l.Name != "" {
			c.line(p, Point{legend, 31}, Point{legend + 18, 31})
			c.words(colourText, l.Name, legend+23, 36, 0)
			legend += 41 + c.width(l.Name)
		}
	}
}

// penOf is the pen of a style, that of the training for the styles that only pages have.
func penOf(s style) pen {
	if p, known := pens[s]; known {
		return p
	}
	return pens[styleTrain]
}
