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

// Pauses between two requests about a job that is stopping, doubling from firstLook to lastLook. stopPause is the caller's.
const (
	firstLook = 100 * time.Millisecond
	lastLook  = time.Second
	stopPause = 2 * time.Second
)

// Stop implements rayjob.Backend. Ray only forwards the request, so Stop waits for the end. Ray drops a request for a job that
// has no process yet, so Stop repeats it.
func (c *Client) Stop(ctx context.Context, h rayjob.Handle) error {
	delivered := false
	began := time.Now()
	for pause := firstLook; ; pause = min(2*pause, lastLook) {
		if !delivered {
			var err error
			if delivered, err = c.requestStop(ctx, h.ID); err != nil {
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

// requestStop reports whether the request reached a running job.
func (c *Client) requestStop(ctx context.Context, id string) (bool, error) {
	var reply struct {
		Stopped bool `json:"stopped"`
	}
	err := c.do(ctx, jobCall(http.MethodPost, id, "/stop", "stop a training"), func(r io.Reader) error {
		return json.NewDecoder(io.LimitReader(r, maxAnswer)).Decode(&reply)
	})
	return reply.Stopped, err
}

// Release implements rayjob.Backend. It deletes the job's entry, which Ray would otherwise keep as long as the cluster runs.
// Ray may write a leftover entry within a second; look and poll delete it, also after a restart of the service.
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
	return c.do(ctx, jobCall(http.MethodDelete, id, "", "delete a training"), func(io.Reader) error { return nil })
}

// gone turns the answer that Ray does not know the job into a success.
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
