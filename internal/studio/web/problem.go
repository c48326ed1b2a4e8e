package web

import (
	"encoding/json"
	"errors"
	"maps"
	"math"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/text"
)

// Problem is an error that a visitor reads, in the form of RFC 9457, with what to do next.
type Problem struct {
	// Type is a short name that scripts compare. It is sent as a path of the studio.
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	// Detail says what happened and where, Do what the visitor can do.
	Detail string `json:"detail,omitempty"`
	Do     string `json:"do,omitempty"`
	// RetryAfter is when the same request may succeed; 0 says nothing of it.
	RetryAfter time.Duration `json:"-"`
}

// Error returns the sentences of the problem.
func (p *Problem) Error() string { return strings.TrimSpace(p.Detail + " " + p.Do) }

// GetStatus returns the status of the answer, for huma.
func (p *Problem) GetStatus() int { return p.Status }

// GetHeaders returns the headers of the answer, for huma.
func (p *Problem) GetHeaders() http.Header {
	if p.RetryAfter <= 0 {
		return nil
	}
	return http.Header{"Retry-After": {strconv.Itoa(int(math.Ceil(p.RetryAfter.Seconds())))}}
}

// ContentType returns the type of the answer, for huma.
func (p *Problem) ContentType(string) string { return problemType }

const problemType = "application/problem+json"

// NotFound is the answer for what is forbidden and for what never was: nobody learns from it what exists.
var NotFound = &Problem{
	Type: "not-found", Title: "Not found", Status: http.StatusNotFound,
	Detail: "There is no such page, or you may not see it.",
	Do:     "Check the address. If somebody sent it to you, ask them to share the dataset with you in Clowder.",
}

// AsProblem turns any error into one that a visitor may read. What it does not know becomes a problem that tells nothing of its cause.
func AsProblem(err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	if e, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return &Problem{
			Type: "too-large", Title: "This is too large", Status: http.StatusRequestEntityTooLarge,
			Detail: "The request is longer than " + text.Bytes(e.Limit) + ".", Do: "Send less.",
		}
	}
	switch status := clowder.StatusOf(err); {
	case errors.Is(err, job.ErrNotFound), status == http.StatusNotFound:
		return NotFound
	case status == http.StatusUnauthorized:
		return &Problem{
			Type: "login", Title: "Your login has ended", Status: http.StatusUnauthorized,
			Detail: "Clowder no longer accepts your login.", Do: "Log in again.",
		}
	case status == http.StatusForbidden:
		return &Problem{Type: "forbidden", Title: "Clowder does not allow this", Status: http.StatusForbidden, Detail: text.Capital(err.Error()) + "."}
	case isPermanent(err):
		return &Problem{Type: "refused", Title: "This is not possible", Status: http.StatusConflict, Detail: text.Capital(err.Error()) + "."}
	case status != 0 || isNetwork(err):
		return &Problem{
			Type: "clowder", Title: "Clowder does not answer", Status: http.StatusBadGateway,
			Detail: "The studio could not ask Clowder.", Do: "Try again in a minute.",
		}
	}
	return &Problem{
		Type: "internal", Title: "Something went wrong", Status: http.StatusInternalServerError,
		Detail: "The studio made a mistake. It is in the log of the service.", Do: "Try again. If it stays, tell the operator what you did.",
	}
}

func isPermanent(err error) bool {
	kind, _ := job.Classify(err)
	return kind == job.KindPermanent
}

func isNetwork(err error) bool {
	_, ok := errors.AsType[net.Error](err)
	return ok
}

func (p *Problem) setHeaders(w http.ResponseWriter) { maps.Copy(w.Header(), p.GetHeaders()) }

// WriteProblem answers an API request with the problem.
func WriteProblem(w http.ResponseWriter, p *Problem) {
	p.setHeaders(w)
	w.Header().Set("Content-Type", problemType)
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p) // the reader has gone
}

// NewHumaError makes the errors that huma itself finds (a body that is no JSON, a missing field) problems of the studio.
func NewHumaError(status int, message string, errs ...error) huma.StatusError {
	if len(errs) == 1 {
		if p, ok := errors.AsType[*Problem](errs[0]); ok {
			return p
		}
	}
	details := []string{message}
	for _, err := range errs {
		if err != nil {
			details = append(details, err.Error())
		}
	}
	return &Problem{
		Type: "request", Title: http.StatusText(status), Status: status, Detail: text.Capital(strings.Join(details, "; ")) + ".",
		Do: "Compare the request with /api/v1/openapi.json.",
	}
}
