package login

import (
	"net/http"
	"net/url"
	"strings"
	"time"
)

// cookies sets and reads the cookies of the studio. On a host of its own their name keeps other hosts from setting them (__Host-); with a path
// on a shared host they are for that path only.
type cookies struct {
	prefix, path string
	secure       bool
}

func newCookies(site *url.URL) cookies {
	c := cookies{path: site.Path, secure: site.Scheme == "https"}
	if c.path == "" {
		c.path = "/"
	}
	switch {
	case c.secure && c.path == "/":
		c.prefix = "__Host-"
	case c.secure:
		c.prefix = "__Secure-"
	}
	return c
}

// set stores a cookie for the browser's session, or for life if it is not 0.
func (c cookies) set(w http.ResponseWriter, name, value string, life time.Duration) {
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // Secure is false for a studio without TLS only
		Name: c.prefix + name, Value: value, Path: c.path, Secure: c.secure, HttpOnly: true, SameSite: http.SameSiteLaxMode, MaxAge: int(life.Seconds()),
	})
}

func (c cookies) remove(w http.ResponseWriter, name string) {
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // Secure is false for a studio without TLS only
		Name: c.prefix + name, Path: c.path, Secure: c.secure, HttpOnly: true, SameSite: http.SameSiteLaxMode, MaxAge: -1,
	})
}

// get returns the value of a cookie, or "".
func (c cookies) get(r *http.Request, name string) string {
	cookie, err := r.Cookie(c.prefix + name)
	if err != nil {
		return ""
	}
	return cookie.Value
}

// named returns the names of all cookies of a request that begin with name, without the prefix.
func (c cookies) named(r *http.Request, name string) []string {
	var names []string
	for _, cookie := range r.Cookies() {
		if rest, found := strings.CutPrefix(cookie.Name, c.prefix); found && strings.HasPrefix(rest, name) {
			names = append(names, rest)
		}
	}
	return names
}

// clowderToken returns the access token in the cookie of Clowder's own page, or "". The page writes Bearer%20x, and the API of Clowder "Bearer x"
// in quotes, which Go has removed.
func clowderToken(r *http.Request) string {
	cookie, err := r.Cookie("Authorization")
	if err != nil {
		return ""
	}
	value, err := url.PathUnescape(cookie.Value)
	if err != nil {
		return ""
	}
	token, found := strings.CutPrefix(value, "Bearer ")
	if !found || !plain(token) {
		return ""
	}
	return token
}

// maxCredential is the length in bytes of the longest key or token that is passed on to Clowder.
const maxCredential = 8 << 10

// plain reports whether a text can be a key or a token: printable characters of ASCII without blanks.
func plain(text string) bool {
	for i := range len(text) {
		if text[i] <= ' ' || text[i] > '~' {
			return false
		}
	}
	return text != "" && len(text) <= maxCredential
}
