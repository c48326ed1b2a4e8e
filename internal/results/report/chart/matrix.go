package chart

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/section"
	"github.com/ncsa/clowder-ray/internal/text"
)

const (
	// MaxMatrixClasses bounds the confusion matrix; the other classes are taken together.
	MaxMatrixClasses = 20
	// shortHead is how many letters fit above a column of a wide matrix.
	shortHead = 3
	// labelLetters is how many letters of a label are shown.
	labelLetters = 24
	// wideMatrix is how many classes fit beside each other in half of the page.
	wideMatrix = 5
)

// ByFrequency orders the classes of the confusion matrix by their number of test rows.
func ByFrequency(r *results.Result) []int {
	order := make([]int, len(r.Confusion))
	rows := make([]int, len(r.Confusion))
	for i, row := range r.Confusion {
		order[i] = i
		for _, n := range row {
			rows[i] += n
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rows[b], rows[a]) })
	return order
}

// Matrix is counts by two lists of labels as they are shown: the confusion matrix, or one of a section.
type Matrix struct {
	// RowTitle and ColumnTitle say what the labels are.
	RowTitle, ColumnTitle string
	// Heads are the labels of the columns: names, or their numbers where the names of both lists are the same and would not fit.
	Heads []string
	Rows  []matrixRow
	// Wide says that it needs the width of the page.
	Wide bool
}

type matrixRow struct {
	Label string
	Cells []cell
}

type cell struct {
	Count string
	N     int
	// Share is of the row, 0..1.
	Share float64
	// Shade is the share of the row in steps of ten percent, 0..10.
	Shade int
	// Percent is the share in words, where there is room for it.
	Percent string
	Hit     bool
	Title   string
}

// NewMatrix makes the confusion matrix of the most frequent classes, in the order of the model, the others together. It is
// nil where there is none.
func NewMatrix(r *results.Result) *Matrix {
	if len(r.Confusion) == 0 {
		return nil
	}
	labels, counts := countsByShownClass(r)
	m := &Matrix{RowTitle: "true class", ColumnTitle: "predicted class"}
	m.fill(labels, labels, counts, true, " predicted as ")
	return m
}

// OfMatrix makes the matrix of a block; nil where it has none.
func OfMatrix(b *section.Matrix) *Matrix {
	if b == nil {
		return nil
	}
	m := &Matrix{RowTitle: words(b.RowTitle, "rows"), ColumnTitle: words(b.ColumnTitle, "columns")}
	m.fill(shortLabels(b.RowLabels), shortLabels(b.Labels), b.Counts, b.Same, ", ")
	return m
}

// fill sets the rows. same says that both lists of labels are the same; between stands between the two labels of a cell in its title.
func (m *Matrix) fill(rows, columns []string, counts [][]int, same bool, between string) {
	m.Heads, m.Wide = columns, len(columns) > wideMatrix
	numbered := same && (m.Wide && longest(columns) > shortHead || alike(columns))
	if numbered {
		m.Heads = make([]string, len(columns))
		for i := range m.Heads {
			m.Heads[i] = strconv.Itoa(i + 1)
		}
	}
	for i, row := range counts {
		total := 0
		for _, count := range row {
			total += count
		}
		shown := matrixRow{Label: rows[i]}
		if numbered {
			shown.Label += " · " + m.Heads[i]
		}
		for j, count := range row {
			shown.Cells = append(shown.Cells, newCell(rows[i]+between+columns[j], count, total, m.Wide))
			shown.Cells[j].Hit = same && i == j
		}
		m.Rows = append(m.Rows, shown)
	}
}

// shortLabels are labels that fit beside and above the cells.
func shortLabels(labels []string) []string {
	short := make([]string, len(labels))
	for i, label := range labels {
		short[i] = text.Excerpt(label, labelLetters)
	}
	return short
}

// countsByShownClass adds up the confusion matrix: the most frequent classes keep their row and column, the others share one.
func countsByShownClass(r *results.Result) (labels []string, counts [][]int) {
	n := len(r.Confusion)
	slot := make([]int, n) // of each class in the shown matrix
	labels = make([]string, 0, MaxMatrixClasses+1)
	shown := ByFrequency(r)[:min(n, MaxMatrixClasses)]
	for i := range n {
		if slices.Contains(shown, i) {
			slot[i] = len(labels)
			labels = append(labels, text.Excerpt(r.Model.Labels[i], labelLetters))
		} else {
			slot[i] = len(shown)
		}
	}
	if n > len(shown) {
		labels = append(labels, fmt.Sprintf("%d others", n-len(shown)))
	}
	counts = make([][]int, len(labels))
	for i := range counts {
		counts[i] = make([]int, len(labels))
	}
	for i, row := range r.Confusion {
		for j, count := range row {
			counts[slot[i]][slot[j]] += count
		}
	}
	return labels, counts
}

// newCell is a count and its share of the total of its row. labels are those of its row and column.
func newCell(labels string, count, total int, wide bool) cell {
	part := max(0, Ratio(count, total))
	c := cell{Count: text.Number(count), N: count, Share: part, Shade: int(part*10 + 0.5), Title: fmt.Sprintf("%s: %.0f %%", labels, 100*part)}
	if !wide {
		c.Percent = fmt.Sprintf("%.0f %%", 100*part)
	}
	return c
}

// Ratio is a/b, or -1 where there is nothing to divide by.
func Ratio(a, b int) float64 {
	if b == 0 {
		return -1
	}
	return float64(a) / float64(b)
}

// alike reports whether two texts are the same, as long names may be once they are shortened.
func alike(texts []string) bool {
	return len(slices.Compact(slices.Sorted(slices.Values(texts)))) < len(texts)
}

// longest is the number of letters of the longest text.
func longest(texts []string) int {
	n := 0
	for _, t := range texts {
		n = max(n, utf8.RuneCountInString(t))
	}
	return n
}
