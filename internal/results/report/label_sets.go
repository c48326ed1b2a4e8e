package report

import (
	"fmt"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/text"
)

// labelSetPart shows which labels of the test rows a model finds that predicts several for each row.
type labelSetPart struct {
	Sentence   string
	Labels     []labelSetRow
	MoreLabels int
}

// labelSetRow is the scores of a label, or of all.
type labelSetRow struct {
	entityRow
	From string
}

func newLabelSetPart(s *results.LabelSets) *labelSetPart {
	if s == nil {
		return nil
	}
	part := &labelSetPart{Sentence: labelSetSentence(s), MoreLabels: max(0, len(s.Labels)-maxClassRows)}
	part.Labels = append(part.Labels, labelSetRow{newEntityRow("all", s.Overall), ""})
	for _, l := range s.Labels[:min(len(s.Labels), maxClassRows)] {
		part.Labels = append(part.Labels, labelSetRow{newEntityRow(text.Excerpt(l.Label, 48), l.EntityScores), results.Figure("", l.Threshold)})
	}
	return part
}

func labelSetSentence(s *results.LabelSets) string {
	all := s.Overall
	said := fmt.Sprintf("The model finds %s of the %s labels of the test rows; %s of its %s predictions are right.",
		text.Number(all.Right), text.Number(all.True), text.Number(all.Right), text.Number(all.Predicted))
	if b := s.Baseline; b != nil {
		said += fmt.Sprintf(" With a bag of words, F1 is %s.", results.Figure("", b.F1.Value))
	}
	return said
}
