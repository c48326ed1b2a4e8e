package models

import (
	"cmp"
	"embed"
	"encoding/base64"
	"errors"
	"html/template"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/registry"
	"github.com/ncsa/clowder-ray/internal/studio/web"
)

//go:embed template
var templates embed.FS

type pages struct{ list, model, promote, serve *web.Page }

func newPages(site *web.Site) pages {
	parse := func(names ...string) *web.Page { return site.Parse(templates, names...) }
	return pages{
		list: parse("template/list.tmpl.html"), model: parse("template/model.tmpl.html", "template/try.tmpl.html"),
		promote: parse("template/promote.tmpl.html"), serve: parse("template/serve.tmpl.html"),
	}
}

const (
	// maxImage is the largest image that a visitor may show to a model, maxText the longest texts of a form.
	maxImage = 10 << 20
	maxText  = 1 << 20
	// maxForm leaves room for the other fields.
	maxForm = maxImage + maxText
)

// Routes adds the pages, the forms, and the protocol for programs.
func (s *Section) Routes(mux *http.ServeMux) {
	mux.HandleFunc("GET /datasets/{dataset}/models", s.showList)
	mux.HandleFunc("GET /models/{dataset}/{name}", s.showModel)
	mux.HandleFunc("POST /models/{dataset}/{name}/try", s.tryForm)
	mux.HandleFunc("GET /models/{dataset}/{name}/{version}/promote", s.showPromote)
	mux.HandleFunc("POST /models/{dataset}/{name}/{version}/promote", s.promoteForm)
	mux.HandleFunc("POST /models/{dataset}/{name}/{version}/export", s.exportForm)
	mux.HandleFunc("GET /models/{dataset}/{name}/{version}/serve", s.showServe)
	mux.HandleFunc("GET /models/{dataset}/{name}/{version}/model.zip", s.download)
	mux.HandleFunc("GET /api/v1/models/{dataset}/{name}/{version}/model.zip", s.download)
	s.protocol(mux)
}

// listView is what the page of all models shows.
type listView struct {
	Dataset  web.Dataset
	Models   []TrainedModel
	MayTrain bool
}

func (s *Section) showList(w http.ResponseWriter, req *http.Request) {
	id := req.PathValue("dataset")
	models, title, role, err := s.list(req.Context(), id)
	if err != nil {
		s.site.Fail(w, req, err)
		return
	}
	dataset := s.named(req, id, title)
	s.pages.list.Show(w, req, http.StatusOK, web.View{
		Title: "Models", Dataset: &dataset, Nav: "models", Data: listView{dataset, models, role.AtLeast(clowder.RoleUploader)},
	})
}

// named is a dataset as pages name it. The registry knows the name of each dataset with a model; of others Clowder does.
func (s *Section) named(req *http.Request, id, title string) web.Dataset {
	if v := web.VisitorOf(req.Context()); title == "" && v != nil && v.Clowder != nil {
		if found, err := v.Clowder.Dataset(req.Context(), id); err == nil {
			title = found.Name
		}
	}
	if title == "" {
		title = id
	}
	return web.Dataset{ID: id, Name: title}
}

// modelView is what the page of one model shows.
type modelView struct {
	TrainedModel
	Best     *ModelVersion
	Try      tryView
	MayWrite bool
	// History are the automatic predictions, nil for none.
	History *historyView
	// Notice is what an earlier request of this visitor has done.
	Notice string
	API    string
	V2     string
}

// tryView is the form of *Try it*, and the answer where there is one.
type tryView struct {
	Version ModelVersion
	Reads   ModelReads
	// Given are the values of the fields, Answer what the model said of them, Problem why it said nothing.
	Given   map[string]string
	Answer  *AnsweredRow
	Took    string
	Problem *web.Problem
	// Sure is the confidence below which an answer is called unsure.
	Sure float64
	// Examples are test rows of the version's training that fill the form.
	Examples []example
	// Picture is the image of the example number Chosen, which is asked about unless the visitor chooses another one; empty for none.
	Picture template.URL
	Chosen  int
}

