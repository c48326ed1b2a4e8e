package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/report/chart"
	"github.com/ncsa/clowder-ray/internal/text"
)

// learningPart shows how the training went.
type learningPart struct {
	Sentence string
	Charts   []*chart.Chart
	// Table holds the figures of the charts, for those who do not see them.
	Table figureTable
}

// figureTable is a table of figures.
type figureTable struct {
	Heads []string
	Rows  [][]string
}

// newLearningPart is nil for an estimator, which has no epochs.
func newLearningPart(c chart.Curves, r *results.Result) *learningPart {
	if !r.HasCurves() {
		return nil
	}
	part := &learningPart{Sentence: learningSentence(c, r)}
	if r.IsEstimator() {
		part.Sentence = "These are the curves of the network, which is not delivered. " + part.Sentence
	}
	part.Charts = drawn(chart.Loss(c), chart.Metric(c), chart.Rate(c))
	part.Table = learningTable(c)
	return part
}

// learningTable has a row for each evaluation; of very many, the last ones.
func learningTable(c chart.Curves) figureTable {
	lines := [][]chart.Point{c.TrainLoss, c.ValidationLoss}
	table := figureTable{Heads: []string{"Epoch", "Training loss", "Validation loss"}}
	if c.MetricName != "loss" {
		lines, table.Heads = append(lines, c.Metric), append(table.Heads, "Validation "+results.MetricName(c.MetricName))
	}
	rows := map[float64][]string{}
	for i, line := range lines {
		for _, p := range line {
			if rows[p.X] == nil {
				rows[p.X] = slices.Repeat([]string{"–"}, len(table.Heads))
				rows[p.X][0] = text.Decimal(p.X, 2)
			}
			rows[p.X][i+1] = results.Figure(append([]string{"loss", "loss"}, c.MetricName)[i], p.Y)
		}
	}
	epochs := slices.Sorted(maps.Keys(rows))
	for _, x := range epochs[max(0, len(epochs)-maxRows):] {
		table.Rows = append(table.Rows, rows[x])
	}
	return table
}

// drawn leaves out the charts that have nothing to show.
func drawn(charts ...*chart.Chart) []*chart.Chart {
	var out []*chart.Chart
	for _, ch := range charts {
		if ch != nil {
			out = append(out, ch)
		}
	}
	return out
}

// resultPart shows how good the model is.
type resultPart struct {
	// Unit is what the test consists of: row, edge or node.
	Unit   string
	Scores scoreTable
	// Splits are the scores on the rows that the training saw, and those that it did not.
	Splits      scoreTable
	Entities    *entityPart
	LabelSets   *labelSetPart
	Classes     []classRow
	MoreClasses int
	// Long says that the table of classes is collapsed.
	Long        bool
	Matrix      *chart.Matrix
	Charts      []*chart.Chart
	Calibration string
	// Bins are the figures of the calibration.
	Bins       figureTable
	Thresholds []thresholdRow
	Positive   string
}

// thresholdRow is what the model scores if it says the positive class from a probability on.
type thresholdRow struct{ From, Precision, Recall, F1 string }

func newResultPart(r *results.Result) *resultPart {
	classes := classTable(r)
	part := &resultPart{
		Unit:     r.Unit(),
		Entities: newEntityPart(r.Entities), LabelSets: newLabelSetPart(r.LabelSets), Scores: comparison(r), Splits: splits(r), Matrix: chart.NewMatrix(r),
		Classes: classes[:min(len(classes), maxClassRows)], MoreClasses: max(0, len(classes)-maxClassRows), Long: len(classes) > manyClassRows,
	}
	if b := r.Binary; b != nil {
		area := ""
		if s, ok := r.Metrics.Test["roc_auc"]; ok {
			area = ", area " + results.Figure("", s.Value)
		}
		part.Charts = append(part.Charts, chart.ROC(b, area), chart.PrecisionRecall(b))
		part.Positive = text.Shorten(results.Plain(b.Positive, "the second"), 60)
		for _, t := range b.Thresholds[:min(len(b.Thresholds), maxRows)] {
			part.Thresholds = append(part.Thresholds,
				thresholdRow{text.Significant(t.Threshold), results.Figure("", t.Precision), results.Figure("", t.Recall), results.Figure("", t.F1)})
		}
	}
	if c := r.Calibration; c != nil {
		part.Charts = append(part.Charts, drawn(chart.Calibration(c))...)
		part.Bins = calibrationTable(c)
		part.Calibration = fmt.Sprintf("When the model reports a confidence of 90 %%, it should be right 9 times in 10. Expected calibration error (ECE): %s.", results.Figure("", c.ECE))
	}
	if g := r.Regression; g != nil {
		part.Charts = append(part.Charts, drawn(chart.Predicted(g), chart.Histogram("Errors (true minus predicted)", &g.Residuals))...)
	}
	return part
}

