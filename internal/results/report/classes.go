package report

import (
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/report/chart"
	"github.com/ncsa/clowder-ray/internal/text"
)

const (
	// maxClassRows bounds the table of classes.
	maxClassRows = 100
	// manyClassRows is how many classes are seen at once.
	manyClassRows = 12
)

// classRow is what the test rows say of one class.
type classRow struct {
	Label                 string
	Precision, Recall, F1 string
	Rows                  string
}

// classTable computes precision, recall and F1 of each class from the confusion matrix, the most frequent class first.
func classTable(r *results.Result) []classRow {
	var rows []classRow
	for _, i := range chart.ByFrequency(r) {
		hit, truth, said := r.Confusion[i][i], 0, 0
		for j := range r.Confusion {
			truth += r.Confusion[i][j]
			said += r.Confusion[j][i]
		}
		precision, recall := chart.Ratio(hit, said), chart.Ratio(hit, truth)
		f1 := chart.Ratio(2*hit, said+truth)
		rows = append(rows, classRow{
			Label: text.Excerpt(r.Model.Labels[i], 48), Precision: share(precision), Recall: share(recall), F1: share(f1),
			Rows: text.Number(truth),
		})
	}
	return rows
}

// share writes a ratio, a dash for none.
func share(v float64) string {
	if v < 0 {
		return "–"
	}
	return results.Share(v)
}