func (s *Section) showModel(w http.ResponseWriter, req *http.Request) {
	s.show(w, req, http.StatusOK, req.URL.Query().Get("version"), nil)
}

// show draws the page of a model, with the answer that fill adds to the form.
func (s *Section) show(w http.ResponseWriter, req *http.Request, status int, number string, fill func(v registry.Version, t *tryView)) {
	id, name := req.PathValue("dataset"), req.PathValue("name")
	m, versions, role, err := s.whole(req.Context(), id, name)
	if err != nil {
		s.site.Fail(w, req, err)
		return
	}
	chosen, _, err := s.version(req.Context(), id, name, cmp.Or(number, "champion"))
	if err != nil {
		s.site.Fail(w, req, err)
		return
	}
	for i, v := range versions {
		m.Versions[i].MayPromote = !m.Versions[i].Champion && s.mayPromote(req.Context(), v, role)
	}
	view := modelView{
		TrainedModel: m, Best: m.Champion, MayWrite: role.AtLeast(clowder.RoleUploader), Notice: said[req.URL.Query().Get("done")],
		API: s.site.Absolute("api", "v1", "models", id, name, "champion", "predict"),
		V2:  s.site.Absolute("v2", "models", id+"."+name, "infer"),
	}
	past, err := s.history(req.Context(), id, name)
	if err != nil {
		s.site.Fail(w, req, err)
		return
	}
	view.History = past.drawn(m.Versions[0].Metric, m.Versions[0].MetricTitle())
	view.Try = tryView{Version: s.view(chosen, nil), Reads: s.reads(chosen), Given: map[string]string{}, Sure: s.MinConfidence(req.Context(), id)}
	view.Try.Examples = s.examples(chosen, view.Try.Reads)
	view.Try.fill(req.URL.Query().Get("example"))
	if fill != nil {
		fill(chosen, &view.Try)
		if p := view.Try.Problem; p != nil {
			status = p.Status
		}
	}
	dataset := s.named(req, id, versions[0].DatasetName)
	s.pages.model.Show(w, req, status, web.View{Title: name, Dataset: &dataset, Nav: "models", Islands: []string{"try"}, Data: view})
}

// said is what a page says after a form, by the word in its address.
var said = map[string]string{
	"promoted": "The champion has changed. Predictions that name the champion use it from now on.",
	"export":   "Clowder was asked to put the model into the dataset. It appears there in a moment, in a folder of its own.",
}

// tryForm answers the form of a page without script: with the page, and the answer in it.
func (s *Section) tryForm(w http.ResponseWriter, req *http.Request) {
	req.Body = http.MaxBytesReader(w, req.Body, maxForm)
	if err := req.ParseMultipartForm(maxForm); err != nil && !errors.Is(err, http.ErrNotMultipart) { //nolint:gosec // the body has a limit
		s.site.Fail(w, req, tooLarge(err))
		return
	}
	defer func() {
		if req.MultipartForm != nil {
			_ = req.MultipartForm.RemoveAll()
		}
	}()
	s.show(w, req, http.StatusOK, req.PostFormValue("version"), func(v registry.Version, t *tryView) {
		row, err := s.posted(req, t)
		if err == nil {
			var found ModelAnswer
			if found, err = s.ask(req.Context(), v, []map[string]any{row}, t.Sure); err == nil {
				t.Answer, t.Took = &found.Rows[0], found.Took
				return
			}
		}
		t.Problem = web.AsProblem(err)
		if wait := t.Problem.RetryAfter; wait > 0 {
			maps.Copy(w.Header(), t.Problem.GetHeaders())
		}
	})
}

