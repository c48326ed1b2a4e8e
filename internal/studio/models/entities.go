package models

import (
	"errors"
	"slices"

	"github.com/ncsa/clowder-ray/internal/answer"
)

var errNoEntities = errors.New("the answer process sent no entities")

// hasParts reports whether the outputs are about parts of texts.
func hasParts(outputs []answer.Tensor) bool {
	return slices.ContainsFunc(outputs, func(o answer.Tensor) bool { return o.Name == "start" })
}

// marked reads the entities of texts: one value of each output for each entity, in the order of the texts.
func marked(outputs []answer.Tensor, rows []map[string]any) ([]AnsweredRow, error) {
	named := map[string][]any{}
	for _, o := range outputs {
		named[o.Name] = o.Data
	}
	out := make([]AnsweredRow, len(rows))
	i := 0
	for number, row := range rows {
		content, _ := row["text"].(string)
		characters, end := []rune(content), 0
		for ; i < len(named["row"]); i++ {
			of, ok := at[float64](named["row"], i)
			if !ok || int(of) < number {
				return nil, errNoEntities
			}
			if int(of) > number {
				break
			}
			part, err := entity(named, i, characters, end)
			if err != nil {
				return nil, err
			}
			if part.Start > end {
				out[number].Parts = append(out[number].Parts, TextPart{Text: string(characters[end:part.Start]), Start: end, End: part.Start})
			}
			out[number].Parts, end = append(out[number].Parts, part), part.End
		}
		if end < len(characters) {
			out[number].Parts = append(out[number].Parts, TextPart{Text: string(characters[end:]), Start: end, End: len(characters)})
		}
	}
	if i < len(named["row"]) {
		return nil, errNoEntities
	}
	return out, nil
}

// entity is one entity of a text, behind the one that ended before.
func entity(named map[string][]any, i int, characters []rune, before int) (TextPart, error) {
	start, ok1 := at[float64](named["start"], i)
	end, ok2 := at[float64](named["end"], i)
	kind, ok3 := at[string](named["entity"], i)
	sure, ok4 := at[float64](named["probability"], i)
	first, behind := int(start), int(end)
	if !ok1 || !ok2 || !ok3 || !ok4 || first < before || behind <= first || behind > len(characters) {
		return TextPart{}, errNoEntities
	}
	return TextPart{Text: string(characters[first:behind]), Entity: kind, Start: first, End: behind, Probability: sure}, nil
}
