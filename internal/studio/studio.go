package studio

import (
	"fmt"
	"net/http"
	"path"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/ncsa/clowder-ray/internal/studio/web"
)

// Section is a part of the studio for visitors.
type Section interface {
	// Routes adds the pages and the forms, Operations the operations of the API. A request that arrives there has a web.Visitor.
	Routes(mux *http.ServeMux)
	Operations(api huma.API)
}

// Public is a section with pages that need no login.
type Public interface {
	Public(mux *http.ServeMux)
}

// Login knows the visitor of a request.
type Login interface {
	Public
	// Wrap passes on the requests of visitors. Pages of others lead to the login; their requests to the API are refused.
	Wrap(next http.Handler) http.Handler
}

// init and not Handler, because huma keeps what makes its errors in a variable that all sites of a process share.
func init() { huma.NewError = web.NewHumaError }

// Handler returns the whole site. An error says that its address cannot be a trusted origin.
func Handler(site *web.Site, login Login, sections ...Section) (http.Handler, error) {
	private, public := http.NewServeMux(), http.NewServeMux()
	api := API(private, site)
	for _, section := range sections {
		section.Routes(private)
		section.Operations(api)
		if p, ok := section.(Public); ok {
			p.Public(public)
		}
	}
	private.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { site.Fail(w, r, web.NotFound) })
	site.Routes(public)
	login.Public(public)
	public.Handle("/", login.Wrap(private))

	origins := http.NewCrossOriginProtection()
	if err := origins.AddTrustedOrigin(site.URL.Scheme + "://" + site.URL.Host); err != nil {
		return nil, fmt.Errorf("STUDIO_URL: %w", err)
	}
	origins.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.URL.Path = strings.TrimPrefix(r.URL.Path, site.URL.Path)
		site.Fail(w, r, &web.Problem{
			Type: "cross-origin", Title: "This request comes from another site", Status: http.StatusForbidden,
			Detail: "Nothing was changed. The studio takes changes from its own pages only.", Do: "Open the studio at " + site.URL.String() + "/ and try again there.",
		})
	}))
	return web.Guard(site.URL, web.Secure(origins.Handler(http.StripPrefix(strings.TrimRight(site.URL.Path, "/"), public)))), nil
}

// API returns an empty API on mux, which describes itself at /api/v1/openapi.json.
func API(mux *http.ServeMux, site *web.Site) huma.API {
	config := huma.DefaultConfig("Studio of the Clowder Ray extractor", "1")
	config.OpenAPIPath, config.DocsPath, config.SchemasPath = "/api/v1/openapi", "", ""
	config.CreateHooks = nil // no $schema in the answers
	config.Components.Schemas = huma.NewMapRegistry("#/components/schemas/", schemaName)
	config.Servers = []*huma.Server{{URL: site.URL.String()}}
	return humago.New(mux, config)
}

// schemaName names a type in the description of the API. The types of two sections may have the same name, so it begins with the section.
func schemaName(t reflect.Type, hint string) string {
	name := huma.DefaultSchemaNamer(t, hint)
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if section := path.Base(t.PkgPath()); t.PkgPath() != "" && strings.Contains(t.PkgPath(), "/internal/studio/") {
		return strings.ToUpper(section[:1]) + section[1:] + name
	}
	return name
}
