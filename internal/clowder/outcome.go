package clowder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/ncsa/clowder-ray/internal/clowder/connect"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/text"
)

// operation describes a call for its errors.
type operation struct {
	// what follows "Clowder refused to": "list the files of the dataset".
	what string
	// right is the permission that the user lacks after a 403: "view the dataset", "add files to the dataset".
	right string
	// once marks a call that must not be repeated, because each successful call creates something new.
	once bool
}

// AnswerError is an HTTP error status from Clowder.
type AnswerError struct {
	// Status is the HTTP status code.
	Status int
	// Said is what Clowder says besides the status, in parentheses after a blank, or empty.
	Said string
	text string
}

// Error returns a sentence for a scientist.
func (e *AnswerError) Error() string { return e.text }

// StatusOf returns the HTTP status in err, or 0 if there was no answer.
func StatusOf(err error) int {
	if e, ok := errors.AsType[*AnswerError](err); ok {
		return e.Status
	}
	return 0
}

// NewAnswerError returns an AnswerError for a version of Clowder that says more than its status does.
func NewAnswerError(status int, text string) error { return &AnswerError{Status: status, text: text} }

// answerError maps an HTTP status to an outcome and a sentence.
func (s *Session) answerError(op operation, status int, header http.Header, body []byte) error {
	detail := s.detail(body)
	say := func(format string, args ...any) error {
		return &AnswerError{Status: status, Said: detail, text: fmt.Sprintf(format, args...)}
	}
	switch {
	case status >= 300 && status < 400:
		return job.Permanent(say("Clowder answered the request to %s with a redirect (%d): ask the administrator of the extractor to check CLOWDER_URL", op.what, status))
	case status == http.StatusUnauthorized && s.bearer:
		return job.Permanent(say("Clowder does not accept this login (401)%s and so refused to %s: log in again", detail, op.what))
	case status == http.StatusUnauthorized:
		return job.Permanent(say("Clowder does not accept the key that came with this job (401)%s and so refused to %s. If it was revoked or has expired, submit the job again", detail, op.what))
	case status == http.StatusForbidden:
		return job.Permanent(say("Clowder refused to %s (403): ask the dataset owner for the right to %s, then submit again", op.what, op.right))
	case status == http.StatusNotFound || status == http.StatusGone:
		return job.Permanent(say("Clowder could not %s (%d)%s: it was deleted, or you may not see it", op.what, status, detail))
	case status == http.StatusRequestEntityTooLarge:
		return job.Permanent(say("Clowder refused to %s because it is too large (413): ask the administrator of Clowder to raise the upload limit of its web server", op.what))
	case status == http.StatusTooManyRequests:
		return job.Later(retryAfter(header), say("Clowder has too many requests to %s (429)", op.what))
	case temporary(status):
		err := say("Clowder had an error when asked to %s (%d)%s", op.what, status, detail)
		if op.once && status != http.StatusTooEarly {
			return job.Unknown(err) // the call may have succeeded: v2 has errors after its insert
		}
		return job.Retryable(err)
	default: // 400, 409, 422 and others: the same request fails again
		return job.Permanent(say("Clowder did not accept the request to %s (%d)%s", op.what, status, detail))
	}
}

// temporary reports whether a later request may succeed.
func temporary(status int) bool {
	return status == http.StatusRequestTimeout || status == http.StatusTooEarly || status >= 500
}

// transportError returns the error of a call without an answer. sent is true if a part of the request may have been sent.
func transportError(ctx context.Context, op operation, sent bool, err error) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, connect.ErrIdle) {
		err = cause // callers must recognise a stop of the service
	} else {
		err = bare(err)
	}
	err = fmt.Errorf("the request to Clowder to %s failed: %w", op.what, err)
	if op.once && sent {
		return job.Unknown(err)
	}
	return job.Retryable(err)
}

// bare removes the address from an error of net/http, because a presigned address contains its signature.
func bare(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return bare(e.Err)
	}
	return err
}

// maxRetryAfter limits the wait that a server may request.
const maxRetryAfter = 5 * time.Minute

func retryAfter(header http.Header) time.Duration {
	seconds, err := strconv.Atoi(header.Get("Retry-After"))
	if err != nil || seconds < 1 {
		return time.Second
	}
	return min(time.Duration(seconds)*time.Second, maxRetryAfter)
}

// detail is what an answer says, in parentheses after a blank, or empty. It never repeats the key or the token.
func (s *Session) detail(body []byte) string {
	read := answerDetail
	if s.dialect.Detail != nil {
		read = s.dialect.Detail
	}
	said := read(body)
	if key := s.key.Reveal(); key != "" {
		said = strings.ReplaceAll(said, key, "…")
	}
	if said = text.Excerpt(said, 160); said == "" {
		return ""
	}
	return " (" + said + ")"
}

// answerDetail returns FastAPI's detail, which is a text, an object with error, or a list of errors of fields.
func answerDetail(body []byte) string {
	var answer struct {
		Detail json.RawMessage `json:"detail"`
	}
	if json.Unmarshal(body, &answer) != nil || answer.Detail == nil {
		return ""
	}
	var detail string
	var object struct {
		Error string `json:"error"`
	}
	var list []struct {
		Loc []any  `json:"loc"`
		Msg string `json:"msg"`
	}
	switch {
	case json.Unmarshal(answer.Detail, &detail) == nil:
	case json.Unmarshal(answer.Detail, &object) == nil:
		detail = object.Error
	case json.Unmarshal(answer.Detail, &list) == nil && len(list) > 0:
		detail = fmt.Sprint(append(list[0].Loc, list[0].Msg)...)
		if n := len(list[0].Loc); n > 0 {
			detail = fmt.Sprintf("%v: %s", list[0].Loc[n-1], list[0].Msg)
		}
	}
	return detail
}

// diskError returns an error of the shared volume. what is the operation that failed. A nil err stays nil.
func diskError(what string, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return job.Permanent(fmt.Errorf("the disk of the training service is full (%s): ask its administrator to free space, then submit again", what))
	}
	return job.Retryable(fmt.Errorf("%s: %w", what, err))
}
