package jobsapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/rayjob"
)

// Pauses between looks at a job that is to stop, doubling from the first to the last; stopPause is the caller's.
const (
	firstLook = 100 * time.Millisecond
	lastLook  = time.Second
	stopPause = 2 * time.Second
)

// Stop implements rayjob.Backend. Ray only passes the wish on, so the end is looked for; a wish that met a job before it
// had a process is forgotten by Ray and said again.
func (c *Client) Stop(ctx context.Context, h rayjob.Handle) error {
	passed := false
	began := time.Now()
	for pause := firstLook; ; pause = min(2*pause, lastLook) {
		if !passed {
			var err error
			if passed, err = c.askToStop(ctx, h.ID); err != nil {
				return gone(err)
			}
		}
		d, err := c.look(ctx, h.ID)
		if err != nil {
			return gone(err)
		}
		if obs, _ := d.judge(); obs.Verdict.Terminal() {
			return nil
		}
		if time.Since(began)+pause > c.cfg.StopWait {
			return job.Later(stopPause, errors.New("waiting for the training to stop"))
		}
		if err := sleep(ctx, pause); err != nil {
			return job.Retryable(fmt.Errorf("wait for the training to stop: %w", err))
		}
	}
}

// askToStop reports whether the wish reached a running job.
func (c *Client) askToStop(ctx context.Context, id string) (bool, error) {
	var reply struct {
		Stopped bool `json:"stopped"`
	}
	err := c.do(ctx, jobCall(http.MethodPost, id, "/stop", "stop a training"), func(r io.Reader) error {
		return json.NewDecoder(io.LimitReader(r, maxAnswer)).Decode(&reply)
	})
	return reply.Stopped, err
}

// Release implements rayjob.Backend by deleting the job's entry, without which Ray keeps it for ever.
func (c *Client) Release(ctx context.Context, h rayjob.Handle) error {
	err := c.remove(ctx, h.ID)
	if !says(err, "non-terminal") {
		return gone(err)
	}
	if err := c.Stop(ctx, h); err != nil {
		return err
	}
	return gone(c.remove(ctx, h.ID))
}

func (c *Client) remove(ctx context.Context, id string) error {
	return c.do(ctx, jobCall(http.MethodDelete, id, "", "forget a training"), func(io.Reader) error { return nil })
}

// gone makes it a success that Ray does not know the job.
func gone(err error) error {
	if notFound(err) {
		return nil
	}
	return err
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
