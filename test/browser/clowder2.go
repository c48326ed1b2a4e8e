package browser

import (
	"encoding/base64"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
)

// ServeClowder2 serves the web page of the Clowder v2 at an address with the user of a key signed in: requests to the API carry the key. The page
// looks at a cookie to see who is signed in, and reads the name from it; it checks no signature. folder is that of the built page, empty where
// the address serves it.
func ServeClowder2(address, key, folder string) (*httptest.Server, error) {
	clowder, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	api := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(clowder)
		r.Out.Header.Del("Authorization")
		r.Out.Header.Del("Cookie")
		r.Out.Header.Set("X-Api-Key", key)
	}}
	page := os.DirFS(folder)
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		//nolint:gosec // the script of the page has to read this cookie, over HTTP on loopback
		http.SetCookie(w, &http.Cookie{Name: "Authorization", Value: "Bearer " + token(), Path: "/", SameSite: http.SameSiteStrictMode})
		if folder == "" || strings.HasPrefix(r.URL.Path, "/api") {
			api.ServeHTTP(w, r)
			return
		}
		name := strings.TrimPrefix(r.URL.Path, "/")
		if info, err := fs.Stat(page, name); err != nil || info.IsDir() { // an address of the page itself, such as /datasets/ID
			name = "index.html"
		}
		http.ServeFileFS(w, r, page, name) //nolint:gosec // a file system refuses names with ".."
	})), nil
}

// token is what the page of Clowder reads the name of the user from.
func token() string {
	part := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
	user := `{"email":"alice@example.org","name":"Alice","preferred_username":"alice@example.org","exp":4000000000}`
	return part(`{"alg":"none"}`) + "." + part(user) + ".x"
}
