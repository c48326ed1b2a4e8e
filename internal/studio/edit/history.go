package edit

import (
	"net/http"
	"strconv"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/studio/edit/merge"
	"github.com/ncsa/clowder-ray/internal/studio/web"
)

// historyView is what the page with the versions of a file shows.
type historyView struct {
	Dataset    web.Dataset
	ID, Name   string
	Versions   []Saved
	From, To   int
	Hunks      []merge.Hunk
	Compared   bool
	Base       string
	CanRestore bool
	Twice      bool
}

// Before is the number of the version before one.
func (historyView) Before(number int) int { return number - 1 }

// Newest is the number of the newest version.
func (v historyView) Newest() int { return numberOf(v.Base) }

// showHistory is the page with the versions of a file, and what changed between two of them.
func (r *Room) showHistory(w http.ResponseWriter, req *http.Request) error {
	ctx, dataset := req.Context(), req.PathValue("dataset")
	state, role, err := r.state(ctx, dataset, req.PathValue("file"), clowder.RoleViewer)
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
	if view.Versions, err = r.history(ctx, state); err != nil {
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
		before, err := r.version(ctx, state, view.From)
		if err != nil {
			return err
		}
		after, err := r.version(ctx, state, view.To)
		if err != nil {
			return err
		}
		view.Compared = true
		if view.Hunks, err = merge.Difference(before, after); err != nil {
			return err
		}
	}
	r.pages.history.Show(w, req, http.StatusOK, web.View{Title: "Versions of " + state.Name, Dataset: &view.Dataset, Nav: navFiles, Data: view})
	return nil
}

// postRestore saves an older version as the newest one.
func (r *Room) postRestore(w http.ResponseWriter, req *http.Request) error {
	dataset, file := req.PathValue("dataset"), req.PathValue("file")
	number, err := strconv.Atoi(req.PostFormValue("version"))
	if err != nil || number < 1 {
		return &web.Problem{Type: "request", Title: "Which version?", Status: http.StatusBadRequest, Do: "Go back and choose a version."}
	}
	out, err := r.restore(req.Context(), dataset, file, req.PostFormValue("base"), number)
	if err != nil {
		return err
	}
	r.toFile(w, req, dataset, file, savedQuery(out))
	return nil
}
