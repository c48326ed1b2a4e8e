package models

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/ncsa/clowder-ray/internal/answer"
	"github.com/ncsa/clowder-ray/internal/registry"
	"github.com/ncsa/clowder-ray/internal/text"
)

// Reasons say which parts of a row raise the answer and which lower it.
type Reasons struct {
	// Answer is what is raised: the predicted class, or the number.
	Answer string `json:"answer"`
	// Parts are the columns, the words or the squares of a picture, those that matter most first.
	Parts []ReasonPart `json:"parts"`
}

// ReasonPart is one part of a row.
type ReasonPart struct {
	Name string `json:"name"`
	// Raised is by how much the answer is higher than without the part: in the logarithm of the odds of the class, or in the unit of the
	// number.
	Raised float64 `json:"raised"`
	// Box is where the part of a picture is: left, top, width and height, in shares of the picture; none for other parts.
	Box []float64 `json:"box,omitempty"`
}

var errNoReasons = errors.New("the answer process sent no reasons")

// reasons lets a version say why it answers a row as it does.
func (s *Section) reasons(ctx context.Context, v registry.Version, row map[string]any) (*Reasons, error) {
	inputs, err := tensors(s.reads(v), []map[string]any{row})
	if err != nil {
		return nil, err
	}
	request, err := json.Marshal(map[string]any{"inputs": inputs, "parameters": map[string]any{"why": true}})
	if err != nil {
		return nil, fmt.Errorf("encode a question to a model: %w", err)
	}
	reply, err := s.Answers.Forward(ctx, place(v), request)
	if err != nil {
		return nil, problem(err)
	}
	var found answer.Answer
	if err := json.Unmarshal(reply, &found); err != nil {
		return nil, fmt.Errorf("read the reasons of a model: %w", err)
	}
	return reasonsOf(found.Outputs)
}

// reasonsOf reads the tensors with the parts, by how much each raises the answer, and where they are in a picture.
func reasonsOf(outputs []answer.Tensor) (*Reasons, error) {
	named := map[string]answer.Tensor{}
	for _, o := range outputs {
		named[o.Name] = o
	}
	parts, raised, boxes := named["why.part"], named["why.raised"].Data, named["why.box"].Data
	said, ok := parts.Parameters["answer"].(string)
	if !ok || len(parts.Data) != len(raised) || (boxes != nil && len(boxes) != 4*len(raised)) {
		return nil, errNoReasons
	}
	out := &Reasons{Answer: text.Excerpt(said, 200), Parts: []ReasonPart{}}
	for i := range parts.Data {
		name, ok1 := at[string](parts.Data, i)
		by, ok2 := at[float64](raised, i)
		if !ok1 || !ok2 {
			return nil, errNoReasons
		}
		part := ReasonPart{Name: text.Excerpt(name, 100), Raised: by}
		for j := range min(4, len(boxes)) {
			side, ok := at[float64](boxes, 4*i+j)
			if !ok || side < 0 || side > 1 {
				return nil, errNoReasons
			}
			part.Box = append(part.Box, side)
		}
		out.Parts = append(out.Parts, part)
	}
	slices.SortStableFunc(out.Parts, func(a, b ReasonPart) int { return cmp.Compare(math.Abs(b.Raised), math.Abs(a.Raised)) })
	return out, nil
}
