package clowdertest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// refusal is an error answer. Handlers return it.
type refusal struct {
	status int
	detail any // nil: plain text, as after an exception in the real Clowder
}

func refuse(status int, format string, args ...any) *refusal {
	return &refusal{status, fmt.Sprintf(format, args...)}
}

func crash() *refusal { return &refusal{status: http.StatusInternalServerError} }

// missing is FastAPI's answer for a missing field or a wrong type.
func invalid(where, field, message, kind string) *refusal {
	loc := []string{where}
	if field != "" {
		loc = append(loc, field)
	}
	return &refusal{http.StatusUnprocessableEntity, []map[string]any{{"loc": loc, "msg": message, "type": kind}}}
}

func missing(where, field string) *refusal {
	return invalid(where, field, "field required", "value_error.missing")
}

// handler answers a request of a known user. If it returns nil, it has written the answer itself.
type handler func(w http.ResponseWriter, r *http.Request, u user) (answer any, no *refusal)

// Handler returns the REST interface with the active faults.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v2/status", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, http.StatusOK, map[string]string{"version": "2.0.0-double"})
	})
	mux.HandleFunc("GET /stored/{id}", s.presigned)
	mux.HandleFunc("GET /api/v2/users/profile", s.profile)
	for pattern, h := range map[string]handler{
		"GET /users/{id}":                                      s.userByID,
		"POST /datasets":                                       s.createDataset,
		"GET /datasets/{id}":                                   s.getDataset,
		"DELETE /datasets/{id}":                                s.deleteDataset,
		"GET /datasets/{id}/files":                             s.listFiles,
		"POST /datasets/{id}/files":                            s.upload,
		"GET /datasets/{id}/folders":                           s.listFolders,
		"POST /datasets/{id}/folders":                          s.createFolder,
		"POST /datasets/{id}/extract":                          s.submitDataset,
		"POST /datasets/{id}/metadata":                         s.addMetadata,
		"GET /datasets/{id}/metadata":                          s.listMetadata,
		"GET /folders/{id}/path":                               s.folderPath,
		"GET /files/{id}":                                      s.download,
		"GET /files/{id}/url/{$}":                              s.downloadURL,
		"GET /files/{id}/summary":                              s.fileSummary,
		"GET /files/{id}/versions":                             s.listVersions,
		"PUT /files/{id}":                                      s.updateFile,
		"DELETE /files/{id}":                                   s.deleteFile,
		"POST /files/{id}/metadata":                            s.addFileMetadata,
		"GET /files/{id}/metadata":                             s.listFileMetadata,
		"DELETE /metadata/{id}":                                s.deleteMetadata,
		"POST /files/{id}/extract":                             s.submitFile,
		"PATCH /files/{id}/thumbnail/{thumbnail}":              s.setFileThumbnail,
		"POST /thumbnails":                                     s.addThumbnail,
		"POST /visualizations/config":                          s.addVisualization,
		"GET /visualizations/{id}/config":                      s.listVisualizations,
		"GET /visualizations/{id}/bytes":                       s.visualizationBytes,
		"DELETE /visualizations/config/{id}":                   s.deleteVisualization,
		"POST /visualizations":                                 s.addVisualizationData,
		"GET /licenses/{id}":                                   s.getLicense,
		"GET /feeds/{id}":                                      s.getFeed,
		"POST /feeds":                                          s.saveFeed,
		"POST /elasticsearch/all/_msearch":                     s.msearch,
		"GET /jobs":                                            s.listJobs,
		"GET /jobs/{id}/summary":                               s.jobSummary,
		"GET /jobs/{id}/updates":                               s.jobUpdates,
		"GET /listeners":                                       s.listListeners,
		"PUT /listeners/{id}/enable":                           s.enableListener,
		"GET /authorizations/datasets/{id}/role":               s.roleOnDataset,
		"POST /authorizations/datasets/{id}/user_role/{u}/{r}": s.shareDataset,
	} {
		method, path, _ := strings.Cut(pattern, " ")
		mux.HandleFunc(method+" /api/v2"+path, s.guarded(h))
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { refuse(http.StatusNotFound, "Not Found").write(w) })
	return s.Around(redirectSlashes(mux), s.done)
}

// redirectSlashes redirects as Starlette does. Only the presigned route ends with a slash.
func redirectSlashes(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := r.URL.Path
		switch {
		case strings.HasSuffix(path, "/url"):
			path += "/"
		case strings.HasSuffix(path, "/") && !strings.HasSuffix(path, "/url/") && len(path) > 1:
			path = strings.TrimRight(path, "/")
		default:
			next.ServeHTTP(w, r)
			return
		}
		u := *r.URL
		u.Path, u.Host, u.Scheme = path, r.Host, "http"
		w.Header().Set("Location", u.String())
		w.WriteHeader(http.StatusTemporaryRedirect)
	})
}

func (n *refusal) write(w http.ResponseWriter) {
	if n.detail == nil {
		http.Error(w, "Internal Server Error", n.status)
		return
	}
	reply(w, n.status, map[string]any{"detail": n.detail})
}

func reply(w http.ResponseWriter, status int, answer any) {
	body, err := json.Marshal(answer)
	if err != nil {
		http.Error(w, "Internal Server Error", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may have disconnected
}

// paged returns one page of rows as v2 does.
func paged[T any](r *http.Request, rows []T, standard int) (any, *refusal) {
	skip, no := intQuery(r, "skip", 0)
	if no != nil {
		return nil, no
	}
	limit, no := intQuery(r, "limit", standard)
	if no != nil {
		return nil, no
	}
	if limit <= 0 || skip < 0 {
		return nil, crash() // MongoDB refuses such a stage
	}
	from := min(skip, len(rows))
	return map[string]any{
		"metadata": map[string]int{"total_count": len(rows), "skip": skip, "limit": limit},
		"data":     rows[from:min(from+limit, len(rows))],
	}, nil
}

func intQuery(r *http.Request, name string, standard int) (int, *refusal) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return standard, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, invalid("query", name, "value is not a valid integer", "type_error.integer")
	}
	return n, nil
}

// decodeBody reads a JSON body.
func decodeBody(r *http.Request, into any) *refusal {
	if json.NewDecoder(r.Body).Decode(into) != nil {
		return invalid("body", "", "value is not a valid dict", "type_error.dict")
	}
	return nil
}
