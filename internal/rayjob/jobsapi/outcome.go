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

// answer is an answer of Ray that is not a success.
type answer struct {
	status int
	body   string // cut
	text   string
}

// Error returns a sentence on one line.
func (a *answer) Error() string { return a.text }

// Pauses before the next look at a cluster that answers in a way that only time or the operator mends.
const (
	operatorPause = 30 * time.Second
	busyPause     = 10 * time.Second
)

// maxErrorBody is how much of an error's text is read; Ray sends whole tracebacks, with the point of them at the end.
const maxErrorBody = 64 << 10

// operator words an error that lasts until a setting of the service is mended. Jobs wait for it.
func operator(setting, text string) error {
	return job.Later(operatorPause, &rayjob.SettingError{Setting: setting, Text: text})
}

// answerError is the one table from an answer of Ray to what it means.
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
		return operator(settingBoth, fmt.Sprintf("Ray at %s wants a token (401): the operator of the extractor must set %s", c.address, settingBoth))
	case status == http.StatusForbidden:
		return operator(settingBoth, fmt.Sprintf("Ray at %s refuses the token (403): the operator of the extractor must set %s to the token of this cluster", c.address, settingBoth))
	case status >= 300 && status < 400, status == http.StatusMethodNotAllowed:
		return operator(settingAddress, fmt.Sprintf("what answers at %s is not the dashboard of a Ray cluster (%d): the operator of the extractor must check %s", c.address, status, settingAddress))
	case status == http.StatusTooManyRequests:
		return job.Later(busyPause, say("Ray at %s has too many requests (429)", c.address))
	case status == http.StatusRequestTimeout:
		return job.Retryable(say("Ray at %s was too slow when asked to %s (408)", c.address, req.what))
	case strings.Contains(text, "No available agent"): // the cluster is still starting; nothing has happened
		return job.Retryable(say("Ray at %s is not ready to take jobs yet", c.address))
	case status >= 500:
		err := say("Ray at %s had an error when asked to %s (%d)%s", c.address, req.what, status, detail(text))
		if req.changes {
			return job.Unknown(err)
		}
		return job.Retryable(err)
	default:
		return job.Permanent(say("Ray at %s did not accept the request to %s (%d)%s: ask the operator of the extractor", c.address, req.what, status, detail(text)))
	}
}

// detail is what Ray's text says about the fault, for an error.
func detail(text string) string {
	if line := rayjob.LastError(text); line != "" {
		return ": " + line
	}
	return ""
}

// transportError words an error without an answer; sent says whether the request had begun to leave.
func (c *Client) transportError(ctx context.Context, req call, sent bool, err error) error {
	cause := bare(err)
	var dns *net.DNSError
	switch {
	case context.Cause(ctx) != nil:
		cause = context.Cause(ctx) // a stop of the service is not Ray's fault: keep it recognisable
	case errors.Is(err, context.DeadlineExceeded):
		cause = errors.New("no answer in time")
	case errors.Is(err, syscall.ECONNREFUSED):
		cause = errors.New("nothing listens there (connection refused)")
	case errors.As(err, &dns):
		cause = fmt.Errorf("the name %s is not known", dns.Name)
	}
	err = fmt.Errorf("Ray at %s cannot be reached to %s: %w", c.address, req.what, cause) //nolint:staticcheck // begins with a name
	if req.changes && sent {
		return job.Unknown(err)
	}
	return job.Retryable(err)
}

// bare takes the request out of an error of net/http, whose text would repeat it.
func bare(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return bare(e.Err)
	}
	return err
}

// notFound reports whether Ray said that it does not know the job.
func notFound(err error) bool {
	a, ok := errors.AsType[*answer](err)
	return ok && a.status == http.StatusNotFound
}

// says reports whether err is an answer of Ray whose text holds words. Ray tells some cases apart by text only.
func says(err error, words string) bool {
	a, ok := errors.AsType[*answer](err)
	return ok && strings.Contains(a.body, words)
}
