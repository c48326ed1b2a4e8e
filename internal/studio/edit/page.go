package edit

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/options"
	"github.com/ncsa/clowder-ray/internal/studio/edit/check"
	"github.com/ncsa/clowder-ray/internal/studio/web"
)

// navFiles is the entry of the navigation that the pages of this section belong to.
const navFiles = "files"

// Routes adds the pages, the forms and the streams.
func (s *Section) Routes(mux *http.ServeMux) {
	for pattern, handle := range map[string]func(http.ResponseWriter, *http.Request) error{
		"GET /datasets/{dataset}/files":                  s.showFiles,
		"POST /datasets/{dataset}/files":                 s.postNew,
		"GET /datasets/{dataset}/files/{file}":           s.showEditor,
		"POST /datasets/{dataset}/files/{file}":          s.postEditor,
		"GET /datasets/{dataset}/files/{file}/versions":  s.showHistory,
		"POST /datasets/{dataset}/files/{file}/versions": s.postRestore,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, req *http.Request) {
			req.Body = http.MaxBytesReader(w, req.Body, maxForm)
			if err := handle(w, req); err != nil {
				s.site.Fail(w, req, err)
			}
		})
	}
	mux.HandleFunc("GET /api/v1/datasets/{dataset}/files/{file}/events", s.stream)
}

// maxForm is the size in bytes of a form with two texts of maxText bytes, which a browser can write with three bytes for one.
const maxForm = 6*maxText + 64<<10

// filesView is what the list of files shows.
type filesView struct {
	Dataset  web.Dataset
	Files    []Listed
	Others   int
	CanAdd   bool
	HasThem  bool // there is a settings file
	Role     clowder.Role
	Settings string // the name of a settings file
}

func (s *Section) showFiles(w http.ResponseWriter, req *http.Request) error {
	ctx, dataset := req.Context(), req.PathValue("dataset")
	files, others, role, err := s.list(ctx, dataset)
	if err != nil {
		return err
	}
	named, err := web.VisitorOf(ctx).Clowder.Dataset(ctx, dataset)
	if err != nil {
		return err
	}
	about := web.Dataset{ID: dataset, Name: named.Name}
	s.pages.files.Show(w, req, http.StatusOK, web.View{Title: "Files of " + named.Name, Dataset: &about, Nav: navFiles, Data: filesView{
		Dataset: about, Files: files, Others: others, CanAdd: role.AtLeast(clowder.RoleUploader), Role: role, Settings: settingsName,
		HasThem: slices.ContainsFunc(files, func(f Listed) bool { return options.IsSettings(f.Path) }),
	}})
	return nil
}

// postNew adds a file and opens it.
func (s *Section) postNew(w http.ResponseWriter, req *http.Request) error {
	ctx, dataset := req.Context(), req.PathValue("dataset")
	name, content := req.PostFormValue("name"), ""
	if req.PostFormValue("do") == "settings" {
		if _, err := s.allowed(ctx, dataset, clowder.RoleUploader); err != nil {
			return err
		}
		var err error
		if content, err = s.firstSettings(ctx, dataset); err != nil {
			return err
		}
		name = settingsName
	}
	made, err := s.create(ctx, dataset, name, content)
	if err != nil {
		return err
	}
	s.toFile(w, req, dataset, made.ID, "new=1")
	return nil
}

// Notice is a sentence above the editor. Kind is done, waiting or failed.
type Notice struct{ Kind, Text string }

// editorView is what the page of the editor shows.
type editorView struct {
	Document
	Dataset web.Dataset
	Name    string // with its folders, as far as they are known
	Files   []Listed
	Newest  Saved
	// Base is the tag that a save names, and Content the text in the field; both differ from those of the document after a conflict.
	Base, Content string
	Notice        *Notice
	Report        *check.Report
	Merge         *mergeView
	CanTrain      bool
	CanCopy       bool
	Key           string // makes two clicks on Save and train one run
	Events, API   string
	Visitor       string
	Windows       bool // lines end as on Windows
}

// showEditor is the page of a file.
func (s *Section) showEditor(w http.ResponseWriter, req *http.Request) error {
	view, err := s.editor(req.Context(), req.PathValue("dataset"), req.PathValue("file"))
	if err != nil {
		return err
	}
	query := req.URL.Query()
	switch number := query.Get("saved"); {
	case number == strconv.Itoa(view.Newest.Number):
		view.Notice = &Notice{"done", "Saved as version " + number + "."}
	case query.Has("same"):
		view.Notice = &Notice{"done", "Nothing to save: this is the text of version " + strconv.Itoa(view.Newest.Number) + "."}
	case query.Has("copy"):
		view.Notice = &Notice{"done", "This is your copy."}
	case query.Has("new"):
		view.Notice = &Notice{"done", "The file is in the dataset now."}
	}
	s.show(w, req, http.StatusOK, view)
	return nil
}

func (s *Section) show(w http.ResponseWriter, req *http.Request, status int, view *editorView) {
	s.pages.editor.Show(w, req, status, web.View{Title: view.Name, Dataset: &view.Dataset, Nav: navFiles, Islands: []string{"editor"}, Data: view})
}

