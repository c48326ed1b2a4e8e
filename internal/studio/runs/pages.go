package runs

import (
	"crypto/rand"
	"embed"
	"net/http"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/studio/web"
)

//go:embed template/*.tmpl.html
var templates embed.FS

// pages are the templates of the room.
type pages struct{ list, run, pending, compare, train, report *web.Page }

func newPages(site *web.Site) pages {
	page := func(name string) *web.Page {
		return site.Parse(templates, "template/parts.tmpl.html", "template/"+name+".tmpl.html")
	}
	return pages{list: page("list"), run: page("run"), pending: page("pending"), compare: page("compare"), train: page("train"), report: page("report")}
}

// The entry of the navigation that the pages of this room belong to.
const navRuns = "runs"

// Routes adds the pages and the forms.
func (r *Room) Routes(mux *http.ServeMux) {
	for pattern, handle := range map[string]func(http.ResponseWriter, *http.Request) error{
		"GET /{$}":                        r.showMine,
		"GET /datasets/{ds}/{$}":          r.toRuns,
		"GET /datasets/{ds}":              r.toRuns,
		"GET /datasets/{ds}/runs":         r.showList,
		"GET /datasets/{ds}/train":        r.showTrain,
		"POST /datasets/{ds}/train":       r.postTrain,
		"GET /runs/{run}":                 r.showRun,
		"GET /runs/{run}/report":          r.showReport,
		"GET /runs/{run}/report.html":     r.rawReport,
		"GET /runs/{run}/files/{path...}": r.download,
		"GET /compare":                    r.showCompare,
		"POST /runs/{run}/cancel":         r.postAction(ActionCancel),
		"POST /runs/{run}/stop":           r.postAction(ActionStop),
		"POST /runs/{run}/retry":          r.postAction(ActionRetry),
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, req *http.Request) {
			if err := handle(w, req); err != nil {
				r.site.Fail(w, req, err)
			}
		})
	}
}

func (r *Room) toRuns(w http.ResponseWriter, req *http.Request) error {
	http.Redirect(w, req, r.site.Link("datasets", req.PathValue("ds"), "runs"), http.StatusSeeOther) //nolint:gosec // a path of ours, whose parts are escaped
	return nil
}

// postAction does something to a run and shows its page.
func (r *Room) postAction(action string) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, req *http.Request) error {
		run := req.PathValue("run")
		if _, err := r.act(req.Context(), run, action, req.PostFormValue("key")); err != nil {
			return err
		}
		http.Redirect(w, req, r.site.Link("runs", run)+"?did="+action, http.StatusSeeOther) //nolint:gosec // a path of ours, whose parts are escaped
		return nil
	}
}

// did are the sentences that a page shows after an action.
var did = map[string]string{
	ActionCancel: "The run is being cancelled.", ActionStop: "The run stops after this step and keeps what it has.",
	ActionRetry: "The run was sent to Clowder again. It begins in a moment.",
}

func (r *Room) showReport(w http.ResponseWriter, req *http.Request) error {
	rec, _, err := r.find(req.Context(), req.PathValue("run"))
	if err != nil {
		return err
	}
	if r.result(rec) == nil {
		return web.NotFound
	}
	ds, _ := r.dataset(req.Context(), rec.Request.DatasetID, rec.Request.Name)
	r.pages.report.Show(w, req, http.StatusOK, web.View{Title: "Report of " + nameOfRun(rec), Dataset: &web.Dataset{ID: ds.ID, Name: ds.Name}, Nav: navRuns, Data: r.row(rec)})
	return nil
}

// reportPolicy lets a report show what is in it and nothing else. Only a page of the studio may frame it.
const reportPolicy = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'"

func (r *Room) rawReport(w http.ResponseWriter, req *http.Request) error {
	rec, _, err := r.find(req.Context(), req.PathValue("run"))
	if err != nil {
		return err
	}
	return r.sendReport(w, rec, false)
}

func (r *Room) sendReport(w http.ResponseWriter, rec job.Record, attached bool) error {
	doc, err := r.report(rec)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Security-Policy", reportPolicy)
	h.Set("Content-Type", "text/html; charset=utf-8")
	if attached {
		h.Set("Content-Disposition", `attachment; filename="report.html"`)
	}
	_, _ = w.Write(doc) //nolint:gosec // the report has escaped all texts, and its policy allows no script
	return nil
}

// newKey is a key for one form, so that a double click sends it once.
func newKey() string { return rand.Text() }
