package web

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/text"
)

//go:embed style.css
var style []byte

//go:embed icon.svg
var icon []byte

//go:embed layout.tmpl.html
var layout string

// Assets are the bundled scripts and styles of the islands. A build without them has none, and all pages work.
type Assets interface {
	// Names returns the file names of an island's script and style in the folder of assets; empty where it was not built.
	Names(island string) (script, style string)
	// Handler serves the files by these names.
	http.Handler
}

// Site makes the pages of the studio. It is safe for concurrent use.
type Site struct {
	// URL is where people reach the studio, with its path and without a slash at the end.
	URL *url.URL
	// Clowder is where people reach Clowder, without a slash at the end.
	Clowder string
	Log     *zap.Logger
	// Outage is since when Clowder has not answered; the zero time: it answers. The login sets it.
	Outage func() time.Time

	assets    Assets
	styleName string
	iconName  string
	failure   *Page
}

// NewSite returns the site at an address, the setting STUDIO_URL; clowder is the setting CLOWDER_PUBLIC_URL.
func NewSite(address *url.URL, clowder string, assets Assets, log *zap.Logger) *Site {
	named := func(name string, content []byte, ext string) string {
		sum := sha256.Sum256(content)
		return name + "-" + hex.EncodeToString(sum[:6]) + ext
	}
	s := &Site{
		URL: address, Clowder: strings.TrimRight(clowder, "/"), Log: log, Outage: func() time.Time { return time.Time{} },
		assets: assets, styleName: named("style", style, ".css"), iconName: named("icon", icon, ".svg"),
	}
	s.failure = s.parse(failureTemplate)
	return s
}

// Link returns the address of a page, as a path on this host. Each part becomes one segment of the path.
func (s *Site) Link(parts ...string) string {
	escaped := make([]string, len(parts))
	for i, part := range parts {
		escaped[i] = url.PathEscape(part)
	}
	return strings.TrimRight(s.URL.EscapedPath(), "/") + "/" + strings.Join(escaped, "/")
}

// Absolute returns Link with scheme and host, for links that stand in Clowder.
func (s *Site) Absolute(parts ...string) string {
	return s.URL.Scheme + "://" + s.URL.Host + s.Link(parts...)
}

// Routes serves the style and the assets. Their names change with their content, so a browser keeps them.
func (s *Site) Routes(mux *http.ServeMux) {
	forever := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
			next.ServeHTTP(w, r)
		})
	}
	for name, content := range map[string][]byte{s.styleName: style, s.iconName: icon} {
		mux.Handle("GET /assets/"+name, forever(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(content))
		})))
	}
	// Browsers ask for this where an answer is no page of ours, such as one of the API.
	mux.Handle("GET /favicon.ico", http.RedirectHandler(s.Link("assets", s.iconName), http.StatusSeeOther))
	mux.Handle("GET /assets/", forever(http.StripPrefix("/assets/", s.assets)))
}

// View is what one page shows.
type View struct {
	Title string
	// Dataset is the one that the page is about; nil for none.
	Dataset *Dataset
	// Nav is the entry of the navigation that the page belongs to: "runs", "models" or "files".
	Nav string
	// Islands are the scripts that the page uses where they are built: "live", "try", "editor", "label".
	Islands []string
	// Data is what the template of the section shows.
	Data any
}

// Dataset is a dataset as pages name it.
type Dataset struct{ ID, Name string }

// Page is a template of a section inside the layout.
type Page struct {
	site     *Site
	template *template.Template
}

// Parse returns the page whose templates are these files. One of them defines "content"; the layout calls it with View.Data. It panics on a
// template that cannot be parsed.
func (s *Site) Parse(files fs.FS, names ...string) *Page {
	return &Page{site: s, template: template.Must(s.base().ParseFS(files, names...))}
}

func (s *Site) parse(text string) *Page {
	return &Page{site: s, template: template.Must(s.base().Parse(text))}
}

func (s *Site) base() *template.Template {
	return template.Must(template.New("page").Funcs(s.functions()).Parse(layout))
}

// frame is what the layout sees.
type frame struct {
	View
	Site    *Site
	Visitor *Visitor
	Nonce   string
	Style   string
	Icon    string
	Scripts []string
	Styles  []string
}

// Show answers with the page. What cannot be drawn is logged and answered with a page that says so; half a page is never sent.
func (p *Page) Show(w http.ResponseWriter, r *http.Request, status int, view View) {
	f := frame{View: view, Site: p.site, Visitor: VisitorOf(r.Context()), Nonce: nonceOf(r.Context()), Style: p.site.Link("assets", p.site.styleName), Icon: p.site.Link("assets", p.site.iconName)}
	for _, island := range view.Islands {
		script, css := p.site.assets.Names(island)
		if script != "" {
			f.Scripts = append(f.Scripts, p.site.Link("assets", script))
		}
		if css != "" {
			f.Styles = append(f.Styles, p.site.Link("assets", css))
		}
	}
	var body bytes.Buffer
	if err := p.template.Execute(&body, f); err != nil {
		p.site.Log.Error("cannot draw a page", zap.String("title", view.Title), zap.Error(err))
		http.Error(w, AsProblem(err).Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(body.Bytes()) // the reader has gone
}

// Fail answers with an error: as JSON below /api/ and /v2/, else as a page. An error that is nobody's request is logged.
func (s *Site) Fail(w http.ResponseWriter, r *http.Request, err error) {
	p := AsProblem(err)
	if p.Status >= http.StatusInternalServerError {
		s.Log.Warn("a request to the studio failed", zap.String("route", r.Pattern), zap.Int("status", p.Status), zap.Error(err))
	}
	if strings.HasPrefix(r.URL.Path, "/api/") || strings.HasPrefix(r.URL.Path, "/v2/") {
		WriteProblem(w, p)
		return
	}
	p.setHeaders(w)
	s.failure.Show(w, r, p.Status, View{Title: cmp.Or(p.Title, "Error"), Data: p})
}

// failureTemplate is the page of an error.
const failureTemplate = `{{define "content"}}<h1>{{.Title}}</h1>
<p>{{.Detail}}</p>{{with .Do}}<p>{{.}}</p>{{end}}
<p>{{if eq .Type "login"}}<a class="button primary" href="{{link "login"}}">Log in</a>{{else if eq .Type "unknown-user"}}<a class="button primary" href="{{clowder}}">Open Clowder</a>
{{- else}}<a href="{{link}}">My runs</a>{{end}}</p>{{end}}`

// functions are what all templates may call.
func (s *Site) functions() template.FuncMap {
	return template.FuncMap{
		"link":     s.Link,
		"clowder":  func(parts ...string) string { return s.Clowder + "/" + strings.Join(parts, "/") },
		"iso":      func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"datetime": func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") },
		"percent":  func(share float64) string { return fmt.Sprintf("%.0f", 100*share) },
		"ago":      func(t time.Time) string { return Ago(time.Since(t)) },
		"person":   Person,
		"short":    func(digest string) string { return text.Shorten(digest, 12) },
	}
}
