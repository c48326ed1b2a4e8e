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

// pages are the templates of the section.
type pages struct{ list, run, pending, compare, train, report *web.Page }

func newPages(site *web.Site) pages {
	page := func(name string) *web.Page {
		return site.Parse(templates, "template/parts.tmpl.html", "template/"+name+".tmpl.html")
	}
	return pages{list: page("list"), run: page("run"), pending: page("pending"), compare: page("compare"), train: page("train"), report: page("report")}
}

// The entry of the navigation that the pages of this section belong to.
const navRuns = "runs"

// Routes adds the pages and the forms.
func (s *Section) Routes(mux *http.ServeMux) {
	for pattern, handle := range map[string]func(http.ResponseWriter, *http.Request) error{
		"GET /{$}":                        s.showMine,
		"GET /datasets/{ds}/{$}":          s.toRuns,
		"GET /datasets/{ds}":              s.toRuns,
		"GET /datasets/{ds}/runs":         s.showList,
		"GET /datasets/{ds}/train":        s.showTrain,
		"POST /datasets/{ds}/train":       s.postTrain,
		"GET /runs/{run}":                 s.showRun,
		"GET /runs/{run}/report":          s.showReport,
		"GET /runs/{run}/report.html":     s.rawReport,
		"GET /runs/{run}/files/{path...}": s.download,
		"GET /compare":                    s.showCompare,
		"POST /runs/{run}/cancel":         s.postAction(ActionCancel),
		"POST /runs/{run}/stop":           s.postAction(ActionStop),
		"POST /runs/{run}/retry":          s.postAction(ActionRetry),
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, req *http.Request) {
			if err := handle(w, req); err != nil {
				s.site.Fail(w, req, err)
			}
		})
	}
}

func (s *Section) toRuns(w http.ResponseWriter, req *http.Request) error {
	http.Redirect(w, req, s.site.Link("datasets", req.PathValue("ds"), "runs"), http.StatusSeeOther) //nolint:gosec // a path of ours, whose parts are escaped
	return nil
}

// postAction does something to a run and shows its page.
func (s *Section) postAction(action string) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, req *http.Request) error {
		run := req.PathValue("run")
		if _, err := s.act(req.Context(), run, action, req.PostFormValue("key")); err != nil {
			return err
		}
		http.Redirect(w, req, s.site.Link("runs", run)+"?did="+action, http.StatusSeeOther) //nolint:gosec // a path of ours, whose parts are escaped
		return nil
	}
}

// did are the sentences that a page shows after an action.
var did = map[string]string{
	ActionCancel: "The run is being cancelled.", ActionStop: "The run stops after this step and keeps what it has.",
	ActionRetry: "The run was sent to Clowder again. It begins in a moment.",
}

func (s *Section) showReport(w http.ResponseWriter, req *http.Request) error {
	rec, _, err := s.find(req.Context(), req.PathValue("run"))
	if err != nil {
		return err
	}
	if s.result(rec) == nil {
		return web.NotFound
	}
	ds, _ := s.dataset(req.Context(), rec.Request.DatasetID, rec.Request.Name)
	s.pages.report.Show(w, req, http.StatusOK, web.View{Title: "Report of " + nameOfRun(rec), Dataset: &web.Dataset{ID: ds.ID, Name: ds.Name}, Nav: navRuns, Data: s.row(rec)})
	return nil
}

// reportPolicy lets a report show what is in it and nothing else. Only a page of the studio may frame it.
const reportPolicy = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'"

func (s *Section) rawReport(w http.ResponseWriter, req *http.Request) error {
	rec, _, err := s.find(req.Context(), req.PathValue("run"))
	if err != nil {
		return err
	}
	return s.sendReport(w, rec, false)
}

func (s *Section) sendReport(w http.ResponseWriter, rec job.Record, attached bool) error {
	doc, err := s.report(rec)
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
