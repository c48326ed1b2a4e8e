package results

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"
)

const (
	// maxClassRows bounds the table of classes, maxMatrix the confusion matrix; the other classes are taken together.
	maxClassRows = 100
	maxMatrix    = 20
	// manyClassRows is how many classes are seen at once.
	manyClassRows = 12
	// shortHead is how many letters fit above a column of a wide matrix.
	shortHead = 3
	// wideMatrix is how many classes fit beside each other in half of the page.
	wideMatrix = 5
)

// classRow is what the test rows say of one class.
type classRow struct {
	Label                 string
	Precision, Recall, F1 string
	Rows                  string
}

// classTable computes precision, recall and F1 of each class from the confusion matrix, the most frequent class first.
func classTable(r *Result) []classRow {
	var rows []classRow
	for _, i := range byFrequency(r) {
		hit, truth, said := r.Confusion[i][i], 0, 0
		for j := range r.Confusion {
			truth += r.Confusion[i][j]
			said += r.Confusion[j][i]
		}
		precision, recall := ratio(hit, said), ratio(hit, truth)
		f1 := ratio(2*hit, said+truth)
		rows = append(rows, classRow{
			Label: shorten(oneLine(r.Model.Labels[i]), 48), Precision: share(precision), Recall: share(recall), F1: share(f1),
			Rows: thousands(truth),
		})
	}
	return rows
}

// byFrequency orders the classes of the confusion matrix by their number of test rows.
func byFrequency(r *Result) []int {
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

// matrix is the confusion matrix as it is shown.
type matrix struct {
	// Heads are the labels of the columns: the classes, or their numbers where the names would not fit.
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

// newMatrix makes the confusion matrix of the most frequent classes, in the order of the model, the others together. It is
// nil where there is none.
func newMatrix(r *Result) *matrix {
	n := len(r.Confusion)
	if n == 0 {
		return nil
	}
	slot := make([]int, n) // of each class in the shown matrix
	labels := make([]string, 0, maxMatrix+1)
	shown := byFrequency(r)[:min(n, maxMatrix)]
	for i := range n {
		if slices.Contains(shown, i) {
			slot[i] = len(labels)
			labels = append(labels, shorten(oneLine(r.Model.Labels[i]), 24))
		} else {
			slot[i] = len(shown)
		}
	}
	if n > len(shown) {
		labels = append(labels, fmt.Sprintf("%d others", n-len(shown)))
	}
	counts := make([][]int, len(labels))
	for i := range counts {
		counts[i] = make([]int, len(labels))
	}
	for i, row := range r.Confusion {
		for j, count := range row {
			counts[slot[i]][slot[j]] += count
		}
	}
	m := &matrix{Heads: labels, Wide: len(labels) > wideMatrix}
	numbered := m.Wide && longest(labels) > shortHead || alike(labels)
	if numbered {
		m.Heads = make([]string, len(labels))
		for i := range m.Heads {
			m.Heads[i] = strconv.Itoa(i + 1)
		}
	}
	for i, row := range counts {
		total := 0
		for _, count := range row {
			total += count
		}
		shown := matrixRow{Label: labels[i]}
		if numbered {
			shown.Label += " · " + m.Heads[i]
		}
		for j, count := range row {
			shown.Cells = append(shown.Cells, newCell(labels[i], labels[j], count, total, m.Wide))
			shown.Cells[j].Hit = i == j
		}
		m.Rows = append(m.Rows, shown)
	}
	return m
}

// newCell is the place of the rows of one class that were taken for another.
func newCell(truth, answer string, count, total int, wide bool) cell {
	part := max(0, ratio(count, total))
	c := cell{
		Count: thousands(count), N: count, Share: part, Shade: int(part*10 + 0.5),
		Title: fmt.Sprintf("%s taken for %s: %.0f %%", truth, answer, 100*part),
	}
	if !wide {
		c.Percent = fmt.Sprintf("%.0f %%", 100*part)
	}
	return c
}

// ratio is a/b, or -1 where there is nothing to divide by.
func ratio(a, b int) float64 {
	if b == 0 {
		return -1
	}
	return float64(a) / float64(b)
}

// share writes a ratio, a dash for none.
func share(v float64) string {
	if v < 0 {
		return "–"
	}
	return figure("", v)
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
