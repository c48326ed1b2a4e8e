package hub

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"time"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/text"
)

// target is what a request asks for. Its parts are named in errors.
type target struct {
	id, revision string
	file         string // empty for information about the model
}

// what names the target in the middle of a sentence.
func (t target) what() string {
	if t.file == "" {
		return t.id
	}
	return fmt.Sprintf("%s of %s", clip(t.file), t.id)
}

// sentence makes an error of whole sentences, which an operator reads.
func sentence(format string, args ...any) error { return fmt.Errorf(format, args...) }

// clip makes a text of the Hub or of the command line fit into a sentence.
func clip(s string) string { return text.Excerpt(s, 120) }

// answerError says what an answer means that is no success. atEndpoint is false for the answer of a host that a redirect led to.
func (c *Client) answerError(t target, status int, header http.Header, atEndpoint bool) error {
	if status == http.StatusTooManyRequests {
		wait := askedWait(header)
		return job.Later(wait, sentence("The Hub takes no more requests for %s. Try again later, or with a token, which has a higher limit.", text.Duration(wait)))
	}
	if status >= 500 || status == http.StatusRequestTimeout {
		return job.Retryable(sentence("The Hub fails to answer (HTTP %d) when asked for %s. Try again later.", status, t.what()))
	}
	if !atEndpoint { // the signature in such an address is valid for a while only, so a new address can help
		return job.Retryable(sentence("The file host of the Hub refuses %s (HTTP %d). Try again later.", t.what(), status))
	}
	return job.Permanent(c.refusal(t, status, header))
}

// refusal says why the endpoint refuses a request.
func (c *Client) refusal(t target, status int, header http.Header) error {
	code, message := header.Get("X-Error-Code"), header.Get("X-Error-Message")
	switch {
	case code == "GatedRepo":
		return gated(t.id)
	case code == "RevisionNotFound":
		return sentence("The model %s has no revision %s. Check --revision: it is a branch, a tag, a commit or refs/pr/N.", t.id, clip(t.revision))
	case code == "EntryNotFound" && t.file != "":
		return sentence("The Hub does not have %s, which it lists. Try again, or try another mirror.", t.what())
	case code == "RepoNotFound":
		return notFound(t.id)
	case message == "Access to this resource is disabled.":
		return sentence("The Hub has disabled %s. Choose another model.", t.id)
	case status == http.StatusUnauthorized && c.cfg.Token != "":
		return sentence("The token was refused by the Hub. Make a new one with read access.")
	case status == http.StatusUnauthorized, status == http.StatusNotFound:
		return notFound(t.id)
	case status == http.StatusForbidden && c.cfg.Token != "":
		return sentence("The token may not read %s. Give it read access to this model.", t.id)
	default:
		return sentence("The Hub refuses to give %s (HTTP %d). Check --endpoint and the token.", t.what(), status)
	}
}

func gated(id string) error {
	return sentence("%s is gated: its owner must let you in. Ask for access on its page, then give a token with --token-file.", id)
}

func notFound(id string) error {
	return sentence("The Hub has no model %s. Check the name; it is written owner/name.", id)
}

// transportError says why no answer came, or no more of one. The caller has checked that its own context has not ended.
func (c *Client) transportError(t target, err error) error {
	where := c.base.Host
	switch {
	case errors.Is(err, errRedirects), errors.Is(err, errDowngrade):
		return job.Permanent(sentence("The Hub at %s does not give %s: %w. Check --endpoint.", where, t.what(), bare(err)))
	case errors.Is(err, errIdle), isTimeout(err):
		return job.Retryable(sentence("The Hub at %s sent nothing for too long when asked for %s. Try again later.", where, t.what()))
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return job.Retryable(sentence("The connection to the Hub at %s breaks off before the end of %s. Try again later.", where, t.what()))
	default:
		return job.Retryable(sentence("The Hub at %s cannot be reached for %s: %w. Check the network, --endpoint and the proxy.", where, t.what(), bare(err)))
	}
}

func isTimeout(err error) bool {
	netErr, ok := errors.AsType[net.Error](err)
	return ok && netErr.Timeout()
}

// bare returns an error without the address of the request, whose query may be secret.
func bare(err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		return wrapped.Err
	}
	return err
}

// resetPattern finds the seconds in a header such as ratelimit: "api";r=0;t=55.
var resetPattern = regexp.MustCompile(`(?:^|;)\s*t=(\d{1,6})\b`)

// askedWait is how long the Hub asks to wait. Without a number it is 30 s.
func askedWait(header http.Header) time.Duration {
	if seconds, err := strconv.Atoi(header.Get("Retry-After")); err == nil && seconds >= 0 {
		return time.Duration(min(seconds, 1_000_000)) * time.Second
	}
	if found := resetPattern.FindStringSubmatch(header.Get("Ratelimit")); found != nil {
		if seconds, err := strconv.Atoi(found[1]); err == nil {
			return time.Duration(seconds) * time.Second
		}
	}
	return 30 * time.Second
}
