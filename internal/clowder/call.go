package clowder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/go-resty/resty/v2"

	"github.com/ncsa/clowder-ray/internal/job"
)

// keyHeader carries the user's key. No Authorization is ever sent beside it: v2 looks at that first and fails.
const keyHeader = "X-API-KEY"

// call is one request whose body and answer fit into memory.
type call struct {
	operation
	method string
	path   []string
	query  url.Values
	body   any // sent as JSON; nil sends none
	into   any // filled from the JSON of the answer; nil ignores it
}

// do makes the call, and again with growing pauses where that is safe. Its errors carry their outcome.
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
	req := s.c.rest.R().SetContext(callCtx).SetHeader(keyHeader, s.key.Reveal()).SetQueryParamsFromValues(c.query)
	if c.body != nil {
		body, err := json.Marshal(c.body)
		if err != nil {
			return job.Permanent(fmt.Errorf("write the request to %s: %w", c.what, err))
		}
		req.SetHeader("Content-Type", "application/json").SetBody(body)
	}
	answer, err := req.Execute(c.method, s.url(c.path...))
	if err != nil {
		if errors.Is(err, resty.ErrResponseBodyTooLarge) {
			return job.Permanent(fmt.Errorf("the answer of Clowder to %s is larger than %d bytes", c.what, maxAnswer))
		}
		return transportError(ctx, c.operation, sent.Load(), err)
	}
	if !answer.IsSuccess() {
		return answerError(c.operation, answer.StatusCode(), answer.Header(), answer.Body())
	}
	if c.into == nil {
		return nil
	}
	if err := decodeAnswer(answer.Body(), c.into); err != nil {
		// A proxy in front of a Clowder that restarts answers 200 with a page.
		err = fmt.Errorf("the answer of Clowder to %s is not what it should be: %w", c.what, err)
		if c.once {
			return job.Unknown(err)
		}
		return job.Retryable(err)
	}
	return nil
}

// url is the address of an API path. Every id in path was checked before.
func (s *Session) url(path ...string) string {
	return s.base.JoinPath(append([]string{"api", "v2"}, path...)...).String()
}

// traceSent returns a flag that turns true when a request begins to leave; before that nothing can have happened.
func traceSent(ctx context.Context) (context.Context, *atomic.Bool) {
	var sent atomic.Bool
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { sent.Store(true) }}), &sent
}

// maxPause bounds a wait inside a call; a longer one that Clowder asks for is left to the caller.
const maxPause = 10 * time.Second

// retry runs fn until it works, fails for good, or was tried often enough. Pauses grow fourfold with jitter.
func (c *Client) retry(ctx context.Context, fn func() error) error {
	pause := c.cfg.Backoff
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
		wait := max(after, pause/2+rand.N(pause)) //nolint:gosec // jitter needs no secret randomness
		if !sleep(ctx, wait) {
			return err
		}
		pause = min(pause*4, maxPause)
	}
}

// sleep waits for d and reports false if ctx ended before.
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

// page is v2's answer to a paged listing.
type page[T any] struct {
	Metadata struct {
		TotalCount int `json:"total_count"`
	} `json:"metadata"`
	Data []T `json:"data"`
}

// pageSize is what is asked for; v2 gives 10 (or 2) unless told otherwise.
const pageSize = 100

// maxRounds is how often a listing is begun anew when rows moved between its pages.
const maxRounds = 3

// listAll reads all pages, or as many as give more than most rows. v2 sorts newest first and pages by position, so a file
// that comes or goes meanwhile moves the others: rows are told apart by id, and a listing that ends with fewer rows than
// the server counts is read again.
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
	// A server that gives the same rows again and again, and counts more, must not be asked without end.
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
