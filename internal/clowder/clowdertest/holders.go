package clowdertest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
)

// holder is a collection or a space of v1, or a feed of v2.
type holder struct {
	id, name string
	datasets []string
	children []string // collections in a collection
	search   map[string]any
}

// AddHolder makes a collection or a space with datasets in it and returns its id. Everybody may see it.
func (s *Server) AddHolder(name string, datasets ...string) string {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	h := &holder{id: newID(), name: name, datasets: datasets}
	s.state.holders[h.id] = h
	return h.id
}

// Hold puts more datasets into a collection or a space.
func (s *Server) Hold(id string, datasets ...string) {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	s.state.holders[id].datasets = append(s.state.holders[id].datasets, datasets...)
}

// Nest puts a collection into another one.
func (s *Server) Nest(id, child string) {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	s.state.holders[id].children = append(s.state.holders[id].children, child)
}

// AddFeed makes a feed whose criteria, a field and a value in turn, must all match, or one of them with the mode or.
func (s *Server) AddFeed(mode string, criteria ...string) string {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	all := []map[string]string{}
	for pair := range slices.Chunk(criteria, 2) {
		all = append(all, map[string]string{"field": pair[0], "operator": "==", "value": pair[1]})
	}
	h := &holder{id: newID(), search: map[string]any{"criteria": all, "mode": mode, "original": nil}}
	s.state.holders[h.id] = h
	return h.id
}

func (s *Server) getFeed(_ http.ResponseWriter, r *http.Request, _ user) (any, *refusal) {
	if !isID(r.PathValue("id")) {
		return nil, crash()
	}
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	h := s.state.holders[r.PathValue("id")]
	if h == nil || h.search == nil {
		return nil, refuse(http.StatusNotFound, "Feed %s not found", r.PathValue("id"))
	}
	return map[string]any{"name": h.name, "description": "", "search": h.search, "listeners": []any{}, "id": h.id}, nil
}

func (s *Server) saveFeed(_ http.ResponseWriter, r *http.Request, _ user) (any, *refusal) {
	var in struct {
		Name   string         `json:"name"`
		Search map[string]any `json:"search"`
	}
	if no := decodeBody(r, &in); no != nil {
		return nil, no
	}
	h := &holder{id: newID(), name: in.Name, search: in.Search}
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	s.state.holders[h.id] = h
	return map[string]any{"name": h.name, "search": h.search, "id": h.id}, nil
}

// document is what Elasticsearch has of a dataset or of a file.
type document struct {
	id      string
	created time.Time
	source  map[string]any
}

// msearch answers one search, as Elasticsearch does behind v2: what the user may not see is not in it.
func (s *Server) msearch(_ http.ResponseWriter, r *http.Request, u user) (any, *refusal) {
	body, err := io.ReadAll(r.Body)
	lines := bytes.Split(bytes.TrimSpace(body), []byte("\n"))
	var asked struct {
		Query  map[string]any `json:"query"`
		From   int            `json:"from"`
		Size   *int           `json:"size"`
		Source []string       `json:"_source"`
	}
	if err != nil || len(lines) != 2 || json.Unmarshal(lines[1], &asked) != nil {
		return nil, crash()
	}
	size := 10
	if asked.Size != nil {
		size = *asked.Size
	}
	if asked.From+size > 10_000 {
		return nil, nil // the answer is null: Clowder swallows the error
	}
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	var hits []map[string]any
	documents := slices.DeleteFunc(s.state.documents(u), func(d document) bool { return !d.matches(asked.Query) })
	for _, d := range documents[min(asked.From, len(documents)):min(asked.From+size, len(documents))] {
		source := map[string]any{}
		for _, field := range asked.Source {
			if value, known := d.source[field]; known {
				source[field] = value
			}
		}
		hits = append(hits, map[string]any{"_id": d.id, "_source": source, "sort": []int64{d.created.UnixMilli()}})
	}
	return map[string]any{"took": 1, "responses": []any{map[string]any{"status": 200, "hits": map[string]any{
		"total": map[string]any{"value": len(documents), "relation": "eq"}, "hits": hits,
	}}}}, nil
}

// documents are what the user may see, the oldest first.
func (st *state) documents(u user) []document {
	var out []document
	for _, d := range st.datasets {
		if !d.mayAccess(u) {
			continue
		}
		created := time.Time(d.Created)
		out = append(out, document{d.ID, created, map[string]any{"resource_type": "dataset", "name": d.Name, "description": value(d.Description), "creator": d.Creator.Email}})
		for _, f := range st.filesOf[d.ID] {
			out = append(out, document{f.ID, time.Time(f.Created), map[string]any{"resource_type": "file", "name": f.Name, "dataset_id": d.ID, "content_type": f.ContentType.Full}})
		}
	}
	slices.SortFunc(out, func(a, b document) int { return cmp.Or(a.created.Compare(b.created), cmp.Compare(a.id, b.id)) })
	return out
}

// matches answers the kinds of queries that the client and the feeds use.
func (d document) matches(query map[string]any) bool {
	for kind, raw := range query {
		about, _ := raw.(map[string]any)
		switch kind {
		case "bool":
			return d.matchesBool(about)
		case "match":
			for field, value := range about {
				text, _ := value.(string)
				return anyWord(d.words(field), text)
			}
		case "simple_query_string":
			fields, _ := about["fields"].([]any)
			text, _ := about["query"].(string)
			for word := range strings.FieldsSeq(text) {
				if !slices.ContainsFunc(fields, func(f any) bool { name, _ := f.(string); return anyWord(d.words(name), word) }) {
					return false
				}
			}
			return true
		case "range":
			created, _ := about["created"].(map[string]any)
			since, _ := created["gte"].(float64)
			return d.created.UnixMilli() >= int64(since)
		}
	}
	return false
}

func (d document) matchesBool(about map[string]any) bool {
	list := func(name string) []any { all, _ := about[name].([]any); return all }
	one := func(q any) bool { query, _ := q.(map[string]any); return d.matches(query) }
	for _, q := range append(list("must"), list("filter")...) {
		if !one(q) {
			return false
		}
	}
	return len(list("should")) == 0 || slices.ContainsFunc(list("should"), one)
}

func (d document) words(field string) []string {
	text, _ := d.source[field].(string)
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return strings.ContainsRune(" .,;:/_-", r) })
}

func anyWord(words []string, text string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return strings.ContainsRune(" .,;:/_-", r) }), func(w string) bool {
		return slices.Contains(words, w)
	})
}
