package report

import (
	"fmt"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/report/chart"
	"github.com/ncsa/clowder-ray/internal/text"
)

// predictionPart shows what was predicted.
type predictionPart struct {
	// Unit is what was predicted: row, pair or node.
	Unit    string
	Facts   []pair
	Checks  checkList
	Labels  barList
	Values  *chart.Chart
	Scores  scoreTable
	Samples *examples
}

func newPredictionPart(r *results.Result, images *imageBudget) *predictionPart {
	p := r.Prediction
	part := &predictionPart{
		Unit: p.Unit(), Facts: predictionFacts(p), Checks: newCheckList(r), Labels: newBarList(p.Counts, nil), Values: chart.Histogram(valuesTitle(p), p.Values), Samples: newExamples(p.Samples, images),
	}
	if len(p.Scores) > 0 {
		part.Scores = newScoreTable(r, []string{"These rows", "Test rows of training"}, []results.Scores{p.Scores, p.TrainedScores})
	}
	return part
}

// valuesTitle names the histogram of the answers: of labels it is that of their confidence, unless it says what it counts.
func valuesTitle(p *results.Prediction) string {
	if len(p.Counts) > 0 && (p.Values == nil || p.Values.Unit == "") {
		return "Confidence"
	}
	return "Predicted values"
}

func predictionFacts(p *results.Prediction) []pair {
	out := []pair{{"Model", p.Model.Ref()}}
	if p.Model.Base != "" {
		out = append(out, pair{"Base", results.Plain(p.Model.Base, "")})
	}
	if p.Model.Run != "" {
		out = append(out, pair{"Trained by run", results.Plain(p.Model.Run, "")})
	}
	out = append(out,
		pair{"Files", fmt.Sprintf("%s: %s", text.Count(len(p.Files), "file"), results.Plain(text.ListSome(p.Files, fewFiles, 60), ""))},
		pair{"Input", results.Plain(text.ListSome(p.InputColumns, 30, 60), "the files themselves")},
		pair{text.Capital(p.Unit()) + "s", text.Count(p.Rows, p.Unit()) + " predicted"},
	)
	for _, f := range p.Facts {
		out = append(out, pair{results.Plain(f.Name, "–"), results.Plain(f.Value, "")})
	}
	if p.Skipped > 0 {
		out = append(out, pair{"Skipped", text.Count(p.Skipped, "row") + " could not be read"})
	}
	if p.LabelColumn != "" {
		out = append(out, pair{"Compared with", "the labels in column " + results.Plain(p.LabelColumn, "")})
	}
	return out
}
