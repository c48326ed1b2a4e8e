package report

import (
	"html/template"
	"strings"
	"unicode"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/report/chart"
	"github.com/ncsa/clowder-ray/internal/results/section"
	"github.com/ncsa/clowder-ray/internal/text"
)

// shownSection is a section as the templates draw it. Its texts are plain.
type shownSection struct {
	Title  string
	Blocks []block
	// Cut are sentences about what was left out.
	Cut []string
}

// block is a block as the templates draw it.
type block struct {
	Title    string
	Folded   bool
	Text     []string
	Facts    []pair
	Heads    []string
	Numbers  bool
	Rows     [][]blockCell
	Chart    *chart.Chart
	Matrix   *chart.Matrix
	Pictures []blockPicture
	Examples []blockExample
	// Notes stand below: what the block says, and what was left out of it.
	Notes []string
}

// blockCell is a text, or a number with its interval.
type blockCell struct{ Value, Interval string }

type blockPicture struct {
	URL     template.URL
	Caption string
	Boxes   []blockBox
}

// blockBox is in percent of the picture.
type blockBox struct {
	X, Y, Width, Height float64
	Label, Class        string
}

type blockExample struct {
	Parts []blockPart
	Where string
}

// blockPart is some words. Class is the style of the mark, empty for plain words.
type blockPart struct{ Text, Class, Note string }

// sections are the sections of the result at a place.
func sections(r *results.Result, place string, images *imageBudget) []shownSection {
	var list []shownSection
	for _, s := range r.Sections {
		if s.Place != place {
			continue
		}
		out := shownSection{Title: text.Shorten(results.Plain(s.Title, "More"), maxTitle), Cut: s.Cut}
		for _, b := range s.Blocks {
			out.Blocks = append(out.Blocks, newBlock(b, images))
		}
		list = append(list, out)
	}
	return list
}

const (
	// maxTitle is how many characters a title has, maxCell a cell of a table, maxText another text.
	maxTitle = 100
	maxCell  = 2000
	maxText  = 4000
)

func newBlock(b section.Block, images *imageBudget) block {
	out := block{Title: text.Shorten(results.Plain(b.Title, ""), maxTitle), Folded: b.Folded, Chart: chart.OfBlock(b), Matrix: chart.OfMatrix(b.Matrix)}
	for _, p := range b.Text {
		out.Text = append(out.Text, blockText(p))
	}
	for _, f := range b.Facts {
		out.Facts = append(out.Facts, pair{text.Shorten(results.Plain(f.Name, "–"), maxTitle), text.Shorten(text.Lines(f.Value), maxCell)})
	}
	out.Numbers = len(b.Columns) > 0
	for i, c := range b.Columns {
		out.Heads = append(out.Heads, text.Shorten(results.Plain(c.Title, ""), maxTitle))
		out.Numbers = out.Numbers && (i == 0 || allNumbers(b.Rows, i))
	}
	for _, row := range b.Rows {
		cells := make([]blockCell, len(row))
		for i, c := range row {
			cells[i] = newBlockCell(b.Columns[i], c)
		}
		out.Rows = append(out.Rows, cells)
	}
	hidden := 0
	for _, p := range b.Pictures {
		if picture := newBlockPicture(p, images); picture.URL != "" {
			out.Pictures = append(out.Pictures, picture)
		} else {
			hidden++
		}
	}
	if hidden > 0 {
		out.Notes = append(out.Notes, text.Capital(text.Count(hidden, "picture"))+" did not fit into this report.")
	}
	for _, e := range b.Examples {
		example := blockExample{Where: text.Excerpt(e.Where, 80)}
		for _, p := range e.Parts {
			example.Parts = append(example.Parts, blockPart{partText(p.Text), markClasses[p.Mark], text.Excerpt(p.Note, 80)})
		}
		out.Examples = append(out.Examples, example)
	}
	if b.Note != "" {
		out.Notes = append(out.Notes, blockText(b.Note))
	}
	out.Notes = append(out.Notes, b.Cut...)
	return out
}

// blockText is a text of a block as it is shown, with its lines.
func blockText(s string) string { return text.Shorten(text.Lines(s), maxText) }

// partText is blockText for words among others: a blank or the end of a line on either side stays.
func partText(s string) string {
	words := blockText(strings.ReplaceAll(s, "\t", " "))
	switch end := s[len(strings.TrimRightFunc(s, unicode.IsSpace)):]; {
	case strings.Contains(end, "\n"):
		words += "\n"
	case end != "":
		words += " "
	}
	return words
}

// markClasses are the styles of marks.
var markClasses = map[section.Mark]string{section.MarkRight: "cft-hits", section.MarkWrong: "cft-misses", section.MarkShown: "cft-shown"}

// allNumbers reports whether a column has no text.
func allNumbers(rows [][]section.Cell, column int) bool {
	for _, row := range rows {
		if column < len(row) && row[column].Value == nil && row[column].Text != "" {
			return false
		}
	}
	return true
}

func newBlockCell(c section.Column, cell section.Cell) blockCell {
	if cell.Value == nil {
		return blockCell{Value: text.Shorten(text.Lines(cell.Text), maxCell)}
	}
	write := results.Share
	switch c.Form {
	case section.FormCount:
		write = func(v float64) string { return text.Number(int64(v)) }
	case section.FormNumber:
		write = text.Significant
	}
	out := blockCell{Value: write(*cell.Value)}
	if cell.Low != nil && cell.High != nil && *cell.Low <= *cell.High {
		out.Interval = results.Interval(*cell.Low, *cell.High, write)
	}
	return out
}

func newBlockPicture(p section.Picture, images *imageBudget) blockPicture {
	out := blockPicture{URL: images.url(p.PNG), Caption: text.Excerpt(p.Caption, 200)}
	percent := func(v float64) float64 { return chart.Tenth(100 * v) }
	for _, o := range p.Overlays {
		out.Boxes = append(out.Boxes, blockBox{
			percent(o.Left), percent(o.Top), percent(o.Width), percent(o.Height), text.Excerpt(o.Label, 60), markClasses[o.Mark],
		})
	}
	return out
}