func calibrationTable(c *results.Calibration) figureTable {
	table := figureTable{Heads: []string{"Confidence", "Accuracy", "Rows"}}
	for _, b := range c.Bins {
		if b.N > 0 {
			table.Rows = append(table.Rows, []string{results.Figure("", b.Confidence), results.Figure("", b.Accuracy), text.Number(b.N)})
		}
	}
	return table
}

// scoreTable is metrics by name, for several models or several parts of the data.
type scoreTable struct {
	Heads []string
	Rows  []scoreRow
}

type scoreRow struct {
	Metric string
	Cells  []scoreCell
}

type scoreCell struct{ Value, Interval string }

// comparison puts the model beside the baselines and the champion, on the same test rows.
func comparison(r *results.Result) scoreTable {
	heads, lists := []string{"This model"}, []results.Scores{r.Metrics.Test}
	for _, b := range baselines(r, 3) {
		heads, lists = append(heads, text.Capital(text.Shorten(results.Plain(b.Title, b.Name), 40))), append(lists, b.Test)
	}
	if c := r.Champion; c != nil && c.Comparable {
		heads, lists = append(heads, fmt.Sprintf("%s/%d", text.Shorten(results.Plain(c.Name, ""), 40), c.Version)), append(lists, c.Test)
	}
	return newScoreTable(heads, lists)
}

// baselines are the simple models to show, at most n. Graphs have many, so theirs are the best ones.
func baselines(r *results.Result, n int) []results.Baseline {
	list := r.Metrics.Baselines
	if r.Graph != nil {
		metric, _, _ := headline(r)
		delivered := r.Delivered()
		list = slices.DeleteFunc(slices.Clone(list), func(b results.Baseline) bool { return delivered != nil && delivered.Name == b.Name })
		slices.SortStableFunc(list, func(a, b results.Baseline) int {
			one, other := a.Test[metric].Value, b.Test[metric].Value
			switch {
			case results.IsBetter(metric, one, other):
				return -1
			case results.IsBetter(metric, other, one):
				return 1
			default:
				return 0
			}
		})
	}
	return list[:min(len(list), n)]
}

func splits(r *results.Result) scoreTable {
	return newScoreTable([]string{"Training", "Validation", "Test"}, []results.Scores{r.Metrics.Train, r.Metrics.Validation, r.Metrics.Test})
}

func newScoreTable(heads []string, lists []results.Scores) scoreTable {
	all := map[string]bool{}
	for _, scores := range lists {
		for metric := range scores {
			all[metric] = true
		}
	}
	table := scoreTable{Heads: heads}
	for _, metric := range slices.SortedFunc(maps.Keys(all), byImportance) {
		if len(table.Rows) == maxRows {
			break
		}
		row := scoreRow{Metric: results.Title(metric)}
		for _, scores := range lists {
			row.Cells = append(row.Cells, newScoreCell(scores, metric))
		}
		table.Rows = append(table.Rows, row)
	}
	return table
}

// important are the metrics that a person looks for first.
var important = []string{"mrr", "hits_at_1", "hits_at_10", "hits_at_100", "auc", "average_precision", "accuracy", "f1_macro", "f1_weighted", "mcc", "roc_auc", "rmse", "mae", "r2", "spearman", "exact_match", "bits_per_byte", "perplexity", "token_accuracy"}

// byImportance orders metrics, those that are not known at the end.
func byImportance(a, b string) int {
	rank := func(metric string) int {
		if i := slices.Index(important, metric); i >= 0 {
			return i
		}
		return len(important)
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b))
}

func newScoreCell(scores results.Scores, metric string) scoreCell {
	s, ok := scores[metric]
	if !ok {
		return scoreCell{Value: "–"}
	}
	cell := scoreCell{Value: results.Figure(metric, s.Value)}
	if low, high := s.Bounds(); low < high {
		cell.Interval = results.Interval(metric, low, high)
	}
	return cell
}

// mistakesPart shows where the model is wrong, and where it does not know.
type mistakesPart struct {
	Wrong, Unsure *examples
	Regression    bool
}

// newMistakesPart is nil where there is nothing to show.
func newMistakesPart(r *results.Result, images *imageBudget) *mistakesPart {
	part := &mistakesPart{Wrong: newExamples(r.Mistakes, images), Unsure: newExamples(r.Unsure, images), Regression: r.IsRegression()}
	if part.Wrong == nil && part.Unsure == nil {
		return nil
	}
	return part
}
