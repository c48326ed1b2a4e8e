package clowder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/go-resty/resty/v2"

	"github.com/ncsa/clowder-ray/internal/clowder/jsonscan"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/text"
)

const (
	// keyHeader carries the user's API key. An Authorization header is never sent with it, because v2 checks that one first and fails.
	keyHeader = "X-API-KEY"
	// tokenHeader carries the user's access token.
	tokenHeader = "Authorization"
)

// credential is the header that identifies the user.
func (s *Session) credential() (name, value string) {
	if s.bearer {
		return tokenHeader, "Bearer " + s.key.Reveal()
	}
	return keyHeader, s.key.Reveal()
}

// call is one request. Its body and its answer fit into memory.
type call struct {
	operation
	method string
	path   []string
	query  url.Values
	body   any    // sent as JSON; nil: no body
	lines  []byte // sent as they are, as lines of JSON; nil: none
	into   any    // receives the JSON of the answer; nil: the answer is ignored
	// keyInQuery sends the key as a query parameter in this call.
	keyInQuery bool
}

// do makes the call and retries it with a back-off if that is safe. Its errors carry an outcome of package job.
func (s *Session) do(ctx context.Context, c call) error {
	if c.once {
		return s.attempt(ctx, c)
	}
	return s.c.retry(ctx, func() error { return s.attempt(ctx, c) })
}

func (s *Session) attempt(ctx context.Context, c call) error {
	callCtx, cancel := context.WithTimeout(ctx, s.c.cfg.CallTimeout)
	defer cancel()
	callCtx, sent := traceSent(callCtx)
	req := s.c.rest.R().SetContext(callCtx).SetQueryParamsFromValues(c.query)
	if c.keyInQuery || s.keyInQuery() {
		req.SetQueryParam(keyParameter, s.key.Reveal())
	} else {
		req.SetHeader(s.credential())
	}
	if c.body != nil {
		body, err := json.Marshal(c.body)
		if err != nil {
			return job.Permanent(fmt.Errorf("encode the request to %s: %w", c.what, err))
		}
		req.SetHeader("Content-Type", "application/json").SetBody(body)
	}
	if c.lines != nil {
		req.SetHeader("Content-Type", "application/x-ndjson").SetBody(c.lines)
	}
	answer, err := req.Execute(c.method, s.url(c.path...))
	if err != nil {
		if errors.Is(err, resty.ErrResponseBodyTooLarge) {
			return job.Permanent(fmt.Errorf("Clowder sent more than %s when asked to %s", text.Bytes(jsonscan.MaxAnswer), c.what)) //nolint:staticcheck // the sentence begins with a name
		}
		return transportError(ctx, c.operation, sent.Load(), err)
	}
	if !answer.IsSuccess() {
		return s.answerError(c.operation, answer.StatusCode(), answer.Header(), answer.Body())
	}
	if isPage(answer.RawResponse) {
		return invalidAnswer(c.operation, answer.RawResponse, nil)
	}
	if c.into == nil {
		return nil
	}
	if err := jsonscan.DecodeAnswer(answer.Body(), c.into); err != nil {
		return invalidAnswer(c.operation, answer.RawResponse, err)
	}
	return nil
}

// url returns the address of an API path. The caller has checked all ids in the path.
func (s *Session) url(path ...string) string {
	root := s.dialect.Root
	if root == nil {
		root = []string{"api", "v2"}
	}
	return s.base.JoinPath(slices.Concat(root, path)...).String()
}

// traceSent returns a flag that becomes true when a request is being sent. Before that the call has had no effect.
func traceSent(ctx context.Context) (context.Context, *atomic.Bool) {
	var sent atomic.Bool
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { sent.Store(true) }}), &sent
}

// maxPause limits a wait inside a call. If Clowder asks for a longer wait, the caller gets the error.
const maxPause = 10 * time.Second

