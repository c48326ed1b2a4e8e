package clowdertest

import (
	"net/http"
	"net/url"
	"strings"
)

// Token returns a new access token for an e-mail address, as the Keycloak of Clowder gives. The address need not be that of a user: somebody
// who never opened Clowder has an account in Keycloak only.
func (s *Server) Token(email string) string {
	token := "token-" + newID() + newID()
	s.AcceptToken(token, email)
	return token
}

// AcceptToken makes a text a valid access token for an e-mail address, for a double of Keycloak that gives its own.
func (s *Server) AcceptToken(token, email string) {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	s.state.tokens[token] = email
}

// RevokeToken ends an access token, as time or the end of its session does.
func (s *Server) RevokeToken(token string) {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	delete(s.state.tokens, token)
}

// identity is who makes a request, and by which credential.
type identity struct {
	email string
	by    credential
}

type credential int

const (
	byKey credential = iota
	byToken
	byCookie
)

// identify reads the credentials of a request in the order of v2: the token, then the cookie, then the key. It looks at the first one only.
func (s *Server) identify(r *http.Request) (identity, *refusal) {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	if scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " "); strings.EqualFold(scheme, "Bearer") && token != "" {
		return s.state.byToken(token, byToken)
	}
	if value, found := cookie(r); found {
		return s.state.byToken(strings.TrimPrefix(value, "Bearer%20"), byCookie)
	}
	key := r.Header.Get("X-API-KEY")
	if key == "" {
		return identity{}, refuse(http.StatusUnauthorized, "Not authenticated.")
	}
	email, ok := s.state.keys[key]
	if !ok {
		return identity{}, &refusal{http.StatusUnauthorized, map[string]string{"error": "Key is invalid."}}
	}
	return identity{email, byKey}, nil
}

// cookie returns the cookie of the web page as it was sent. Python does not remove the quotes that v2 itself sets around it.
func cookie(r *http.Request) (string, bool) {
	for part := range strings.SplitSeq(r.Header.Get("Cookie"), ";") {
		if value, found := strings.CutPrefix(strings.TrimSpace(part), "Authorization="); found {
			return value, true
		}
	}
	return "", false
}

func (st *state) byToken(token string, by credential) (identity, *refusal) {
	email, ok := st.tokens[token]
	if !ok {
		return identity{}, &refusal{http.StatusUnauthorized, map[string]string{"error": "Unauthenticated"}}
	}
	return identity{email, by}, nil
}

// CookieOf is the cookie that the page of Clowder keeps for an access token.
func CookieOf(token string) string { return "Authorization=" + url.PathEscape("Bearer "+token) }

// guarded finds the user. Most routes of v2 fail for somebody whom it does not know.
func (s *Server) guarded(h handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		who, no := s.identify(r)
		if no != nil {
			no.write(w)
			return
		}
		s.state.mu.Lock()
		u, known := s.state.users[who.email]
		s.state.mu.Unlock()
		if !known {
			crash().write(w)
			return
		}
		answer, no := h(w, r, u)
		switch {
		case no != nil:
			no.write(w)
		case answer != nil:
			reply(w, http.StatusOK, answer)
		}
	}
}

// profile is the route that tells somebody whom v2 does not know from a failure.
func (s *Server) profile(w http.ResponseWriter, r *http.Request) {
	who, no := s.identify(r)
	if no != nil {
		no.write(w)
		return
	}
	s.state.mu.Lock()
	u, known := s.state.users[who.email]
	s.state.mu.Unlock()
	if !known {
		refuse(http.StatusNotFound, "User %s not found", who.email).write(w)
		return
	}
	reply(w, http.StatusOK, u)
}

// userByID fails for an id that is none, such as "me".
func (s *Server) userByID(_ http.ResponseWriter, r *http.Request, _ user) (any, *refusal) {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	for _, u := range s.state.users {
		if u.ID == r.PathValue("id") {
			return u, nil
		}
	}
	if !isID(r.PathValue("id")) {
		return nil, crash()
	}
	return nil, refuse(http.StatusNotFound, "User %s not found", r.PathValue("id"))
}
