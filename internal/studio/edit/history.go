package edit

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/studio/edit/merge"
	"github.com/ncsa/clowder-ray/internal/studio/web"
)

// historyView is what the page with the versions of a file shows.
type historyView struct {
	Dataset  web.Dataset
	ID, Name string
	Versions []Saved
	From, To int
	Hunks    []merge.Hunk
	Compared bool
	// Unreadable says that one of the two versions cannot be shown.
	Unreadable bool
	Base       string
	CanRestore bool
	Twice      bool
}

// Before is the number of the version before one.
func (historyView) Before(number int) int { return number - 1 }

// Newest is the number of the newest version.
func (v historyView) Newest() int { return numberOf(v.Base) }

// showHistory is the page with the versions of a file, and what changed between two of them.
func (s *Section) showHistory(w http.ResponseWriter, req *http.Request) error {
	ctx, dataset := req.Context(), req.PathValue("dataset")
	state, role, err := s.state(ctx, dataset, req.PathValue("file"), clowder.RoleViewer)
	if err != nil {
		return err
	}
	v := web.VisitorOf(ctx)
	named, err := v.Clowder.Dataset(ctx, dataset)
	if err != nil {
		return err
	}
	view := historyView{Dataset: web.Dataset{ID: dataset, Name: named.Name}, ID: state.ID, Name: state.Name, Base: tag(state)}
	why, _, _ := mayNotSave(v, role, state)
	view.CanRestore = why == ""
	if view.Versions, err = s.history(ctx, state); err != nil {
		return err
	}
	for _, version := range view.Versions {
		view.Twice = view.Twice || version.Twice
	}
	view.From, view.To = state.Version-1, state.Version
	if n, err := strconv.Atoi(req.URL.Query().Get("from")); err == nil {
		view.From = n
	}
	if n, err := strconv.Atoi(req.URL.Query().Get("to")); err == nil {
		view.To = n
	}
	view.Compared = view.From == view.To && req.URL.Query().Has("from")
	if view.From > 0 && view.To > 0 && view.From != view.To {
		if err := s.compare(ctx, state, &view); err != nil {
			return err
		}
	}
	s.pages.history.Show(w, req, http.StatusOK, web.View{Title: "Versions of " + state.Name, Dataset: &view.Dataset, Nav: navFiles, Data: view})
	return nil
}

// compare finds what changed between the two versions of a view. The view of versions that cannot be shown says so.
func (s *Section) compare(ctx context.Context, state clowder.FileState, view *historyView) error {
	var texts [2]string
	for i, number := range []int{view.From, view.To} {
		var err error
		texts[i], err = s.version(ctx, state, number)
		if errors.Is(err, errNoText) {
			view.Unreadable = true
			return nil
		}
		if err != nil {
			return err
		}
	}
	var err error
	view.Compared = true
	view.Hunks, err = merge.Difference(texts[0], texts[1])
	return err
}

// postRestore saves an older version as the newest one.
func (s *Section) postRestore(w http.ResponseWriter, req *http.Request) error {
	dataset, file := req.PathValue("dataset"), req.PathValue("file")
	number, err := strconv.Atoi(req.PostFormValue("version"))
	if err != nil || number < 1 {
		return &web.Problem{Type: "request", Title: "Which version?", Status: http.StatusBadRequest, Do: "Go back and choose a version."}
	}
	out, err := s.restore(req.Context(), dataset, file, req.PostFormValue("base"), number)
	if err != nil {
		return err
	}
	s.toFile(w, req, dataset, file, savedQuery(out))
	return nil
}
