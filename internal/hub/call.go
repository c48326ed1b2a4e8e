package hub

import (
	"context"
	"errors"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/go-resty/resty/v2"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/text"
)

const (
	// maxAnswer is the size in bytes of the largest answer that is read. A model of 1,000 files has about 300 kB.
	maxAnswer = 16 << 20
	// maxPause is the longest pause that the client chooses itself.
	maxPause = 30 * time.Second
)

// get requests information and decodes it. It returns the address of the next page, if there is one.
func (c *Client) get(ctx context.Context, t target, address string, decode func([]byte) error) (next string, err error) {
	err = c.retry(ctx, func() error {
		next, err = c.attempt(ctx, t, address, decode)
		return err
	})
	return next, err
}

func (c *Client) attempt(ctx context.Context, t target, address string, decode func([]byte) error) (next string, err error) {
	callCtx, cancel := context.WithTimeout(ctx, c.cfg.CallTimeout)
	defer cancel()
	req := c.rest.R().SetContext(callCtx)
	if c.cfg.Token != "" {
		req.SetHeader("Authorization", "Bearer "+c.cfg.Token.Reveal())
	}
	answer, err := req.Get(address)
	switch {
	case errors.Is(err, resty.ErrResponseBodyTooLarge):
		return "", job.Permanent(sentence("The Hub says more than %s about %s. Check --endpoint.", text.Bytes(maxAnswer), t.what()))
	case err != nil:
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", c.transportError(t, err)
	case !answer.IsSuccess():
		return "", c.answerError(t, answer.StatusCode(), answer.Header(), c.isEndpoint(answer.RawResponse.Request.URL))
	}
	if err := decode(answer.Body()); err != nil {
		// A proxy that lets nobody pass answers 200 with a page of its own.
		return "", job.Permanent(sentence("The answer of %s is not one of a Hub (%w). Check --endpoint and the proxy.", c.base.Host, err))
	}
	return nextPage(answer.Header().Get("Link")), nil
}

// retry calls fn until it succeeds, fails permanently, or has been tried Config.Attempts times.
func (c *Client) retry(ctx context.Context, fn func() error) error {
	pauses := c.pauses()
	for attempt := 1; ; attempt++ {
		err := fn()
		if err == nil || !c.again(ctx, err, attempt, pauses) {
			return err
		}
	}
}

// again waits before another attempt. It reports false if err is final.
func (c *Client) again(ctx context.Context, err error, attempt int, pauses *backoff.ExponentialBackOff) bool {
	kind, after := job.Classify(err)
	transient := kind == job.KindRetryable || kind == job.KindLater && after <= c.cfg.MaxWait
	if !transient || attempt >= c.cfg.Attempts || ctx.Err() != nil {
		return false
	}
	wait := max(after, pauses.NextBackOff())
	c.cfg.OnWait(wait, err)
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

func (c *Client) pauses() *backoff.ExponentialBackOff {
	b := &backoff.ExponentialBackOff{InitialInterval: c.cfg.Backoff, RandomizationFactor: 0.5, Multiplier: 3, MaxInterval: maxPause}
	b.Reset()
	return b
}
