package runs

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/form"
	"github.com/ncsa/clowder-ray/internal/studio/web"
)

// trainPage is the form that starts a run.
type trainPage struct {
	Dataset                         Dataset
	Heading, Description, Verb, Key string
	Extractor                       string
	Others                          []choice
	// Like is the run whose settings the form begins with, nil for none.
	Like   *Row
	Groups []group
	Files  []DatasetFile
	// Problem says why the form was not sent, nil where it is new.
	Problem *web.Problem
}

// startKinds are what the buttons of the form say.
var startKinds = []choice{{Value: KindTrain, Word: "Train"}, {Value: KindPredict, Word: "Predict"}, {Value: KindScript, Word: "Run a script"}}

// group is the fields of one frame of the form.
type group struct {
	Title  string
	Fields []formField
}

// formField is a field with its present value in words.
type formField struct {
	form.Field
	Value    string
	Changed  bool
	Number   bool
	Step     string
	Min, Max string
}

// DatasetFile is a file that a field of the form can name.
type DatasetFile struct{ ID, Name string }

func (s *Section) showTrain(w http.ResponseWriter, req *http.Request) error {
	q := req.URL.Query()
	return s.trainForm(w, req, http.StatusOK, q.Get("extractor"), q.Get("like"), nil, nil)
}

func (s *Section) postTrain(w http.ResponseWriter, req *http.Request) error {
	if err := req.ParseForm(); err != nil {
		return &web.Problem{Type: "request", Title: "The form was not understood", Status: http.StatusBadRequest, Detail: "The browser sent a form that cannot be read.", Do: "Open the form again."}
	}
	extractor := req.PostForm.Get("extractor")
	e, ok := s.forms.Named(extractor)
	var parameters map[string]any
	if ok {
		parameters = parametersOf(e.Info, req.PostForm)
	}
	sent, err := s.submit(req.Context(), req.PathValue("ds"), extractor, parameters, req.PostForm.Get("key"), s.checks)
	if wrong, isProblem := errors.AsType[*web.Problem](err); isProblem && wrong.Status == http.StatusUnprocessableEntity && ok {
		return s.trainForm(w, req, wrong.Status, extractor, req.PostForm.Get("like"), req.PostForm, wrong)
	}
	if err != nil {
		return err
	}
	http.Redirect(w, req, s.site.Link("runs", sent.Run), http.StatusSeeOther)
	return nil
}

// trainForm shows the form of an extractor with the settings of the run like, or with those that were posted.
func (s *Section) trainForm(w http.ResponseWriter, req *http.Request, status int, extractor, like string, posted url.Values, problem *web.Problem) error {
	ctx, id := req.Context(), req.PathValue("ds")
	if _, err := web.CheckRole(ctx, s.rights, id, clowder.RoleUploader); err != nil {
		return err
	}
	e, ok := s.forms.Named(extractor)
	if !ok {
		e = s.forms.startable()[0]
	}
	values := map[string]any{}
	var row *Row
	if like != "" {
		rec, _, err := s.find(ctx, like)
		if err != nil {
			return err
		}
		if extractor == "" {
			e = s.forms.Of(rec.Request)
		}
		shown := s.row(rec)
		row, values = &shown, before(rec, e)
	}
	ds, _ := s.dataset(ctx, id, "")
	what := "Run"
	for _, f := range startKinds {
		if f.Value == e.Kind {
			what = f.Word
		}
	}
	p := trainPage{
		Dataset: ds, Heading: what + " on " + ds.Name, Description: e.Info.Description, Verb: what, Key: newKey(), Extractor: e.Name,
		Like: row, Groups: groups(e.Info, values, posted), Problem: problem,
	}
	if row != nil {
		p.Heading = "Run " + row.Name + " again with changes"
	}
	startable := s.forms.startable()
	for i, other := range startable {
		p.Others = append(p.Others, choice{Word: startable.verb(i), Link: s.trainLink(id, other.Name), First: other.Name == e.Name})
	}
	if hasFiles(e.Info) {
		p.Files = s.datasetFiles(ctx, id)
	}
	s.pages.train.Show(w, req, status, web.View{Title: p.Heading, Dataset: &web.Dataset{ID: ds.ID, Name: ds.Name}, Nav: navRuns, Data: p})
	return nil
}

// groups are the fields of the form in its order.
func groups(info *form.Info, values map[string]any, posted url.Values) []group {
	var out []group
	for _, f := range info.Fields() {
		if len(out) == 0 || out[len(out)-1].Title != f.Group {
			out = append(out, group{Title: f.Group})
		}
		field := formField{Field: f, Value: valueText(f.Default), Number: f.Type == "integer" || f.Type == "number", Step: "any", Min: limit(f.Minimum), Max: limit(f.Maximum)}
		if f.Type == "integer" {
			field.Step = "1"
		}
		if value, ok := values[f.Name]; ok {
			field.Value, field.Changed = valueText(value), true
		}
		if posted.Has(f.Name) {
			field.Value = posted.Get(f.Name)
			field.Changed = field.Value != valueText(f.Default)
		}
		last := &out[len(out)-1]
		last.Fields = append(last.Fields, field)
	}
	return out
}

func limit(v *float64) string {
	if v == nil {
		return ""
	}
	return valueText(*v)
}

// valueText writes a value as a field of a form takes it.
func valueText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	default:
		return fmt.Sprint(v)
	}
}

func hasFiles(info *form.Info) bool {
	for _, f := range info.Fields() {
		if f.File {
			return true
		}
	}
	return false
}

// datasetFiles are the files that a field can name; none where Clowder does not list them, since every field has a way without.
func (s *Section) datasetFiles(ctx context.Context, dataset string) []DatasetFile {
	files, err := s.clowder.Files(ctx, web.VisitorOf(ctx), dataset)
	if err != nil {
		return nil
	}
	return files
}
