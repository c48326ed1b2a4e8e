package runs

import (
	"errors"
	"mime"
	"net/http"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/studio/web"
)

// runPage is what the page of a run shows.
type runPage struct {
	View
	Changed   int
	MayManage bool
	HasLog    bool
	// Standing is that of the record. The script of the page loads it again where the service tells of another one.
	Standing string
	// Did says what the visitor has just done, Key names the next retry.
	Did, Key string
	// Again and WithChampion are links, empty where there is none.
	Again, WithChampion string
	// Board says that TensorBoard may show the run.
	Board bool
	files string
}

// Can reports whether an action is possible now.
func (p runPage) Can(action string) bool { return slices.Contains(p.Actions, action) }

// FileLink is the address of a file of the run.
func (p runPage) FileLink(name string) string {
	parts := strings.Split(name, "/")
	for i, part := range parts {
		parts[i] = url.PathEscape(part)
	}
	return p.files + "/" + strings.Join(parts, "/")
}

// refreshPending is how often the page of a run looks for its message, in seconds.
const refreshPending = "2"

func (s *Section) showRun(w http.ResponseWriter, req *http.Request) error {
	ctx, run := req.Context(), req.PathValue("run")
	rec, role, err := s.find(ctx, run)
	if errors.Is(err, web.NotFound) {
		sent, ok := s.pending(ctx, run)
		if !ok {
			return err
		}
		w.Header().Set("Refresh", refreshPending)
		s.pages.pending.Show(w, req, http.StatusOK, web.View{Title: sent.Run, Dataset: &web.Dataset{ID: sent.Dataset.ID, Name: sent.Dataset.Name}, Nav: navRuns, Data: sent})
		return nil
	}
	if err != nil {
		return err
	}
	ds, _ := s.dataset(ctx, rec.Request.DatasetID, rec.Request.Name)
	p := runPage{
		View: s.view(rec), Standing: rec.Standing(), MayManage: s.mayManage(rec, role, web.VisitorOf(ctx)), Did: did[req.URL.Query().Get("did")], Key: newKey(),
		files: s.site.Link("runs", run, "files"),
	}
	p.Changed = countChanged(p.Settings)
	p.HasLog = slices.ContainsFunc(p.Files, func(f File) bool { return f.Path == results.LogFile })
	if p.Can(ActionAgain) && mayTrain(role) {
		p.Again = s.site.Link("datasets", ds.ID, "train") + "?like=" + url.QueryEscape(run)
	}
	p.Board = s.boards && !p.FolderGone
	p.WithChampion = s.championLink(rec)
	s.pages.run.Show(w, req, http.StatusOK, web.View{Title: p.Name, Dataset: &web.Dataset{ID: ds.ID, Name: ds.Name}, Nav: navRuns, Islands: []string{"live"}, Data: p})
	return nil
}

// championLink leads to the comparison of a run with the run of the champion that it was measured against; empty for none.
func (s *Section) championLink(rec job.Record) string {
	result := s.result(rec)
	if result == nil || result.Champion == nil || result.Champion.Run == "" || result.Champion.Run == rec.Run {
		return ""
	}
	return s.site.Link("compare") + "?" + url.Values{"run": {result.Champion.Run, rec.Run}}.Encode()
}

// filePolicy keeps a browser from running anything of a file, should it show it nevertheless.
const filePolicy = "sandbox; default-src 'none'"

// reportFile is offered as a file of each run that has a result.
const reportFile = "report.html"

func (s *Section) download(w http.ResponseWriter, req *http.Request) error {
	rec, _, err := s.find(req.Context(), req.PathValue("run"))
	if err != nil {
		return err
	}
	return s.send(w, req, rec, req.PathValue("path"))
}

// send sends a file of a run as an attachment, also parts of it.
func (s *Section) send(w http.ResponseWriter, req *http.Request, rec job.Record, name string) error {
	if name == reportFile {
		return s.sendReport(w, rec, true)
	}
	f, info, err := s.openFile(rec, name)
	if errors.Is(err, os.ErrNotExist) {
		return web.NotFound
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	h := w.Header()
	h.Set("Content-Security-Policy", filePolicy)
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": path.Base(name)}))
	http.ServeContent(w, req, "", info.ModTime(), f)
	return nil
}
