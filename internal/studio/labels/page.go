package labels

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/studio/web"
)

// Routes adds the page and its forms.
func (s *Section) Routes(mux *http.ServeMux) {
	for pattern, handle := range map[string]func(http.ResponseWriter, *http.Request) error{
		"GET /runs/{run}/label":              s.show,
		"POST /runs/{run}/label":             s.labelForm,
		"POST /runs/{run}/label/undo":        s.undoForm,
		"GET /runs/{run}/label/files/{file}": s.picture,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, req *http.Request) {
			if err := handle(w, req); err != nil {
				s.site.Fail(w, req, err)
			}
		})
	}
}

const (
	// maxShown is the size in bytes of the largest file that is shown, maxText how much of a text is.
	maxShown = 20 << 20
	maxText  = 20_000
	// mostButtons is how many classes have a button. Others are written.
	mostButtons = 40
	// mostKeys is how many of the buttons have a digit.
	mostKeys = 9
)

// view is what the page shows: the item at a place, or the end of the list.
type view struct {
	Run     string
	Key     string
	Keys    []string
	Classes []class
	// Others says that there are more classes than buttons.
	Others bool
	// Form is how a label is written.
	Form  form
	Items []Item
	// At is the place of Item, from 1; 0 at the end of the list.
	At   int
	Item Item
	// Picture is the address of the picture, Text the text of the file; both are empty for what cannot be shown.
	Picture, Text string
	Cut           bool
	// MayNot says why the visitor cannot label, empty where they can.
	MayNot string
	// Done is the file that the visitor has labelled just now, nil for none.
	Done *Item
	// Counts of the end of the list.
	Labelled, Left int
	MayTrain       string
}

// class is a button.
type class struct {
	Name string
	// Digit is the key that presses it, 0 for none. Said is true for the answer of the model, Chosen for a label that the file has among others.
	Digit        int
	Said, Chosen bool
}

// Several reports whether a label is several of the classes.
func (v view) Several() bool { return v.Form.Separator != "" }

// Numeral is the label of the file as a field for numbers takes it, empty for none.
func (v view) Numeral() string {
	if value, ok := number(v.Item.Label, v.Form.comma); ok && v.Form.Number {
		return strconv.FormatFloat(value, 'f', -1, 64)
	}
	return ""
}

// Link is the page at a place of the list.
func (v view) Link(at int) string {
	return "?" + url.Values{"at": {strconv.Itoa(at)}, "key": {v.Key}}.Encode()
}

// After is the page of the next file after a place.
func (v view) After(at int) string {
	return "?" + url.Values{"after": {strconv.Itoa(at)}, "key": {v.Key}}.Encode()
}

// Before is the place before that of the page.
func (v view) Before() int { return v.At - 1 }

// Place is the page of the file with this number, from 0.
func (v view) Place(number int) string { return v.Link(number + 1) }

func (s *Section) show(w http.ResponseWriter, req *http.Request) error {
	ctx, run, query := req.Context(), req.PathValue("run"), req.URL.Query()
	l, err := s.list(ctx, run, query.Get("key"))
	if err != nil {
		return err
	}
	v := view{Run: run, Key: l.key, Keys: l.keys, Items: l.items, Form: l.form}
	at, err := s.place(ctx, l, query)
	if err != nil {
		return err
	}
	if i, err := l.at(query.Get("done")); err == nil && query.Get("label") != "" {
		done := l.items[i]
		done.Label = query.Get("label")
		v.Done = &done
	}
	if !l.role.AtLeast(clowder.RoleUploader) {
		v.MayNot = "You are " + string(l.role) + " of this dataset; labels need the role " + string(clowder.RoleUploader) + ". Ask an owner of the dataset to give you that role in Clowder."
	}
	if at < 0 {
		if err := s.look(ctx, l); err != nil {
			return err
		}
		v.end(l)
		v.MayTrain = s.site.Link("datasets", l.rec.Request.DatasetID, "train")
	} else {
		v.At, v.Item = at+1, l.items[at]
		v.classes(l)
		if err := s.content(ctx, &v); err != nil {
			return err
		}
	}
	s.page.Show(w, req, http.StatusOK, web.View{
		Title: "Label", Dataset: &web.Dataset{ID: l.rec.Request.DatasetID, Name: l.rec.Request.Name}, Nav: "runs", Islands: []string{"label"}, Data: v,
	})
	return nil
}

// place is that of the item to show, -1 for the end of the list: the one that is asked for, or else the first without a label after one.
func (s *Section) place(ctx context.Context, l *list, query url.Values) (int, error) {
	if at, err := strconv.Atoi(query.Get("at")); err == nil && at >= 1 && at <= len(l.items) {
		l.items[at-1].State, err = s.state(ctx, l, l.items[at-1].ID)
		return at - 1, err
	}
	after, err := strconv.Atoi(query.Get("after"))
	if err != nil || after < 0 {
		after = 0
	}
	return s.next(ctx, l, min(after, len(l.items)))
}

func (v *view) end(l *list) {
	for _, i := range l.items {
		switch {
		case i.Label != "":
			v.Labelled++
		case !i.Gone:
			v.Left++
		}
	}
}