// editor reads what the page of a file shows.
func (s *Section) editor(ctx context.Context, dataset, file string) (*editorView, error) {
	v := web.VisitorOf(ctx)
	if _, err := s.allowed(ctx, dataset, clowder.RoleViewer); err != nil {
		return nil, err
	}
	view := &editorView{
		Dataset: web.Dataset{ID: dataset}, Key: rand.Text(), Visitor: v.Email,
		API:    s.site.Link("api", "v1", "datasets", dataset),
		Events: s.site.Link("api", "v1", "datasets", dataset, "files", file, "events"),
	}
	group, inner := errgroup.WithContext(ctx) // each call of Clowder takes some 100 ms
	group.Go(func() (err error) {
		view.Document, err = s.open(inner, dataset, file)
		return err
	})
	group.Go(func() (err error) {
		view.Files, _, _, err = s.list(inner, dataset)
		return err
	})
	group.Go(func() error {
		described, err := v.Clowder.Dataset(inner, dataset)
		view.Dataset.Name = described.Name
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	view.Name = view.File.Name
	for _, f := range view.Files {
		if f.ID == file {
			view.Name = f.Path
		}
	}
	view.Newest, view.Base, view.Content = savedOf(view.File), view.Tag, view.Text
	view.Windows = strings.Contains(view.Text, "\r\n")
	may := view.Role.AtLeast(clowder.RoleUploader)
	view.CanTrain = may && s.trainings != nil && view.ReadOnly == "" && slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(path.Ext(view.Name)))
	view.CanCopy = may && !view.Unreadable && (view.Login || !view.File.KeepsVersions())
	return view, nil
}

// postEditor does what a button of the page of a file says.
func (s *Section) postEditor(w http.ResponseWriter, req *http.Request) error {
	ctx, dataset, file := req.Context(), req.PathValue("dataset"), req.PathValue("file")
	if err := req.ParseForm(); err != nil {
		return tooLarge(err)
	}
	view, err := s.editor(ctx, dataset, file)
	if err != nil {
		return err
	}
	form := posted(req, view.Windows)
	switch form.do {
	case "check":
		report := s.checker.Check(ctx, view.Name, form.text)
		view.Content, view.Base, view.Report = form.text, form.base, &report
		s.show(w, req, http.StatusOK, view)
		return nil
	case "copy":
		made, err := s.copyOf(ctx, dataset, view.File.Name, form.text)
		if err != nil {
			return s.keepText(w, req, view, form, err)
		}
		s.toFile(w, req, dataset, made.ID, "copy=1")
		return nil
	case "take", "keep":
		return s.resolve(w, req, view, form)
	}
	out, err := s.save(ctx, dataset, file, form.base, form.text)
	if old, ok := asStale(err); ok {
		return s.showMerge(w, req, view, form, old.Newest)
	}
	if err != nil {
		return s.keepText(w, req, view, form, err)
	}
	if out.Collision != nil {
		return s.showCollision(w, req, view, form, out)
	}
	return s.afterSave(w, req, view, form, out)
}

// afterSave leads to the file again, or to the run that the button has started.
func (s *Section) afterSave(w http.ResponseWriter, req *http.Request, view *editorView, form form, out Outcome) error {
	dataset, file := view.Dataset.ID, view.File.ID
	if form.do == "train" && s.trainings != nil {
		if report := s.checker.Settings(req.Context(), view.Name, form.text); len(report.Errors()) > 0 {
			return s.showErrors(w, req, dataset, file, out, report)
		}
		run, err := s.trainings.Train(req.Context(), dataset, file, form.key)
		if err != nil {
			return fmt.Errorf("train with version %d: %w", out.Number, err)
		}
		http.Redirect(w, req, s.site.Link("runs", run), http.StatusSeeOther) //nolint:gosec // a path of the studio: Link escapes its parts
		return nil
	}
	s.toFile(w, req, dataset, file, savedQuery(out))
	return nil
}

// savedQuery tells the page of a file what became of a save.
func savedQuery(out Outcome) string {
	if out.Unchanged {
		return "same=1"
	}
	return "saved=" + strconv.Itoa(out.Number)
}

// toFile leads to the page of a file.
func (s *Section) toFile(w http.ResponseWriter, req *http.Request, dataset, file, query string) {
	http.Redirect(w, req, s.site.Link("datasets", dataset, "files", file)+"?"+query, http.StatusSeeOther) //nolint:gosec // a path of the studio: Link escapes its parts
}

// keepText shows an error above the text, which the visitor must not lose.
func (s *Section) keepText(w http.ResponseWriter, req *http.Request, view *editorView, form form, err error) error {
	p := web.AsProblem(err)
	if p == web.NotFound {
		return err
	}
	view.Content, view.Base, view.Notice = form.text, form.base, &Notice{"failed", p.Title + ": " + p.Error()}
	s.show(w, req, p.Status, view)
	return nil
}

// form is what the page of a file posts.
type form struct {
	do, base, text, key string
	// mine and mineBase are the text and the tag of before a merge.
	mine, mineBase string
}

// posted reads the form. Browsers end all lines as on Windows.
func posted(req *http.Request, windows bool) form {
	read := func(name string) string {
		text := strings.ReplaceAll(req.PostFormValue(name), "\r\n", "\n")
		if windows {
			text = strings.ReplaceAll(text, "\n", "\r\n")
		}
		return text
	}
	return form{
		do: req.PostFormValue("do"), base: req.PostFormValue("base"), key: req.PostFormValue("key"), text: read("text"),
		mine: read("mine"), mineBase: req.PostFormValue("mine_base"),
	}
}

func tooLarge(err error) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return &web.Problem{
			Type: "text", Title: "This text cannot be saved", Status: http.StatusRequestEntityTooLarge, Detail: "It is larger than 1 MB.",
			Do: "Go back, make it shorter, or upload it in Clowder.",
		}
	}
	return &web.Problem{Type: "request", Title: "This is no form", Status: http.StatusBadRequest, Do: "Go back and try again."}
}

// asStale returns the refusal of a save that came from an older version.
func asStale(err error) (*Stale, bool) { return errors.AsType[*Stale](err) }
