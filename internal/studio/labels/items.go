package labels

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/studio/web"
)

// Item is a file whose label would teach the model.
type Item struct {
	ID         string   `json:"id" doc:"Id of the file in Clowder"`
	Name       string   `json:"file"`
	Predicted  string   `json:"predicted" doc:"What the model says"`
	Confidence *float64 `json:"confidence,omitempty"`
	Low        string   `json:"low,omitempty" doc:"The ends of the interval of a number"`
	High       string   `json:"high,omitempty"`
	State
}

// State is what Clowder says of the label of a file now.
type State struct {
	Label string `json:"label,omitempty" doc:"The label that the file has now; none while it has none"`
	By    string `json:"by,omitempty" doc:"Who wrote it"`
	// Gone says that the file was deleted, or that the visitor may not see it.
	Gone bool `json:"gone,omitempty" doc:"The file is no longer there"`
	from clowder.Note
}

// list is the list of a prediction as a visitor works through it.
type list struct {
	rec     job.Record
	items   []Item
	classes []string
	// keys are those from which the model was trained, key is that to write.
	keys []string
	key  string
	form form
	role clowder.Role
}

// defaultKey is the key to write where the model was not trained from metadata.
const defaultKey = "label"

// list returns the list of a prediction that the visitor may see. Only files are in it that the service itself staged for the run.
func (s *Section) list(ctx context.Context, run, key string) (*list, error) {
	rec, err := s.See(ctx, run)
	if err != nil {
		return nil, err
	}
	role, err := web.CheckRole(ctx, s.Rights, rec.Request.DatasetID, clowder.RoleViewer)
	if err != nil {
		return nil, err
	}
	result := s.Result(run)
	if result == nil || result.Prediction == nil || len(result.Prediction.NextLabels) == 0 {
		return nil, &web.Problem{
			Type: "no-list", Title: "Nothing to label", Status: http.StatusNotFound, Detail: "This run has no list of files whose label would teach its model.",
			Do: "Let a model of texts or pictures predict a dataset with files that have no label.",
		}
	}
	inputs, err := s.Inputs(rec)
	if err != nil {
		return nil, err
	}
	said := result.Prediction
	l := &list{rec: rec, role: role, classes: said.Model.Labels, keys: s.Keys(rec), form: formOf(said.LabelForm, inputs)}
	named := make(map[string]string, len(inputs))
	for _, in := range inputs {
		named[in.ID] = in.Name
	}
	for _, f := range result.Prediction.NextLabels {
		name, ours := named[f.ID]
		if f.ID == "" || !ours || slices.ContainsFunc(l.items, func(i Item) bool { return i.ID == f.ID }) {
			continue
		}
		l.items = append(l.items, Item{ID: f.ID, Name: name, Predicted: f.Predicted, Confidence: f.Confidence, Low: f.Low, High: f.High})
	}
	first := defaultKey
	if len(l.keys) > 0 {
		first = l.keys[0]
	}
	l.key, err = checked("name of the metadata", cmp.Or(key, first), maxKey)
	return l, err
}

// at is the place of a file in the list, or web.NotFound.
func (l *list) at(file string) (int, error) {
	if i := slices.IndexFunc(l.items, func(i Item) bool { return i.ID == file }); i >= 0 {
		return i, nil
	}
	return 0, web.NotFound
}

// state asks Clowder for the label of a file.
func (s *Section) state(ctx context.Context, l *list, file string) (State, error) {
	notes, err := web.VisitorOf(ctx).Clowder.FileNotes(ctx, file)
	switch {
	case clowder.StatusOf(err) == http.StatusNotFound:
		return State{Gone: true}, nil
	case errors.Is(err, clowder.ErrManyNotes):
		return State{}, &web.Problem{
			Type: "many-notes", Title: "This file has too much metadata", Status: http.StatusConflict,
			Detail: "A file of the list has more metadata than this service reads.", Do: "Delete entries that nobody needs in Clowder.",
		}
	case err != nil:
		return State{}, err
	}
	found := State{}
	if found.Label, found.from = s.LabelIn(notes, l.key); found.Label != "" {
		found.Label = l.form.same(found.Label)
		found.By = cmp.Or(found.from.Name, found.from.Extractor)
	}
	return found, nil
}

// streams is how many files are asked for their labels in parallel.
const streams = 8

// look asks Clowder for the labels of all files of a list.
func (s *Section) look(ctx context.Context, l *list) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(streams)
	for i := range l.items {
		group.Go(func() (err error) {
			l.items[i].State, err = s.state(ctx, l, l.items[i].ID)
			return err
		})
	}
	return group.Wait()
}

// next is the place of the first file from a place on that has no label, -1 for none. It asks Clowder for no more files than it must.
func (s *Section) next(ctx context.Context, l *list, from int) (int, error) {
	for i := max(0, from); i < len(l.items); i++ {
		state, err := s.state(ctx, l, l.items[i].ID)
		if err != nil {
			return -1, err
		}
		l.items[i].State = state
		if state.Label == "" && !state.Gone {
			return i, nil
		}
	}
	return -1, nil
}
