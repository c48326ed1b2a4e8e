package report

import (
	"fmt"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/text"
)

const (
	// maxConfused bounds the table of types that were taken for others.
	maxConfused = 20
	// none stands for no entity.
	none = "no entity"
)

// entityPart shows which entities a model of tagged words finds in the test sentences.
type entityPart struct {
	Sentence  string
	Types     []entityRow
	MoreTypes int
	Confused  []confusedRow
	Examples  []markedSentence
}

// entityRow is the scores of the entities of a type, or of all.
type entityRow struct {
	Type                  string
	Precision, Recall, F1 scoreCell
	True                  string
}

// confusedRow is how often a type was predicted in place of another.
type confusedRow struct{ True, Predicted, Count string }

// markedSentence is a test sentence with its entities.
type markedSentence struct {
	Where string
	Parts []markedPart
}

// markedPart is some words. Class is the style of the mark, empty for words outside of all entities, and Note says what is marked.
type markedPart struct{ Text, Class, Note string }

func newEntityPart(e *results.Entities) *entityPart {
	if e == nil {
		return nil
	}
	part := &entityPart{Sentence: entitySentence(e), MoreTypes: max(0, len(e.Types)-maxClassRows)}
	part.Types = append(part.Types, newEntityRow("all", e.Overall))
	for _, t := range e.Types[:min(len(e.Types), maxClassRows)] {
		part.Types = append(part.Types, newEntityRow(text.Excerpt(t.Type, 48), t.EntityScores))
	}
	for _, c := range e.Confusion {
		if c.True != c.Predicted && len(part.Confused) < maxConfused {
			part.Confused = append(part.Confused, confusedRow{typeName(c.True), typeName(c.Predicted), text.Number(c.Count)})
		}
	}
	for _, s := range e.Examples {
		part.Examples = append(part.Examples, newMarkedSentence(s))
	}
	return part
}

func entitySentence(e *results.Entities) string {
	all := e.Overall
	said := fmt.Sprintf("The model finds %s of %s entities with all their words and their type; %s of its %s predictions are right.",
		text.Number(all.Right), text.Number(all.True), text.Number(all.Right), text.Number(all.Predicted))
	if b := e.Baseline; b != nil {
		said += fmt.Sprintf(" With the most frequent tag of each word, F1 is %s.", results.Figure("", b.F1.Value))
	}
	return said
}

func newEntityRow(name string, s results.EntityScores) entityRow {
	return entityRow{name, newEntityCell(s.Precision), newEntityCell(s.Recall), newEntityCell(s.F1), text.Number(s.True)}
}

func newEntityCell(v results.Ranged) scoreCell {
	cell := scoreCell{Value: results.Figure("", v.Value)}
	if v.Low != nil && v.High != nil {
		cell.Interval = results.Interval("", *v.Low, *v.High)
	}
	return cell
}

func newMarkedSentence(s results.EntityExample) markedSentence {
	sentence := markedSentence{Where: text.Excerpt(s.File, 60)}
	if s.Row > 0 {
		sentence.Where += ", row " + text.Number(s.Row)
	}
	for _, p := range s.Parts {
		marked := markedPart{Text: text.Excerpt(p.Text, 200)}
		switch {
		case p.True == "" && p.Predicted == "":
		case p.True == p.Predicted:
			marked.Class, marked.Note = "cft-hits", text.Excerpt(p.True, 30)
		default:
			marked.Class, marked.Note = "cft-misses", fmt.Sprintf("%s, predicted %s", typeName(p.True), typeName(p.Predicted))
		}
		sentence.Parts = append(sentence.Parts, marked)
	}
	return sentence
}

func typeName(name string) string {
	if name == "" {
		return none
	}
	return text.Excerpt(name, 30)
}

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
