package section

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ncsa/clowder-ray/internal/text"
)

// What the blocks of a report hold at most. A block that is larger is cut, and the report says so.
const (
	maxSections     = 20
	maxBlocks       = 30
	maxParagraphs   = 20
	maxFacts        = 60
	maxTableRows    = 100
	maxColumns      = 20
	maxLinesOfChart = 10
	maxChartPoints  = 5_000
	maxRules        = 20
	maxMatrix       = 30
	maxPictures     = 24
	maxOverlays     = 50
	maxMarked       = 50
	maxParts        = 300
)

// Limited cuts what is over the limits, in the sections themselves, too. They say so.
func Limited(sections []Section) []Section {
	sections, words := cut(sections, maxSections, "section")
	if words != "" {
		sections[maxSections-1].Cut = append(sections[maxSections-1].Cut, words)
	}
	for i := range sections {
		s := &sections[i]
		if s.Blocks, words = cut(s.Blocks, maxBlocks, "block"); words != "" {
			s.Cut = append(s.Cut, words)
		}
		for j := range s.Blocks {
			s.Blocks[j].cutToLimits()
		}
	}
	return sections
}

// cut returns at most limit entries and a sentence about the others, empty for none.
func cut[T any](list []T, limit int, what string) ([]T, string) {
	left := len(list) - limit
	if left <= 0 {
		return list, ""
	}
	verb := "are"
	if left == 1 {
		verb = "is"
	}
	return list[:limit:limit], fmt.Sprintf("%s %s not shown: there is room for %s here.", text.Count(left, "more "+what), verb, text.Number(limit))
}

func (b *Block) cutToLimits() {
	note := func(words string) {
		if words != "" && !slices.Contains(b.Cut, words) {
			b.Cut = append(b.Cut, words)
		}
	}
	var words string
	b.Text, words = cut(b.Text, maxParagraphs, "paragraph")
	note(words)
	b.Facts, words = cut(b.Facts, maxFacts, "fact")
	note(words)
	b.Columns, words = cut(b.Columns, maxColumns, "column")
	note(words)
	b.Rows, words = cut(b.Rows, maxTableRows, "row")
	note(words)
	for i := range b.Rows {
		b.Rows[i], words = cut(b.Rows[i], maxColumns, "column")
		note(words)
	}
	b.Pictures, words = cut(b.Pictures, maxPictures, "picture")
	note(words)
	for i := range b.Pictures {
		b.Pictures[i].Overlays, words = cut(b.Pictures[i].Overlays, maxOverlays, "mark")
		note(words)
	}
	b.Examples, words = cut(b.Examples, maxMarked, "example")
	note(words)
	for i := range b.Examples {
		b.Examples[i].Parts, words = cut(b.Examples[i].Parts, maxParts, "part")
		note(words)
	}
	if m := b.Matrix; m != nil {
		m.Labels, words = cut(m.Labels, maxMatrix, "column")
		note(words)
		m.RowLabels, words = cut(m.RowLabels, maxMatrix, "row")
		note(words)
		m.Counts = m.Counts[:min(len(m.Counts), maxMatrix)]
		for i := range m.Counts {
			m.Counts[i] = m.Counts[i][:min(len(m.Counts[i]), maxMatrix)]
		}
	}
	if c := b.Chart; c != nil {
		c.cutToLimits(note)
	}
}

func (c *Chart) cutToLimits(note func(string)) {
	var words string
	c.Series, words = cut(c.Series, maxLinesOfChart, "line")
	note(words)
	c.Rules, words = cut(c.Rules, maxRules, "mark")
	note(words)
	for _, axis := range []*ChartAxis{&c.X, &c.Y} {
		axis.Labels, words = cut(axis.Labels, maxTableRows, "label")
		note(words)
	}
	left := maxChartPoints
	for i := range c.Series {
		s := &c.Series[i]
		s.Points, words = cut(s.Points, left, "point")
		note(words)
		s.Ranges, words = cut(s.Ranges, left, "interval")
		note(words)
		left -= len(s.Points)
	}
}

// Check refuses blocks whose parts do not fit together. The schema has checked the names and forms in them.
func Check(sections []Section) error {
	for _, s := range sections {
		for _, b := range s.Blocks {
			if err := b.check(); err != nil {
				return fmt.Errorf("section %q, block %q: %w", text.Excerpt(s.Title, 60), text.Excerpt(string(b.Type), 20), err)
			}
		}
	}
	return nil
}

// check looks at all that a block has, whatever its type: all of it is drawn.
func (b *Block) check() error {
	switch {
	case b.Type == BlockChart && b.Chart == nil:
		return errors.New("there is no chart")
	case b.Type == BlockMatrix && b.Matrix == nil:
		return errors.New("there is no matrix")
	}
	return errors.Join(b.checkRows(), b.Chart.check(), b.Matrix.check(), b.checkPictures())
}

func (b *Block) checkRows() error {
	for _, row := range b.Rows {
		if len(row) != len(b.Columns) {
			return errors.New("a row has more or fewer cells than there are columns")
		}
		for _, c := range row {
			for _, v := range []*float64{c.Value, c.Low, c.High} {
				if v != nil && CheckNumbers(*v) != nil {
					return errors.New("a number is impossible")
				}
			}
		}
	}
	return nil
}

func (b *Block) checkPictures() error {
	for _, p := range b.Pictures {
		if err := CheckPicture(p.PNG); err != nil || p.PNG == "" {
			return errors.Join(errors.New("a picture is missing"), err)
		}
		for _, o := range p.Overlays {
			if !(o.Left >= 0 && o.Top >= 0 && o.Width >= 0 && o.Height >= 0 && o.Left+o.Width <= 1+1e-6 && o.Top+o.Height <= 1+1e-6) {
				return errors.New("a box is not inside of its picture")
			}
		}
	}
	return nil
}

func (c *Chart) check() error {
	if c == nil {
		return nil
	}
	size := map[string]int{ChartLine: 2, ChartDots: 2, ChartBars: 3}[c.Form]
	for _, s := range c.Series {
		for _, p := range s.Points {
			if len(p) != size || CheckNumbers(p...) != nil || c.X.Log && p[0] <= 0 || c.Y.Log && p[size-1] <= 0 {
				return errors.New("a point is impossible")
			}
		}
		for _, p := range s.Ranges {
			if len(p) != 3 || CheckNumbers(p...) != nil || p[1] > p[2] {
				return errors.New("an interval is impossible")
			}
		}
	}
	for _, rule := range c.Rules {
		if CheckNumbers(rule.At) != nil {
			return errors.New("a mark is impossible")
		}
	}
	return nil
}

func (m *Matrix) check() error {
	if m == nil {
		return nil
	}
	if len(m.Counts) != len(m.RowLabels) || m.Same && !slices.Equal(m.RowLabels, m.Labels) {
		return errors.New("the matrix does not fit its labels")
	}
	for _, row := range m.Counts {
		if len(row) != len(m.Labels) {
			return errors.New("the matrix does not fit its labels")
		}
		for _, n := range row {
			if n < 0 || n > MaxCount {
				return errors.New("a count is impossible")
			}
		}
	}
	return nil
}
