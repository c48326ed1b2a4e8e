package web

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

const (
	// maxBody is the length in bytes of the longest body of a request; a text of a dataset has at most 1 MB.
	maxBody = 2 << 20
	// maxQuestion is the length of the longest question to a model: a picture of 10 MB, which is a third longer as JSON.
	maxQuestion = 16 << 20
	// bodyTime is how long a body may take to arrive.
	bodyTime = 2 * time.Minute
)

// Guard refuses requests for another host, and limits their bodies. All links are made from the address of the studio and none from the Host of
// a request. What the check keeps out are pages on the internet whose name leads to this machine.
func Guard(site *url.URL, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !ours(site, r.Host) {
			w.Header().Set("Cache-Control", "no-store")
			http.Error(w, "The studio is at "+site.String()+"/", http.StatusMisdirectedRequest)
			return
		}
		limit := int64(maxBody)
		if path := strings.TrimPrefix(r.URL.Path, site.Path); strings.HasPrefix(path, "/models/") || strings.HasPrefix(path, "/api/v1/models/") || strings.HasPrefix(path, "/v2/") {
			limit = maxQuestion
		}
		r.Body = http.MaxBytesReader(w, r.Body, limit)
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTime)) // a recorder of a test has none
		}
		next.ServeHTTP(w, r)
	})
}

// ours reports whether a request is for the studio: for its own host, or for a name that nobody on the internet can own, as a proxy may send.
func ours(site *url.URL, host string) bool {
	if strings.EqualFold(host, site.Host) {
		return true
	}
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	if strings.EqualFold(name, site.Hostname()) {
		return true
	}
	if _, err := netip.ParseAddr(strings.Trim(name, "[]")); err == nil {
		return true
	}
	if !strings.Contains(name, ".") {
		return name != ""
	}
	for _, end := range []string{".svc", ".cluster.local", ".internal", ".localhost"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}