// classes makes the buttons, always in the same order. What the model answers, and the labels of a set that the file has, have one in any case.
func (v *view) classes(l *list) {
	said, has := []string{v.Item.Predicted}, []string(nil)
	if v.Several() {
		said, has = l.form.parts(v.Item.Predicted), l.form.parts(v.Item.Label)
	}
	shown := slices.Clone(l.classes[:min(len(l.classes), mostButtons)])
	v.Others = len(shown) < len(l.classes)
	for _, name := range append(slices.Clone(has), said...) {
		if !slices.Contains(shown, name) && (v.Others || slices.Contains(has, name)) && len(shown) < 2*mostButtons {
			shown = append(shown, name)
		}
	}
	for i, name := range shown {
		c := class{Name: name, Said: slices.Contains(said, name), Chosen: slices.Contains(has, name)}
		if i < mostKeys {
			c.Digit = i + 1
		}
		v.Classes = append(v.Classes, c)
	}
}

// pictures are the media types that browsers show as a picture, by the ending of a name.
var pictures = map[string]string{
	".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp", ".bmp": "image/bmp",
}

// content adds what the page shows of the file. What cannot be shown is left out: a person may open it in Clowder.
func (s *Section) content(ctx context.Context, v *view) error {
	if v.Item.Gone {
		return nil
	}
	if pictures[strings.ToLower(path.Ext(v.Item.Name))] != "" {
		v.Picture = s.site.Link("runs", v.Run, "label", "files", v.Item.ID)
		return nil
	}
	body, err := web.VisitorOf(ctx).Clowder.ReadFile(ctx, clowder.File{ID: v.Item.ID, Name: v.Item.Name, Path: v.Item.Name}, 0, maxShown)
	switch {
	case errors.Is(err, clowder.ErrFileTooLarge):
		return nil
	case err != nil:
		return err
	case !utf8.Valid(body) || bytes.IndexByte(body, 0) >= 0:
		return nil
	}
	text := strings.ToValidUTF8(string(body[:min(len(body), maxText)]), "")
	v.Text, v.Cut = text, len(body) > maxText
	return nil
}

// picturePolicy keeps a browser from running anything of a file.
const picturePolicy = "sandbox; default-src 'none'"

// picture sends a picture of the list as Clowder has it, to a visitor who may see it there.
func (s *Section) picture(w http.ResponseWriter, req *http.Request) error {
	ctx := req.Context()
	l, err := s.list(ctx, req.PathValue("run"), "")
	if err != nil {
		return err
	}
	at, err := l.at(req.PathValue("file"))
	if err != nil {
		return err
	}
	item := l.items[at]
	kind := pictures[strings.ToLower(path.Ext(item.Name))]
	if kind == "" {
		return web.NotFound
	}
	body, err := web.VisitorOf(ctx).Clowder.ReadFile(ctx, clowder.File{ID: item.ID, Name: item.Name, Path: item.Name}, 0, maxShown)
	if err != nil {
		return err
	}
	if http.DetectContentType(body) != kind {
		return web.NotFound
	}
	h := w.Header()
	h.Set("Content-Security-Policy", picturePolicy)
	h.Set("Content-Type", kind)
	_, _ = w.Write(body) // the reader has gone
	return nil
}

func (s *Section) labelForm(w http.ResponseWriter, req *http.Request) error {
	run, file := req.PathValue("run"), req.PostFormValue("file")
	l, at, err := s.label(req.Context(), run, file, req.PostFormValue("key"), written(req), req.PostFormValue("was"))
	if err != nil {
		return err
	}
	to := url.Values{"after": {strconv.Itoa(at + 1)}, "key": {l.key}, "done": {file}, "label": {l.items[at].Label}}
	http.Redirect(w, req, s.site.Link("runs", run, "label")+"?"+to.Encode(), http.StatusSeeOther) //nolint:gosec // a path of ours, whose parts are escaped
	return nil
}

// written is the label in the form of the page: the button, or what was typed; of several labels those that are ticked and those that were typed.
func written(req *http.Request) string {
	label, other := req.PostFormValue("label"), strings.TrimSpace(req.PostFormValue("other"))
	separator := req.PostFormValue("separator")
	if _, none := req.PostForm["none"]; none {
		return req.PostFormValue("none")
	}
	if separator != "" {
		return strings.Join(append(slices.Clone(req.PostForm["label"]), other), separator)
	}
	return cmp.Or(other, label)
}

func (s *Section) undoForm(w http.ResponseWriter, req *http.Request) error {
	run, file := req.PathValue("run"), req.PostFormValue("file")
	l, at, err := s.undo(req.Context(), run, file, req.PostFormValue("key"), req.PostFormValue("label"))
	if err != nil {
		return err
	}
	to := url.Values{"at": {strconv.Itoa(at + 1)}, "key": {l.key}}
	http.Redirect(w, req, s.site.Link("runs", run, "label")+"?"+to.Encode(), http.StatusSeeOther) //nolint:gosec // the same
	return nil
}