// posted reads the row that a form holds: fields are called in.COLUMN, so that no column can have the name of another field.
func (s *Section) posted(req *http.Request, t *tryView) (map[string]any, error) {
	row := map[string]any{}
	for _, c := range t.Reads.Columns {
		if c.Type == "image" {
			file, header, err := req.FormFile("in." + c.Name)
			if err != nil {
				if t.fill(req.PostFormValue("example")); t.Picture == "" {
					if len(t.Reads.Columns) > 1 {
						continue // a row may lack its image
					}
					return nil, invalid("Choose an image first.")
				}
				row[c.Name] = t.Given[c.Name]
				continue
			}
			defer func() { _ = file.Close() }()
			if header.Size > maxImage {
				return nil, tooLarge(nil)
			}
			content, err := io.ReadAll(file)
			if err != nil {
				return nil, tooLarge(err)
			}
			row[c.Name] = base64.StdEncoding.EncodeToString(content)
			continue
		}
		value := req.PostFormValue("in." + c.Name)
		t.Given[c.Name] = value
		if c.Type == "text" || strings.TrimSpace(value) != "" {
			row[c.Name] = value
		}
	}
	return row, nil
}

func tooLarge(err error) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); err != nil && !ok {
		return invalid("The form cannot be read.")
	}
	return &web.Problem{
		Type: "too-large", Title: "This is too large", Status: http.StatusRequestEntityTooLarge, Detail: "An image may have 10 MB, a text 1 MB.", Do: "Use a smaller one.",
	}
}

func (s *Section) showPromote(w http.ResponseWriter, req *http.Request) {
	id, name := req.PathValue("dataset"), req.PathValue("name")
	v, role, err := s.version(req.Context(), id, name, req.PathValue("version"))
	if err == nil && !s.mayPromote(req.Context(), v, role) {
		err = web.NotFound
	}
	if err != nil {
		s.site.Fail(w, req, err)
		return
	}
	m, _, _, err := s.whole(req.Context(), id, name)
	if err != nil {
		s.site.Fail(w, req, err)
		return
	}
	dataset := s.named(req, id, v.DatasetName)
	s.pages.promote.Show(w, req, http.StatusOK, web.View{
		Title: "Make " + v.Ref() + " the champion", Dataset: &dataset, Nav: "models",
		Data: struct {
			Version  ModelVersion
			Champion *ModelVersion
		}{s.view(v, nil), m.Champion},
	})
}

func (s *Section) promoteForm(w http.ResponseWriter, req *http.Request) {
	if _, err := s.promote(req.Context(), req.PathValue("dataset"), req.PathValue("name"), req.PathValue("version")); err != nil {
		s.site.Fail(w, req, err)
		return
	}
	s.back(w, req, "promoted")
}

func (s *Section) exportForm(w http.ResponseWriter, req *http.Request) {
	if err := s.export(req.Context(), req.PathValue("dataset"), req.PathValue("name"), req.PathValue("version")); err != nil {
		s.site.Fail(w, req, err)
		return
	}
	s.back(w, req, "export")
}

func (s *Section) back(w http.ResponseWriter, req *http.Request, done string) {
	http.Redirect(w, req, s.site.Link("models", req.PathValue("dataset"), req.PathValue("name"))+"?"+url.Values{"done": {done}}.Encode(), http.StatusSeeOther) //nolint:gosec // a path of ours, its parts escaped
}

// download sends model.zip.
func (s *Section) download(w http.ResponseWriter, req *http.Request) {
	v, _, err := s.version(req.Context(), req.PathValue("dataset"), req.PathValue("name"), req.PathValue("version"))
	if err != nil {
		s.site.Fail(w, req, err)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/zip")
	h.Set("Content-Disposition", `attachment; filename="`+v.Name+"-"+numberOf(v)+`.zip"`)
	h.Set("Content-Security-Policy", "sandbox")
	if err := s.WriteZip(req.Context(), v, w); err != nil {
		panic(http.ErrAbortHandler) // the archive has begun: an end without its directory shows that it is not whole
	}
}
