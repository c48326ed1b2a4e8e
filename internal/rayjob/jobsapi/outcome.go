package jobsapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/rayjob"
)

// answer is an answer of Ray with a status other than 2xx.
type answer struct {
	status int
	body   string // cut
	text   string
}

// Error returns a sentence on one line.
func (a *answer) Error() string { return a.text }

// Pauses before the next request to a cluster whose error only time or the administrator can resolve.
const (
	settingPause = 30 * time.Second
	busyPause    = 10 * time.Second
)

// maxErrorBody is how many bytes of an error's text are read. Ray sends whole tracebacks, whose last line matters.
const maxErrorBody = 64 << 10

// settingError is an error that lasts until the administrator corrects a setting. Jobs wait for it.
func settingError(setting, text string) error {
	return job.Later(settingPause, &rayjob.SettingError{Setting: setting, Text: text})
}

// answerError is the only table from an answer of Ray to its meaning.
func (c *Client) answerError(req call, status int, body io.Reader, token job.Secret) error {
	raw, _ := io.ReadAll(io.LimitReader(body, maxErrorBody)) // a cut text only explains less
	text := string(raw)
	if token != "" {
		text = strings.ReplaceAll(text, token.Reveal(), token.String())
	}
	say := func(format string, args ...any) error {
		return &answer{status: status, body: text, text: fmt.Sprintf(format, args...)}
	}
	switch {
	case status == http.StatusUnauthorized:
		return settingError(settingBoth, fmt.Sprintf("Ray at %s requires a token (401): ask the administrator of the extractor to set %s", c.address, settingBoth))
	case status == http.StatusForbidden:
		return settingError(settingBoth, fmt.Sprintf("Ray at %s rejects the token (403): ask the administrator of the extractor to set %s to the token of this cluster", c.address, settingBoth))
	case status >= 300 && status < 400, status == http.StatusMethodNotAllowed:
		return settingError(settingAddress, fmt.Sprintf("the server at %s is not the dashboard of a Ray cluster (%d): ask the administrator of the extractor to check %s", c.address, status, settingAddress))
	case status == http.StatusTooManyRequests:
		return job.Later(busyPause, say("Ray at %s limits the request rate (429)", c.address))
	case status == http.StatusRequestTimeout:
		return job.Retryable(say("Ray at %s: cannot %s: request timeout (408)", c.address, req.what))
	case strings.Contains(text, "No available agent"): // the cluster is starting; the request had no effect
		return job.Retryable(say("Ray at %s is starting and does not accept jobs yet", c.address))
	case status >= 500:
		err := say("Ray at %s: cannot %s: server error (%d)%s", c.address, req.what, status, detail(text))
		if req.changes {
			return job.Unknown(err)
		}
		return job.Retryable(err)
	default:
		return job.Permanent(say("Ray at %s rejected the request to %s (%d)%s: ask the administrator of the extractor", c.address, req.what, status, detail(text)))
	}
}

// detail returns the line of Ray's text that explains the error.
func detail(text string) string {
	if line := rayjob.LastError(text); line != "" {
		return ": " + line
	}
	return ""
}

// transportError words an error without an answer; sent reports whether a part of the request was sent.
func (c *Client) transportError(ctx context.Context, req call, sent bool, err error) error {
	cause := bare(err)
	var dns *net.DNSError
	switch {
	case context.Cause(ctx) != nil:
		cause = context.Cause(ctx) // callers must recognise a shutdown of the service
	case errors.Is(err, context.DeadlineExceeded):
		cause = errors.New("timeout")
	case errors.Is(err, syscall.ECONNREFUSED):
		cause = errors.New("connection refused")
	case errors.As(err, &dns):
		cause = fmt.Errorf("unknown host %s", dns.Name)
	}
	err = fmt.Errorf("cannot reach Ray at %s to %s: %w", c.address, req.what, cause)
	if req.changes && sent {
		return job.Unknown(err)
	}
	return job.Retryable(err)
}

// bare removes the request from an error of net/http, whose text would repeat it.
func bare(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return bare(e.Err)
	}
	return err
}

// errLeftover says that Ray had only a leftover entry of the job.
var errLeftover = errors.New("only a leftover entry of the training was on the Ray cluster")

// notFound reports that Ray does not know the job.
func notFound(err error) bool {
	a, ok := errors.AsType[*answer](err)
	return ok && a.status == http.StatusNotFound || errors.Is(err, errLeftover)
}

// says reports that err is an answer of Ray whose text contains words. Ray distinguishes some cases only by text.
func says(err error, words string) bool {
	a, ok := errors.AsType[*answer](err)
	return ok && strings.Contains(a.body, words)
}
