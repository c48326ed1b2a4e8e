package clowder

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/text"
)

// origins are the addresses of Clowder that were configured. A message's host is compared with them and never followed:
// anybody who can publish to the queue can write any host into a message, and the user's key would go there.
type origins []*url.URL

// parseOrigin reads an address that an operator configured: http or https, a host, perhaps a port and a path.
func parseOrigin(raw string) (*url.URL, error) {
	if raw != strings.TrimSpace(raw) || strings.ContainsAny(raw, "\\\t\r\n ") {
		return nil, errors.New("has blanks or backslashes")
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, errors.New("is not a URL")
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("must begin with http:// or https://")
	case u.Opaque != "" || u.Hostname() == "":
		return nil, errors.New("names no host")
	case u.User != nil:
		return nil, errors.New("must not carry a user name")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || strings.Contains(raw, "#"):
		return nil, errors.New("must not have a query or a fragment")
	case strings.Contains(u.EscapedPath(), "%") || strings.Contains(u.Path, ".."):
		return nil, errors.New("has a path with percent signs or dots")
	}
	host := strings.ToLower(u.Hostname())
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port := u.Port(); port != "" && port != map[string]string{"http": "80", "https": "443"}[u.Scheme] {
		host += ":" + port
	}
	return &url.URL{Scheme: u.Scheme, Host: host, Path: strings.TrimRight(u.Path, "/")}, nil
}

// sameOrigin reports whether both have scheme, host and port in common.
func sameOrigin(a, b *url.URL) bool { return a.Scheme == b.Scheme && a.Host == b.Host }

// accept returns the configured address that host names, as it was configured. The error is permanent.
func (o origins) accept(host string) (*url.URL, error) {
	if host == "" {
		return nil, job.Permanent(errors.New("the message names no Clowder host and none is configured: ask the administrator of the extractor to set CLOWDER_URL"))
	}
	named, err := parseOrigin(host)
	if err == nil {
		for _, allowed := range o {
			if *named == *allowed {
				return allowed, nil
			}
		}
	}
	return nil, job.Permanent(fmt.Errorf("the message names the Clowder host %q, which this extractor does not serve: ask its administrator to allow it or to set CLOWDER_URL",
		text.Excerpt(withoutUser(host), 80)))
}

// withoutUser cuts what stands before an at sign, where people put passwords.
func withoutUser(host string) string {
	if at := strings.LastIndex(host, "@"); at >= 0 {
		return host[at+1:]
	}
	return host
}

// Address is the one spelling of the address that a message names as its host, by which jobs, runs and models of different
// Clowders are told apart: lower case, without default port, slash at the end or user name. It says nothing about whether this
// extractor serves that Clowder. What is no address at all comes back as it is.
func Address(host string) string {
	if u, err := parseOrigin(withoutUser(host)); err == nil {
		return u.String()
	}
	return host
}

// Address is the address of the Clowder that the session speaks with, in the spelling of the function of this name.
func (s *Session) Address() string { return s.base.String() }
