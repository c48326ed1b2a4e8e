package clowdertest

import (
	"encoding/json"
	"net/http"
)

// v1Held answers with the datasets of a collection, of which v1 leaves out what the caller may not see, or of a space, of which it leaves out none.
func (s *Server) v1Held(space bool) v1Route {
	return func(_ http.ResponseWriter, r *http.Request, c v1Caller) *v1Answer {
		s.state.mu.Lock()
		defer s.state.mu.Unlock()
		h := s.state.holders[r.PathValue("id")]
		if h == nil || !c.known {
			return v1Denied()
		}
		rows := []map[string]any{}
		for _, id := range h.datasets {
			if d := s.state.datasets[id]; d != nil && (space || s.v1May(d, c, v1View)) {
				rows = append(rows, map[string]any{"id": d.ID, "name": d.Name, "description": value(d.Description), "created": v1Time(d.Created), "authorId": d.Creator.ID, "spaces": []string{}})
			}
		}
		return v1OK(rows)
	}
}

func (s *Server) v1Children(_ http.ResponseWriter, r *http.Request, c v1Caller) *v1Answer {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	h := s.state.holders[r.PathValue("id")]
	if h == nil || !c.known {
		return v1Denied()
	}
	rows := []map[string]any{}
	for _, id := range h.children {
		if child := s.state.holders[id]; child != nil {
			rows = append(rows, map[string]any{"id": child.id, "name": child.name})
		}
	}
	return v1OK(rows)
}

func (s *Server) v1AddHolder(_ http.ResponseWriter, r *http.Request, c v1Caller) *v1Answer {
	var in struct {
		Name string `json:"name"`
	}
	if !c.known {
		return v1Denied()
	}
	if json.NewDecoder(r.Body).Decode(&in) != nil || in.Name == "" {
		return v1Bad("Missing parameter [name]")
	}
	return v1OK(map[string]string{"id": s.AddHolder(in.Name)})
}

func (s *Server) v1Attach(_ http.ResponseWriter, r *http.Request, c v1Caller) *v1Answer {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	h, d := s.state.holders[r.PathValue("id")], s.state.datasets[r.PathValue("ds")]
	if h == nil || d == nil || !s.v1May(d, c, v1Edit) {
		return v1Denied()
	}
	h.datasets = append(h.datasets, d.ID)
	return v1OK(map[string]any{"datasetsInCollection": len(h.datasets)})
}
