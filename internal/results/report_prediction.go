package results

import "fmt"

// predictionPart shows what was predicted.
type predictionPart struct {
	Facts   []pair
	Checks  checkList
	Labels  barList
	Values  *chart
	Scores  scoreTable
	Samples *examples
}

func newPredictionPart(r *Result, pictures *album) *predictionPart {
	p := r.Prediction
	part := &predictionPart{
		Facts: predictionFacts(p), Checks: newCheckList(r), Labels: newBarList(p.Counts, nil), Values: histogramChart(valuesTitle(p), p.Values), Samples: newExamples(p.Samples, pictures),
	}
	if len(p.Scores) > 0 {
		part.Scores = newScoreTable([]string{"These rows", "Test rows of the training"}, []Scores{p.Scores, p.TrainedScores})
	}
	return part
}

// valuesTitle names the histogram of the answers: of labels it is that of their confidence.
func valuesTitle(p *Prediction) string {
	if len(p.Counts) > 0 {
		return "How sure the model is"
	}
	return "Predicted values"
}

func predictionFacts(p *Prediction) []pair {
	out := []pair{{"Model", p.Model.ref()}}
	if p.Model.Base != "" {
		out = append(out, pair{"Base", plain(p.Model.Base, "")})
	}
	if p.Model.Run != "" {
		out = append(out, pair{"Trained by run", plain(p.Model.Run, "")})
	}
	out = append(out,
		pair{"Files", fmt.Sprintf("%s: %s", plural(len(p.Files), "file"), plain(someWords(p.Files, fewFiles), ""))},
		pair{"Reads", plain(someWords(p.InputColumns, 30), "the files themselves")},
		pair{"Rows", plural(p.Rows, "row") + " predicted"},
	)
	if p.Skipped > 0 {
		out = append(out, pair{"Skipped", plural(p.Skipped, "row") + " could not be read"})
	}
	if p.LabelColumn != "" {
		out = append(out, pair{"Compared with", "the labels in the column " + plain(p.LabelColumn, "")})
	}
	return out
}
