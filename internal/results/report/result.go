package report

import (
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
	part.Table = learningTable(c, r)
	return part
}

// learningTable has a row for each evaluation; of very many, the last ones.
func learningTable(c chart.Curves, r *results.Result) figureTable {
	lines := [][]chart.Point{c.TrainLoss, c.ValidationLoss}
	table := figureTable{Heads: []string{"Epoch", "Training loss", "Validation loss"}}
	if c.MetricName != "loss" {
		lines, table.Heads = append(lines, c.Metric), append(table.Heads, "Validation "+r.Named(c.MetricName).Words())
	}
	rows := map[float64][]string{}
	for i, line := range lines {
		for _, p := range line {
			if rows[p.X] == nil {
				rows[p.X] = slices.Repeat([]string{"–"}, len(table.Heads))
				rows[p.X][0] = text.Decimal(p.X, 2)
			}
			rows[p.X][i+1] = r.Named(append([]string{"loss", "loss"}, c.MetricName)[i]).Figure(p.Y)
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
		Unit:   r.Unit(),
		Scores: comparison(r), Splits: splits(r), Matrix: chart.NewMatrix(r),
		Classes: classes[:min(len(classes), maxClassRows)], MoreClasses: max(0, len(classes)-maxClassRows), Long: len(classes) > manyClassRows,
	}
	if b := r.Binary; b != nil {
		area := ""
		if s, ok := r.Metrics.Test["roc_auc"]; ok {
			area = ", area " + results.Share(s.Value)
		}
		part.Charts = append(part.Charts, chart.ROC(b, area), chart.PrecisionRecall(b))
		part.Positive = text.Shorten(results.Plain(b.Positive, "the second"), 60)
		for _, t := range b.Thresholds[:min(len(b.Thresholds), maxRows)] {
			part.Thresholds = append(part.Thresholds,
				thresholdRow{text.Significant(t.Threshold), results.Share(t.Precision), results.Share(t.Recall), results.Share(t.F1)})
		}
	}
	if c := r.Calibration; c != nil {
		part.Charts = append(part.Charts, drawn(chart.Calibration(c))...)
		part.Bins = calibrationTable(c)
		part.Calibration = fmt.Sprintf("When the model reports a confidence of 90 %%, it should be right 9 times in 10. Expected calibration error (ECE): %s.", results.Share(c.ECE))
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
			table.Rows = append(table.Rows, []string{results.Share(b.Confidence), results.Share(b.Accuracy), text.Number(b.N)})
		}
	}
	return table
}

// scoreTable is metrics by name, for several models or several parts of the data.
type scoreTable struct {
	Heads []string
	Rows  []scoreRow
}

// maxUnit is how many characters of the unit of a metric a table has.
const maxUnit = 60

type scoreRow struct {
	Metric string
	// Unit is that of the values, empty for plain numbers.
	Unit  string
	Cells []scoreCell
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
	return newScoreTable(r, heads, lists)
}

// baselines are the simple models to show, at most n. One that answers at random, or that is the delivered model, is not shown. Of many, the
// best simple ones are shown.
func baselines(r *results.Result, n int) []results.Baseline {
	metric, _, _ := headline(r)
	delivered := r.Delivered()
	list := slices.DeleteFunc(slices.Clone(r.Metrics.Baselines), func(b results.Baseline) bool {
		return b.Role == results.RoleChance || delivered != nil && delivered.Name == b.Name
	})
	if len(simples(r)) > 1 {
		slices.SortStableFunc(list, func(a, b results.Baseline) int {
			one, other := a.Test[metric].Value, b.Test[metric].Value
			switch m := r.Named(metric); {
			case m.IsBetter(one, other):
				return -1
			case m.IsBetter(other, one):
				return 1
			default:
				return 0
			}
		})
	}
	return list[:min(len(list), n)]
}

func splits(r *results.Result) scoreTable {
	return newScoreTable(r, []string{"Training", "Validation", "Test"}, []results.Scores{r.Metrics.Train, r.Metrics.Validation, r.Metrics.Test})
}

func newScoreTable(r *results.Result, heads []string, lists []results.Scores) scoreTable {
	all := map[string]bool{}
	for _, scores := range lists {
		for metric := range scores {
			all[metric] = true
		}
	}
	table := scoreTable{Heads: heads}
	for _, metric := range slices.SortedFunc(maps.Keys(all), r.Described.Compare) {
		if len(table.Rows) == maxRows {
			break
		}
		m := r.Named(metric)
		row := scoreRow{Metric: m.Head(), Unit: text.Shorten(results.Plain(m.Unit, ""), maxUnit)}
		for _, scores := range lists {
			row.Cells = append(row.Cells, newScoreCell(scores, m))
		}
		table.Rows = append(table.Rows, row)
	}
	return table
}

func newScoreCell(scores results.Scores, m results.Metric) scoreCell {
	s, ok := scores[m.Name]
	if !ok {
		return scoreCell{Value: "–"}
	}
	cell := scoreCell{Value: m.Figure(s.Value)}
	if low, high := s.Bounds(); low < high {
		cell.Interval = m.Interval(low, high)
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
	part := &mistakesPart{Wrong: newExamples(r.Mistakes, images), Unsure: newExamples(r.Unsure, images), Regression: r.PredictsNumbers()}
	if part.Wrong == nil && part.Unsure == nil {
		return nil
	}
	return part
}
