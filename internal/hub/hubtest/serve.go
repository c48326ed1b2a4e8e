package hubtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// serveAPI answers at the endpoint.
func (h *Hub) serveAPI(w http.ResponseWriter, r *http.Request) {
	h.note("api", r)
	path, inside := strings.CutPrefix(r.URL.EscapedPath(), h.prefix)
	if !inside {
		http.NotFound(w, r)
		return
	}
	isAPI := strings.HasPrefix(path, "/api/models/")
	id, rest := split(strings.TrimPrefix(path, "/api/models"))
	switch f := h.takeFault(r.URL.Path, "api"); f.Kind {
	case RateLimited:
		w.Header().Set("Ratelimit", fmt.Sprintf(`"api";r=0;t=%d`, f.Seconds))
		refuse(w, http.StatusTooManyRequests, "", "")
		return
	case Broken:
		refuse(w, http.StatusBadGateway, "", "")
		return
	case LoginPage:
		_, _ = fmt.Fprint(w, "<html>Please log in</html>")
		return
	case RedirectLoop:
		http.Redirect(w, r, r.URL.String(), http.StatusFound) //nolint:gosec // a double, which leads to itself
		return
	default: // the others are faults of files
	}
	if given := r.Header.Get("Authorization"); given != "" && given != "Bearer "+h.token {
		refuse(w, http.StatusUnauthorized, "", "Invalid credentials in Authorization header")
		return
	}
	h.mu.Lock()
	repo, known := h.repos[id]
	h.mu.Unlock()
	kind, rest, _ := strings.Cut(rest, "/")
	switch {
	case !known:
		refuse(w, http.StatusNotFound, "RepoNotFound", "Repository not found")
	case isAPI && kind == "revision":
		h.serveInfo(w, r, id, repo, rest)
	case isAPI && kind == "tree":
		h.serveTree(w, r, repo, rest)
	case !isAPI && kind == "resolve":
		h.serveFile(w, r, id, repo, rest)
	default:
		http.NotFound(w, r)
	}
}

func refuse(w http.ResponseWriter, status int, code, message string) {
	if code != "" {
		w.Header().Set("X-Error-Code", code)
	}
	if message != "" {
		w.Header().Set("X-Error-Message", message)
	}
	w.WriteHeader(status)
}

// has reports whether an escaped revision leads to the commit of a model.
func (repo Repo) has(escaped string) bool {
	revision, err := url.PathUnescape(escaped)
	return err == nil && (revision == "main" || revision == repo.Commit || slices.Contains(repo.Revisions, revision))
}

func (h *Hub) serveInfo(w http.ResponseWriter, r *http.Request, id string, repo Repo, revision string) {
	if !repo.has(revision) {
		refuse(w, http.StatusNotFound, "RevisionNotFound", "Invalid rev id")
		return
	}
	withBlobs := r.URL.Query().Get("blobs") == "true" && h.takeFault(r.URL.Path, "sizes").Kind != WithoutSizes
	siblings := []map[string]any{}
	for _, name := range sortedNames(repo.Files) {
		content := repo.Files[name]
		s := map[string]any{"rfilename": name}
		if withBlobs {
			s["size"], s["blobId"] = len(content), GitSHA1(content)
			if len(content) >= LargeFrom {
				s["lfs"] = map[string]any{"sha256": SHA256(content), "size": len(content), "pointerSize": 134}
			}
		}
		siblings = append(siblings, s)
	}
	answer := map[string]any{
		"_id": "1", "id": id, "modelId": id, "sha": repo.Commit, "private": false, "disabled": false, "gated": false, "downloads": 1,
		"likes": 0, "tags": []string{"transformers"}, "siblings": siblings, "createdAt": "2024-01-01T00:00:00.000Z",
		"lastModified": "2024-01-01T00:00:00.000Z",
	}
	if repo.Gated {
		answer["gated"] = "manual"
	}
	if repo.License != "" {
		answer["cardData"] = map[string]any{"license": repo.License}
		answer["tags"] = []string{"transformers", "license:" + repo.License}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer)
}