// retry calls fn until it succeeds, fails permanently, or has been tried Config.Attempts times. Each pause is about four times the
// last one, with jitter.
func (c *Client) retry(ctx context.Context, fn func() error) error {
	pauses := backoff.ExponentialBackOff{InitialInterval: c.cfg.Backoff, RandomizationFactor: 0.5, Multiplier: 4, MaxInterval: maxPause}
	pauses.Reset()
	for attempt := 1; ; attempt++ {
		err := fn()
		if err == nil {
			return nil
		}
		kind, after := job.Classify(err)
		again := kind == job.KindRetryable || kind == job.KindLater && after <= maxPause
		if !again || attempt >= c.cfg.Attempts || ctx.Err() != nil {
			return err
		}
		if !sleep(ctx, max(after, pauses.NextBackOff())) {
			return err
		}
	}
}

// sleep waits for d. It reports false if ctx has ended before.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// invalidAnswer is the error about an answer with status 200 that is not what the API documents. A proxy in front of a Clowder that restarts
// answers with such a page. One that redirects to a page to log in has not passed the request on.
func invalidAnswer(op operation, answer *http.Response, err error) error {
	if answer.Request.Response != nil {
		return job.Permanent(fmt.Errorf("Clowder answered the request to %s with a redirect to a web page: ask the administrator of the extractor to check CLOWDER_URL, and whether a login page protects the API of Clowder", op.what)) //nolint:staticcheck // a name
	}
	if isPage(answer) {
		err = errors.New("it is a web page, as of a login or of a proxy")
	}
	err = fmt.Errorf("Clowder sent an invalid answer when asked to %s: %w", op.what, err) //nolint:staticcheck // a name
	if op.once {
		return job.Unknown(err)
	}
	return job.Retryable(err)
}

// isPage reports whether an answer is a web page. No call of the API returns one.
func isPage(answer *http.Response) bool {
	return strings.HasPrefix(answer.Header.Get("Content-Type"), "text/html")
}

// page is one page of a listing as v2 sends it.
type page[T any] struct {
	Metadata struct {
		TotalCount int `json:"total_count"`
	} `json:"metadata"`
	Data []T `json:"data"`
}

// pageSize is the number of rows per page. The default of v2 is 10, or 2.
const pageSize = 100

// maxRounds is how often a listing is read if rows moved between its pages.
const maxRounds = 3

// listAll reads all pages, or stops after more than most rows. v2 sorts newest first and pages by position, so a file that is added
// or deleted meanwhile moves the other rows. Rows are therefore identified by their id, and a listing with fewer rows than the server
// counts is read again.
func listAll[T any](ctx context.Context, s *Session, c call, most int, id func(T) string) ([]T, error) {
	for round := 1; ; round++ {
		rows, total, err := listOnce(ctx, s, c, most, id)
		if err != nil || len(rows) >= min(total, most) || round == maxRounds {
			return rows, err
		}
	}
}

func listOnce[T any](ctx context.Context, s *Session, c call, most int, id func(T) string) (rows []T, total int, err error) {
	seen := make(map[string]bool)
	// A server that repeats the same rows and counts more than it sends must not cause an endless loop.
	for skip := 0; len(rows) <= most && skip <= 2*most+pageSize; skip += pageSize {
		var p page[T]
		one := c
		one.into = &p
		one.query = url.Values{"limit": {strconv.Itoa(pageSize)}, "skip": {strconv.Itoa(skip)}}
		maps.Copy(one.query, c.query)
		if err := s.do(ctx, one); err != nil {
			return nil, 0, err
		}
		for _, row := range p.Data {
			if key := id(row); !seen[key] {
				seen[key] = true
				rows = append(rows, row)
			}
		}
		if total = p.Metadata.TotalCount; len(p.Data) == 0 || skip+len(p.Data) >= total {
			break
		}
	}
	return rows, total, nil
}

func get(what, right string, path ...string) call {
	return call{operation: operation{what: what, right: right}, method: http.MethodGet, path: path}
}

func post(what, right string, body, into any, path ...string) call {
	return call{operation: operation{what: what, right: right, once: true}, method: http.MethodPost, path: path, body: body, into: into}
}
