package report

import (
	"fmt"
	"maps"
	"slices"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/text"
)

// answersPart shows what a language model writes before and after the training, and what it learnt from.
type answersPart struct {
	Note    string
	Before  bool
	Answers []answerRow
	Example []results.LearntPart
	Facts   []pair
}

type answerRow struct{ Prompt, Wanted, Before, After string }

// newAnswersPart is nil for other models.
func newAnswersPart(r *results.Result) *answersPart {
	l := r.Language
	if l == nil {
		return nil
	}
	part := &answersPart{Note: "Each token of an answer is the likeliest one.", Example: l.Example}
	if l.Sampled {
		part.Note = "The answers are drawn at random by the seed of the run."
	}
	if l.MaxNewTokens > 0 {
		part.Note += fmt.Sprintf(" They are cut at %s tokens.", text.Number(int64(l.MaxNewTokens)))
	}
	for _, a := range l.Samples {
		row := answerRow{Prompt: a.Prompt, Wanted: a.Wanted, After: shown(a.After)}
		if a.Before != nil {
			part.Before, row.Before = true, shown(*a.Before)
		}
		part.Answers = append(part.Answers, row)
	}
	trained := text.Number(int64(l.TrainedParameters))
	if l.Method == results.MethodLoRA {
		trained += fmt.Sprintf(" of %s (LoRA)", text.Number(r.Model.Parameters))
	}
	part.Facts = []pair{{"Trained weights", trained}, {"Learnt tokens", text.Number(int64(l.LearntTokens))}, {"Tokens seen", text.Number(int64(l.TokensSeen))}}
	for _, way := range slices.Sorted(maps.Keys(l.Ways)) {
		part.Facts = append(part.Facts, pair{"Answers found by " + results.Plain(way, ""), text.Number(int64(l.Ways[way]))})
	}
	return part
}

// shown is an answer for the page.
func shown(answer string) string {
	if answer == "" {
		return "(nothing)"
	}
	return answer
}
