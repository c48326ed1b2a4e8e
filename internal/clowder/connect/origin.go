package connect

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/text"
)

// Origins are the configured addresses of Clowder. The host of a message is compared with them and never followed, because every
// program that can publish to the queue can write any host into a message, and the user's key would be sent there.
type Origins []*url.URL

// ParseOrigin parses an address: http or https, a host, and optionally a port and a path.
func ParseOrigin(raw string) (*url.URL, error) {
	if raw != strings.TrimSpace(raw) || strings.ContainsAny(raw, "\\\t\r\n ") {
		return nil, errors.New("must not have blanks or backslashes")
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, errors.New("is not a valid URL")
	}
	if err := checkOrigin(u, raw); err != nil {
		return nil, err
	}
	return &url.URL{Scheme: u.Scheme, Host: normalHost(u), Path: strings.TrimRight(u.Path, "/")}, nil
}

// checkOrigin refuses the parts of a URL that the address of a Clowder cannot have.
func checkOrigin(u *url.URL, raw string) error {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return errors.New("must begin with http:// or https://")
	case u.Opaque != "" || u.Hostname() == "":
		return errors.New("has no host")
	case u.User != nil:
		return errors.New("must not have a user name")
	case u.RawQuery != "" || u.ForceQuery || strings.Contains(raw, "#"):
		return errors.New("must not have a query or a fragment")
	case strings.Contains(u.EscapedPath(), "%") || strings.Contains(u.Path, ".."):
		return errors.New("must not have percent signs or two dots in its path")
	default:
		return nil
	}
}

// normalHost is the host in lower case, with the port unless it is the default port.
func normalHost(u *url.URL) string {
	host := strings.ToLower(u.Hostname())
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port := u.Port(); port != "" && port != map[string]string{"http": "80", "https": "443"}[u.Scheme] {
		host += ":" + port
	}
	return host
}

// sameOrigin reports whether scheme, host and port are equal.
func sameOrigin(a, b *url.URL) bool { return a.Scheme == b.Scheme && a.Host == b.Host }

// Accept returns the configured address that equals host. The error is permanent.
func (o Origins) Accept(host string) (*url.URL, error) {
	if host == "" {
		return nil, job.Permanent(errors.New("the message has no Clowder host and none is configured: ask the administrator of the extractor to set CLOWDER_URL"))
	}
	named, err := ParseOrigin(host)
	if err == nil {
		for _, allowed := range o {
			if *named == *allowed {
				return allowed, nil
			}
		}
	}
	return nil, job.Permanent(fmt.Errorf("this extractor does not serve the Clowder host %q: ask its administrator to allow the host or to set CLOWDER_URL",
		text.Excerpt(WithoutUser(host), 80)))
}

// WithoutUser removes the user and the password before an at sign.
func WithoutUser(host string) string {
	if at := strings.LastIndex(host, "@"); at >= 0 {
		return host[at+1:]
	}
	return host
}

// Address normalises the host of a message: lower case, without default port, trailing slash and user name. Jobs, runs and models of
// different Clowders are distinguished by it. It does not check that this extractor serves that Clowder. An invalid address is returned
// unchanged.
func Address(host string) string {
	if u, err := ParseOrigin(WithoutUser(host)); err == nil {
		return u.String()
	}
	return host
}
