package clowdertest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// v1State is what only Clowder v1 stores. The mutex of the state guards it.
type v1State struct {
	globalKey string
	// display has the display names of folders: a second folder of the same name has a number.
	display map[string]string
	entries []*v1Entry
	// tags are those of files.
	tags map[string][]string
	// barred are the files whose licence forbids their download.
	barred map[string]bool
	// sections are the ids of the sections of files; tags has theirs, too.
	sections map[string][]string
	// previews are by their id; one that is attached has a file.
	previews map[string]*v1Preview
	// orphans are the datasets whose folders v1 can never list again.
	orphans map[string]bool
	// storing are the files whose bytes arrived and are not stored yet, and failed those that never will be.
	storing    map[string]bool
	extractors map[string]map[string]any
	events     []Event
}

func newV1State() v1State {
	return v1State{
		globalKey: "global-" + newID(), display: map[string]string{}, previews: map[string]*v1Preview{}, tags: map[string][]string{}, sections: map[string][]string{}, barred: map[string]bool{}, orphans: map[string]bool{},
		storing: map[string]bool{}, extractors: map[string]map[string]any{},
	}
}

// GlobalKey is the key of the installation of a Clowder v1.
func (s *Server) GlobalKey() string { return s.state.v1.globalKey }

// v1Caller is who makes a request. A caller without a user is nobody, except the global key, which may do everything.
type v1Caller struct {
	user   user
	key    string
	known  bool
	global bool
}

// v1Answer is an answer of v1: JSON, or a plain text.
type v1Answer struct {
	status int
	body   any
	text   string
}

func v1OK(body any) *v1Answer { return &v1Answer{status: http.StatusOK, body: body} }

func v1Bad(body any) *v1Answer { return &v1Answer{status: http.StatusBadRequest, body: body} }

// v1Denied is the answer to a wrong key, to a missing right, and, for a user, to something that does not exist.
func v1Denied() *v1Answer { return &v1Answer{status: http.StatusUnauthorized, text: "Not authorized"} }

// v1Crash is v1's answer to most wrong input. It carries a stack trace.
func v1Crash(cause string) *v1Answer {
	return &v1Answer{status: http.StatusInternalServerError, body: map[string]string{
		"status": "error", "request": "POST /api/somewhere?key=REQUEST-KEY",
		"exception": "java.lang.RuntimeException: x\n\tat api.Files.method(Files.scala:103)\nCaused by: " + cause + "\n\tat models.Other(Other.scala:1)",
	}}
}

func (a *v1Answer) write(w http.ResponseWriter) {
	if a.text != "" {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(a.status)
		_, _ = io.WriteString(w, a.text) //nolint:gosec // a plain text; the client may have disconnected
		return
	}
	body, err := json.Marshal(a.body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(a.status)
	_, _ = w.Write(body) // the same
}

// v1Route answers a request. If it returns nil, it has written the answer itself.
type v1Route func(w http.ResponseWriter, r *http.Request, c v1Caller) *v1Answer

// v1Handler returns the REST interface of Clowder v1 with the active faults.
func (s *Server) v1Handler() http.Handler {
	mux := http.NewServeMux()
	for pattern, route := range map[string]v1Route{
		"GET /version":                              s.v1Version,
		"GET /status":                               s.v1Status,
		"GET /me":                                   s.v1Me,
		"POST /datasets/createempty":                s.v1CreateDataset,
		"GET /datasets/{id}":                        s.v1Dataset,
		"GET /datasets/{id}/files":                  s.v1Files,
		"GET /datasets/{id}/folders":                s.v1Folders,
		"POST /datasets/{id}/newFolder":             s.v1NewFolder,
		"GET /datasets/{id}/metadata.jsonld":        s.v1Metadata("dataset"),
		"POST /datasets/{id}/metadata.jsonld":       s.v1AddMetadata("dataset"),
		"POST /datasets/{id}/extractions":           s.v1SubmitDataset,
		"DELETE /datasets/{id}/extractions/{m}":     s.v1Cancel,
		"POST /uploadToDataset/{id}":                s.v1Upload,
		"GET /files/{id}":                           s.v1Download,
		"DELETE /files/{id}":                        s.v1DeleteFile,
		"GET /files/{id}/metadata":                  s.v1FileState,
		"GET /files/{id}/tags":                      s.v1FileTags,
		"GET /files/{id}/sections":                  s.v1Sections,
		"GET /sections/{id}/tags":                   s.v1SectionTags,
		"GET /files/{id}/metadata.jsonld":           s.v1Metadata("file"),
		"POST /files/{id}/metadata.jsonld":          s.v1AddMetadata("file"),
		"DELETE /metadata.jsonld/{id}":              s.v1DeleteMetadata,
		"GET /files/{id}/listpreviews":              s.v1Previews,
		"POST /files/{id}/previews/{p}":             s.v1AttachPreview,
		"POST /files/{id}/thumbnails/{t}":           s.v1AttachThumbnail,
		"POST /files/{id}/extractions":              s.v1SubmitFile,
		"POST /previews":                            s.v1AddPreview,
		"POST /fileThumbnail":                       s.v1AddThumbnail,
		"POST /collections":                         s.v1AddHolder,
		"POST /collections/{id}/datasets/{ds}":      s.v1Attach,
		"GET /collections/{id}/datasets":            s.v1Held(false),
		"GET /collections/{id}/getChildCollections": s.v1Children,
		"POST /spaces":                              s.v1AddHolder,
		"POST /spaces/{id}/addDatasetToSpace/{ds}":  s.v1Attach,
		"GET /spaces/{id}/datasets":                 s.v1Held(true),
		"GET /extractors":                           s.v1Extractors,
		"GET /extractors/{name}":                    s.v1Extractor,
		"POST /extractors":                          s.v1Register,
	} {
		method, path, _ := strings.Cut(pattern, " ")
		mux.HandleFunc(method+" /api"+path, func(w http.ResponseWriter, r *http.Request) {
			if answer := s.v1Checked(w, r, route); answer != nil {
				answer.write(w)
			}
		})
	}
	mux.HandleFunc("/", v1NotFound)
	return s.Around(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			v1NotFound(w, r)
			return
		}
		if path := strings.TrimRight(r.URL.Path, "/"); path != "" {
			r.URL.Path = path
		}
		mux.ServeHTTP(w, r)
	}), s.done)
}

