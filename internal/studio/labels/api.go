package labels

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ncsa/clowder-ray/internal/studio/web"
)

// Next is the list of a prediction.
type Next struct {
	Run     string   `json:"run"`
	Key     string   `json:"key" doc:"The key of metadata under which labels are read and written: a training reads it with label_from: metadata.KEY"`
	Classes []string `json:"classes" doc:"The classes that the model knows"`
	Number  bool     `json:"number,omitempty" doc:"Labels are numbers"`
	// Separator and None are those of several labels.
	Separator string `json:"separator,omitempty" doc:"A label is several of the classes, with this between them"`
	None      string `json:"none,omitempty" doc:"The label of a file that has none of the classes"`
	Items     []Item `json:"items" doc:"The files, the most useful first"`
}

type (
	listInput struct {
		Run string `path:"run" maxLength:"100" doc:"Id of a prediction"`
		Key string `query:"key" maxLength:"200" doc:"The key of metadata; without one, that from which the model was trained, else label"`
	}

	labelInput struct {
		Run  string `path:"run" maxLength:"100" doc:"Id of a prediction"`
		Body struct {
			File  string `json:"file" maxLength:"100" doc:"Id of a file of the list"`
			Label string `json:"label" maxLength:"200" doc:"One of the classes, or another one; a number where labels are numbers; several of the classes with the separator between them where a label is several"`
			Key   string `json:"key,omitempty" maxLength:"200" doc:"The key of metadata, as in the list"`
			Was   string `json:"was,omitempty" maxLength:"200" doc:"The label that the file had in the list, where it had one: it is replaced"`
		}
	}

	undoInput struct {
		Run  string `path:"run" maxLength:"100" doc:"Id of a prediction"`
		Body struct {
			File  string `json:"file" maxLength:"100" doc:"Id of a file of the list"`
			Label string `json:"label" maxLength:"200" doc:"Your label, which is taken back"`
			Key   string `json:"key,omitempty" maxLength:"200" doc:"The key of metadata, as in the list"`
		}
	}

	nextAnswer struct{ Body Next }
	itemAnswer struct{ Body Item }
)

// Operations adds the operations of the API.
func (s *Section) Operations(api huma.API) {
	tags := []string{"Labels"}
	huma.Register(api, huma.Operation{
		OperationID: "next-labels", Method: http.MethodGet, Path: "/api/v1/runs/{run}/next-labels", Tags: tags,
		Summary: "The files of a prediction whose label would teach its model most, with the labels that they have now",
	}, s.apiList)
	huma.Register(api, huma.Operation{
		OperationID: "label", Method: http.MethodPost, Path: "/api/v1/runs/{run}/label", Tags: tags, Summary: "Write the label of a file into its metadata in Clowder",
		Description: "The entry is written with your credential and in your name. A file that has the label already stays as it is, so the same request twice writes one entry; one that got another label meanwhile is refused with 409.",
	}, s.apiLabel)
	huma.Register(api, huma.Operation{
		OperationID: "label-undo", Method: http.MethodPost, Path: "/api/v1/runs/{run}/label/undo", Tags: tags, Summary: "Take back your label of a file",
	}, s.apiUndo)
}

func (s *Section) apiList(ctx context.Context, in *listInput) (*nextAnswer, error) {
	l, err := s.list(ctx, in.Run, in.Key)
	if err != nil {
		return nil, web.AsProblem(err)
	}
	if err := s.look(ctx, l); err != nil {
		return nil, web.AsProblem(err)
	}
	found := Next{Run: in.Run, Key: l.key, Classes: nonNil(l.classes), Items: nonNil(l.items)}
	found.Number, found.Separator, found.None = l.form.Number, l.form.Separator, l.form.None
	return &nextAnswer{found}, nil
}

func (s *Section) apiLabel(ctx context.Context, in *labelInput) (*itemAnswer, error) {
	l, at, err := s.label(ctx, in.Run, in.Body.File, in.Body.Key, in.Body.Label, in.Body.Was)
	return answered(l, at, err)
}

func (s *Section) apiUndo(ctx context.Context, in *undoInput) (*itemAnswer, error) {
	l, at, err := s.undo(ctx, in.Run, in.Body.File, in.Body.Key, in.Body.Label)
	return answered(l, at, err)
}

func answered(l *list, at int, err error) (*itemAnswer, error) {
	if err != nil {
		return nil, web.AsProblem(err)
	}
	return &itemAnswer{l.items[at]}, nil
}

// nonNil is a list as JSON has it where it is empty.
func nonNil[T any](list []T) []T { return append([]T{}, list...) }
