package jobsapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/rayjob"
)

// maxListing is the largest listing in bytes. Ray has no paging and keeps every job until it is deleted.
const maxListing = 256 << 20

// Observe implements rayjob.Backend from the shared listing. It requests an attempt by name only if the listing does not
// contain it, since the attempt may be younger.
func (c *Client) Observe(ctx context.Context, h rayjob.Handle, maxAge time.Duration) (rayjob.Observation, error) {
	jobs, err := c.jobs.Younger(ctx, maxAge)
	if err != nil {
		return rayjob.Observation{}, err
	}
	if obs, ok := jobs[h.ID]; ok {
		return obs, nil
	}
	d, err := c.look(ctx, h.ID)
	switch {
	case notFound(err):
		return c.lost(ctx, h)
	case err != nil:
		return rayjob.Observation{}, err
	}
	return c.judge(d.details), nil
}

// look requests one job by name. It deletes a leftover entry and returns errLeftover, so that the name is free again.
func (c *Client) look(ctx context.Context, id string) (d owned, err error) {
	err = c.do(ctx, jobCall(http.MethodGet, id, "", "look up a training"), func(r io.Reader) error {
		d, err = decodeOwned(r)
		return err
	})
	if err == nil && d.leftover() {
		if err = gone(c.remove(ctx, id)); err == nil {
			err = errLeftover
		}
	}
	return d, err
}

// lost says why an attempt no longer exists. It first checks that Ray itself answers, since a proxy in front of a restarting
// head answers 404 too.
func (c *Client) lost(ctx context.Context, h rayjob.Handle) (rayjob.Observation, error) {
	v, err := c.readVersion(ctx)
	if err != nil {
		return rayjob.Observation{}, err
	}
	reason := "the entry of the training on the Ray cluster was deleted"
	if h.Session != "" && v.Session != h.Session {
		reason = "the Ray cluster was restarted and lost the training"
		c.version.Forget() // the next submission belongs to the new session
	}
	return rayjob.Observation{Verdict: rayjob.Lost, Reason: reason}, nil
}

// poll lists all jobs once for all callers. It keeps the reasons of the previous listing, since Ray repeats the end of each
// log in every listing. It deletes leftover entries, which no caller asks for.
func (c *Client) poll(ctx context.Context, before map[string]rayjob.Observation) (map[string]rayjob.Observation, error) {
	jobs := map[string]rayjob.Observation{}
	var leftovers []string
	err := c.do(ctx, call{method: http.MethodGet, path: "/api/jobs/", what: "list its jobs"}, func(r io.Reader) error {
		limited := &io.LimitedReader{R: r, N: maxListing}
		err := decodeListing(limited, func(d details) {
			if d.leftover() {
				leftovers = append(leftovers, d.SubmissionID)
				return
			}
			obs, ok := before[d.SubmissionID]
			if !ok || obs.Verdict != rayjob.Failed || d.Status != statusFailed {
				obs = c.judge(d)
			}
			jobs[d.SubmissionID] = obs
		})
		if limited.N <= 0 {
			return fmt.Errorf("the list of jobs is larger than %d MiB: delete old jobs on the Ray cluster", maxListing>>20)
		}
		return err
	})
	c.logOutage(ctx, err)
	c.removeLeftovers(ctx, leftovers)
	return jobs, err
}

// removeLeftovers deletes the leftover entries of attempts, of which nothing but the name tells whose they were. The next poll
// repeats what fails. An attempt that has the name by now is not over, and Ray deletes only entries of jobs that are over.
func (c *Client) removeLeftovers(ctx context.Context, ids []string) {
	for _, id := range ids {
		if _, ok := rayjob.RunOf(id); !ok {
			continue
		}
		if err := c.remove(ctx, id); err != nil {
			c.log.Debug("a leftover entry on Ray could not be deleted", zap.String("ray_job", id), zap.Error(err))
		}
	}
}

// logOutage logs when the cluster becomes unreachable and when it responds again, and not every failed request.
func (c *Client) logOutage(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	text := ""
	if err != nil {
		text = err.Error()
	}
	c.mu.Lock()
	before := c.lastErr
	c.lastErr = text
	c.mu.Unlock()
	setting, isSetting := errors.AsType[*rayjob.SettingError](err)
	switch {
	case text == before:
	case isSetting:
		c.log.Error("Ray rejects the service, jobs wait", zap.String("setting", setting.Setting), zap.Error(err))
	case err != nil:
		c.log.Warn("Ray is unreachable, jobs wait", zap.Error(err))
	default:
		c.log.Info("Ray responds again", zap.String("address", c.address))
	}
}

// judge is details.judge with one warning for each unknown status.
func (c *Client) judge(d details) rayjob.Observation {
	obs, known := d.judge()
	if known {
		return obs
	}
	if status := rayjob.OneLine(d.Status, 40); c.warned.First(status) {
		c.log.Warn("Ray reports an unknown status, the service keeps waiting", zap.String("status", status), zap.String("ray_job", rayjob.OneLine(d.SubmissionID, 80)))
	}
	return obs
}