// treePageSize is small, so that listings have pages.
const treePageSize = 3

func (h *Hub) serveTree(w http.ResponseWriter, r *http.Request, repo Repo, revision string) {
	if !repo.has(revision) {
		refuse(w, http.StatusNotFound, "RevisionNotFound", "Invalid rev id")
		return
	}
	names := sortedNames(repo.Files)
	at, _ := strconv.Atoi(r.URL.Query().Get("cursor"))
	end := min(at+treePageSize, len(names))
	page := []map[string]any{}
	for _, name := range names[min(at, end):end] {
		content := repo.Files[name]
		entry := map[string]any{"type": "file", "path": name, "size": len(content), "oid": GitSHA1(content)}
		if len(content) >= LargeFrom {
			entry["lfs"] = map[string]any{"oid": SHA256(content), "size": len(content), "pointerSize": 134}
		}
		page = append(page, entry)
	}
	if end < len(names) {
		w.Header().Set("Link", fmt.Sprintf(`<%s%s?recursive=true&cursor=%d>; rel="next"`, h.api.URL, r.URL.EscapedPath(), end))
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(page)
}

// serveFile answers for one file: a small one with its bytes, a large one with the way to the second server.
func (h *Hub) serveFile(w http.ResponseWriter, r *http.Request, id string, repo Repo, rest string) {
	revision, name, _ := strings.Cut(rest, "/")
	name, err := url.PathUnescape(name)
	content, there := repo.Files[name]
	switch {
	case err != nil || !repo.has(revision):
		refuse(w, http.StatusNotFound, "RevisionNotFound", "Invalid rev id")
		return
	case repo.Gated && r.Header.Get("Authorization") == "":
		refuse(w, http.StatusUnauthorized, "GatedRepo", "Access to this model is restricted")
		return
	case !there:
		refuse(w, http.StatusNotFound, "EntryNotFound", "Entry not found")
		return
	}
	w.Header().Set("X-Repo-Commit", repo.Commit)
	if len(content) < LargeFrom {
		w.Header().Set("ETag", `"`+GitSHA1(content)+`"`)
		h.send(w, r, name, content)
		return
	}
	w.Header().Set("X-Linked-Etag", `"`+SHA256(content)+`"`)
	w.Header().Set("X-Linked-Size", strconv.Itoa(len(content)))
	http.Redirect(w, r, fmt.Sprintf("%s/%s/%s/%s?signature=secret", h.FileURL, id, repo.Commit, name), http.StatusFound) //nolint:gosec // a double
}

// serveLarge answers at the second server.
func (h *Hub) serveLarge(w http.ResponseWriter, r *http.Request) {
	h.note("files", r)
	id, rest := split(r.URL.Path)
	_, name, _ := strings.Cut(rest, "/")
	h.mu.Lock()
	content, there := h.repos[id].Files[name]
	h.mu.Unlock()
	if !there || r.URL.Query().Get("signature") != "secret" {
		http.Error(w, "AccessDenied", http.StatusForbidden)
		return
	}
	w.Header().Set("ETag", `"`+SHA256(content)+`"`)
	h.send(w, r, name, content)
}

// send sends a file, or spoils it.
func (h *Hub) send(w http.ResponseWriter, r *http.Request, name string, content []byte) {
	if r.Method == http.MethodHead {
		w.Header().Set("Content-Length", strconv.Itoa(len(content)))
		return
	}
	fault := h.takeFault(name, "file")
	if fault.Kind != "" {
		fault.spoil(w, r, content)
		return
	}
	serve(w, r, content)
}

// serve answers with the bytes, or with the range of them that is asked for.
func serve(w http.ResponseWriter, r *http.Request, content []byte) {
	w.Header().Set("Content-Type", "application/octet-stream")
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(string(content)))
}