func v1NotFound(w http.ResponseWriter, r *http.Request) {
	(&v1Answer{status: http.StatusNotFound, body: map[string]string{"status": "not found", "request": r.Method + " " + r.RequestURI}}).write(w)
}

// v1Checked refuses malformed ids and finds the caller.
func (s *Server) v1Checked(w http.ResponseWriter, r *http.Request, route v1Route) *v1Answer {
	if id := r.PathValue("id"); r.PathValue("id") != "" && !isID(id) {
		return v1Bad(map[string]string{"status": "bad request", "message": "Cannot parse parameter id", "request": r.Method + " " + r.RequestURI})
	}
	return route(w, r, s.v1Caller(r))
}

// v1Caller looks at the header first. The global key is known in the query only.
func (s *Server) v1Caller(r *http.Request) v1Caller {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	for _, key := range []string{r.Header.Get("X-Api-Key"), r.URL.Query().Get("key")} {
		if email, ok := s.state.keys[key]; ok {
			return v1Caller{user: s.state.users[email], key: key, known: true}
		}
	}
	if key := r.URL.Query().Get("key"); key == s.state.v1.globalKey {
		return v1Caller{key: key, known: true, global: true, user: user{ID: strings.Repeat("0", 24)}}
	}
	return v1Caller{}
}

// v1Right is what a request needs.
type v1Right int

const (
	v1View v1Right = iota
	v1Edit
)

// v1May reports whether a caller may do something with a dataset. Roles are those of a space that holds it.
func (s *Server) v1May(d *dataset, c v1Caller, right v1Right) bool {
	role := d.roles[c.user.Email]
	switch {
	case c.global, c.known && d.Creator.Email == c.user.Email:
		return true
	case right == v1View:
		return s.opts.Public || c.known && role != ""
	default:
		return c.known && (role == "editor" || role == "admin")
	}
}

// v1Allowed returns a dataset if the caller has the right. A user who may see everything gets 404 for an unknown one. The state must be locked.
func (s *Server) v1Allowed(id string, c v1Caller, right v1Right) (*dataset, *v1Answer) {
	d := s.state.datasets[id]
	switch {
	case d == nil && (c.global || s.opts.Public && right == v1View):
		return nil, &v1Answer{status: http.StatusNotFound, body: fmt.Sprintf("Could not find dataset with id [%s]", id)}
	case d == nil, !s.v1May(d, c, right):
		return nil, v1Denied()
	}
	return d, nil
}

// v1AllowedFile returns a file if the caller has the right on its dataset.
func (s *Server) v1AllowedFile(id string, c v1Caller, right v1Right) (*file, *v1Answer) {
	f := s.state.files[id]
	if f == nil {
		if c.global || s.opts.Public && right == v1View {
			return nil, &v1Answer{status: http.StatusNotFound, text: "Invalid file ID"}
		}
		return nil, v1Denied()
	}
	_, no := s.v1Allowed(f.DatasetID, c, right)
	return f, no
}

func (s *Server) v1Version(http.ResponseWriter, *http.Request, v1Caller) *v1Answer {
	return v1OK(map[string]any{"version": map[string]string{"number": "1.23.0-double", "branch": "double"}})
}

func (s *Server) v1Status(http.ResponseWriter, *http.Request, v1Caller) *v1Answer {
	return v1OK(map[string]any{"version": map[string]string{"number": "1.23.0-double"}, "instance": s.state.instance})
}

func (s *Server) v1Me(w http.ResponseWriter, _ *http.Request, c v1Caller) *v1Answer {
	if !c.known {
		return v1Denied()
	}
	var email any
	if !c.global {
		email = c.user.Email
	}
	w.Header().Set("X-User-Id", c.user.ID)
	return v1OK(map[string]any{"id": c.user.ID, "fullName": c.user.FirstName + " " + c.user.LastName, "email": email})
}

// v1Time is a time as Java writes it.
func v1Time(at stamp) string { return time.Time(at).UTC().Format("Mon Jan 02 15:04:05 UTC 2006") }
