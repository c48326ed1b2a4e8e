package clowdertest

import (
	"encoding/json"
	"math/big"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// v1Entry is one metadata entry.
type v1Entry struct {
	ID      string         `json:"id"`
	Context any            `json:"@context,omitempty"`
	To      map[string]any `json:"attached_to"`
	Created string         `json:"created_at"`
	Agent   map[string]any `json:"agent"`
	Content any            `json:"content"`

	resource string
}

func (s *Server) v1Metadata(kind string) v1Route {
	return func(_ http.ResponseWriter, r *http.Request, c v1Caller) *v1Answer {
		s.state.mu.Lock()
		defer s.state.mu.Unlock()
		if no := s.v1AllowedAs(kind, r.PathValue("id"), c, v1View); no != nil {
			return no
		}
		rows := []*v1Entry{}
		for _, e := range s.state.v1.entries {
			if e.resource == r.PathValue("id") {
				rows = append(rows, e)
			}
		}
		slices.Reverse(rows)
		return v1OK(rows)
	}
}

func (s *Server) v1AllowedAs(kind, id string, c v1Caller, right v1Right) *v1Answer {
	if kind == "file" {
		_, no := s.v1AllowedFile(id, c, right)
		return no
	}
	_, no := s.v1Allowed(id, c, right)
	return no
}

func (s *Server) v1FileTags(_ http.ResponseWriter, r *http.Request, c v1Caller) *v1Answer {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	f, no := s.v1AllowedFile(r.PathValue("id"), c, v1View)
	if no != nil {
		return no
	}
	return v1OK(map[string]any{"id": f.ID, "filename": f.Name, "tags": append([]string{}, s.state.v1.tags[f.ID]...)})
}

func (s *Server) v1Sections(_ http.ResponseWriter, r *http.Request, c v1Caller) *v1Answer {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	f, no := s.v1AllowedFile(r.PathValue("id"), c, v1View)
	if no != nil {
		return no
	}
	return v1OK(append([]string{}, s.state.v1.sections[f.ID]...))
}

func (s *Server) v1SectionTags(_ http.ResponseWriter, r *http.Request, c v1Caller) *v1Answer {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	id := r.PathValue("id")
	for file, sections := range s.state.v1.sections {
		if !slices.Contains(sections, id) {
			continue
		}
		if _, no := s.v1AllowedFile(file, c, v1View); no != nil {
			return no
		}
		return v1OK(map[string]any{"id": id, "file_id": file, "tags": append([]string{}, s.state.v1.tags[id]...)})
	}
	return v1Denied()
}

// v1AddMetadata checks little: what it does not check makes v1 fail when it stores the entry.
func (s *Server) v1AddMetadata(kind string) v1Route {
	return func(_ http.ResponseWriter, r *http.Request, c v1Caller) *v1Answer {
		var in struct {
			Context any            `json:"@context"`
			Agent   map[string]any `json:"agent"`
			Content any            `json:"content"`
		}
		decoder := json.NewDecoder(r.Body)
		decoder.UseNumber()
		if decoder.Decode(&in) != nil {
			return &v1Answer{status: http.StatusBadRequest, text: "Invalid Json"}
		}
		s.state.mu.Lock()
		defer s.state.mu.Unlock()
		if no := s.v1AllowedAs(kind, r.PathValue("id"), c, v1Edit); no != nil {
			return no
		}
		id, named := in.Agent["extractor_id"].(string)
		if person, ok := in.Agent["user_id"].(string); ok && !named {
			id, named = person, true
			in.Agent = map[string]any{"@type": "cat:user", "user_id": person, "name": s.state.v1PersonAt(person, in.Agent["name"])}
		}
		address, err := url.Parse(id)
		_, isList := in.Context.([]any)
		switch {
		case in.Agent == nil || in.Agent["@type"] == nil:
			return v1Crash("play.api.libs.json.JsResultException")
		case !named:
			return v1Bad("Creator data is missing or incorrect.")
		case err != nil || !address.IsAbs():
			return v1Crash("java.net.MalformedURLException: no protocol")
		case in.Content == nil || isText(in.Content) || !v1Storable(in.Content):
			return v1Crash("java.lang.IllegalArgumentException: Document field names can't have a . in them.")
		case isList && kind == "dataset":
			in.Context = nil
		}
		resource := r.PathValue("id")
		s.state.v1.entries = append(s.state.v1.entries, &v1Entry{
			ID: newID(), Context: in.Context, To: map[string]any{"resource_type": "cat:" + kind, "url": s.URL + "/" + kind + "s/" + resource},
			Created: v1Time(now()), Agent: in.Agent, Content: in.Content, resource: resource,
		})
		return v1OK("Metadata successfully added to db")
	}
}

// v1PersonAt is the name of the person whose id is the end of an address, or else the name that came with the entry.
func (st *state) v1PersonAt(address string, given any) any {
	for _, u := range st.users {
		if strings.HasSuffix(address, "/api/users/"+u.ID) {
			return u.FirstName + " " + u.LastName
		}
	}
	if given == nil {
		return "Unknown"
	}
	return given
}

// v1DeleteMetadata deletes an entry for everybody who may edit what it is attached to. What is not there is refused.
func (s *Server) v1DeleteMetadata(_ http.ResponseWriter, r *http.Request, c v1Caller) *v1Answer {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	at := slices.IndexFunc(s.state.v1.entries, func(e *v1Entry) bool { return e.ID == r.PathValue("id") })
	if at < 0 {
		return v1Denied()
	}
	kind := "dataset"
	if s.state.files[s.state.v1.entries[at].resource] != nil {
		kind = "file"
	}
	if no := s.v1AllowedAs(kind, s.state.v1.entries[at].resource, c, v1Edit); no != nil {
		return no
	}
	s.state.v1.entries = slices.Delete(s.state.v1.entries, at, at+1)
	return v1OK(map[string]string{"status": "ok"})
}

// v1Storable reports whether MongoDB takes a value: no key with a dot or with a dollar sign first, and no whole number beyond 64 bits.
func v1Storable(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for key, member := range v {
			if strings.Contains(key, ".") || strings.HasPrefix(key, "$") || !v1Storable(member) {
				return false
			}
		}
	case []any:
		return !slices.ContainsFunc(v, func(member any) bool { return !v1Storable(member) })
	case json.Number:
		n, whole := new(big.Int).SetString(v.String(), 10)
		return !whole || n.IsInt64()
	}
	return true
}

// V1Entries returns the contents of the metadata entries of a dataset or file of a Clowder v1, oldest first.
func (s *Server) V1Entries(id string) []any {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	var out []any
	for _, e := range s.state.v1.entries {
		if e.resource == id {
			out = append(out, e.Content)
		}
	}
	return out
}
