package labels

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/studio/web"
	"github.com/ncsa/clowder-ray/internal/text"
)

// label writes the label of a file into its metadata, in the name of the visitor. was is the label that the visitor saw: where the file has another
// one by now, nothing is written. A file that has the label already stays as it is, so the same request twice writes one entry.
func (s *Section) label(ctx context.Context, run, file, key, value, was string) (*list, int, error) {
	l, at, err := s.change(ctx, run, file, key)
	if err != nil {
		return nil, 0, err
	}
	value, content, err := l.form.read(value)
	if err != nil {
		return nil, 0, err
	}
	defer s.lock(file)()
	now, err := s.state(ctx, l, file)
	switch {
	case err != nil:
		return nil, 0, err
	case now.Gone:
		return nil, 0, web.NotFound
	case now.Label == value:
		l.items[at].State = now
		return l, at, nil
	case now.Label != "" && now.Label != l.form.same(was):
		return nil, 0, &web.Problem{
			Type: "labelled", Title: "This file has a label by now", Status: http.StatusConflict,
			Detail: fmt.Sprintf("%s labelled it %q meanwhile. Nothing was changed.", orSomebody(now.By), text.Excerpt(now.Label, 60)),
			Do:     "Go back and look at it again.",
		}
	}
	err = web.VisitorOf(ctx).Clowder.AddFileNote(ctx, file, map[string]any{l.key: content})
	if kind, _ := job.Classify(err); err != nil && kind != job.KindPermanent {
		if after, readErr := s.state(ctx, l, file); readErr == nil && after.Label == value {
			err = nil // the answer was lost, the entry is there
		}
	}
	if err != nil {
		return nil, 0, err
	}
	l.items[at].State = State{Label: value, By: web.VisitorOf(ctx).Email}
	return l, at, nil
}

// undo deletes the entry with which the visitor labelled a file. An earlier label of the file counts again then. Without such an entry there is nothing
// to do.
func (s *Section) undo(ctx context.Context, run, file, key, value string) (*list, int, error) {
	l, at, err := s.change(ctx, run, file, key)
	if err != nil {
		return nil, 0, err
	}
	defer s.lock(file)()
	now, err := s.state(ctx, l, file)
	if err != nil {
		return nil, 0, err
	}
	v := web.VisitorOf(ctx)
	if now.Label == "" || now.Label != l.form.same(value) || !now.from.ByPerson {
		l.items[at].State = now
		return l, at, nil
	}
	author, err := v.Clowder.Author(ctx)
	if err != nil {
		return nil, 0, err
	}
	if only := now.from.Content[l.key]; author != now.from.Author || !plain(only) || len(now.from.Content) != 1 {
		return nil, 0, &web.Problem{
			Type: "not-yours", Title: "This is not your label", Status: http.StatusConflict,
			Detail: "The label of this file is from an entry that was not written here, or not by you.", Do: "Change it in Clowder, or choose another class.",
		}
	}
	if err := v.Clowder.DeleteNote(ctx, now.from.ID); clowder.StatusOf(err) == http.StatusForbidden {
		return nil, 0, &web.Problem{
			Type: "forbidden", Title: "Clowder does not let you take this back", Status: http.StatusForbidden,
			Detail: "Only editors of the dataset may delete metadata.", Do: "Choose the right class instead: the newest label counts. Or ask an owner for the role editor.",
		}
	} else if err != nil {
		return nil, 0, err
	}
	l.items[at].State, err = s.state(ctx, l, file)
	return l, at, err
}

// change checks that the visitor may label files of the dataset, and counts the change.
func (s *Section) change(ctx context.Context, run, file, key string) (*list, int, error) {
	l, err := s.list(ctx, run, key)
	if err != nil {
		return nil, 0, err
	}
	at, err := l.at(file)
	if err != nil {
		return nil, 0, err
	}
	if _, err := web.CheckRole(ctx, s.Rights, l.rec.Request.DatasetID, clowder.RoleUploader); err != nil {
		return nil, 0, err
	}
	if !s.site.Outage().IsZero() {
		return nil, 0, &web.Problem{
			Type: "clowder", Title: "Clowder does not answer", Status: http.StatusBadGateway, Detail: "A label is written in Clowder, which does not answer.", Do: "Try again when it does.",
		}
	}
	return l, at, s.quota.Take(web.VisitorOf(ctx).Email, s.now())
}

// plain reports whether a value is one as this page writes them: a text, a number, or a list of texts.
func plain(value any) bool {
	switch v := value.(type) {
	case string, float64:
		return true
	case []any:
		return !slices.ContainsFunc(v, func(member any) bool { _, ok := member.(string); return !ok })
	default:
		return false
	}
}

func orSomebody(name string) string {
	if name == "" {
		return "Somebody"
	}
	return name
}
