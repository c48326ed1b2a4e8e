package jobsapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/rayjob"
)

// maxListing bounds a listing. Ray has no paging and keeps every job until it is deleted.
const maxListing = 256 << 20

// Observe implements rayjob.Backend from the shared listing. Only an attempt that the listing does not hold is asked for
// by name: it may be younger than the listing.
func (c *Client) Observe(ctx context.Context, h rayjob.Handle) (rayjob.Observation, error) {
	jobs, err := c.jobs.Get(ctx)
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

// look asks for one job by name.
func (c *Client) look(ctx context.Context, id string) (d owned, err error) {
	err = c.do(ctx, jobCall(http.MethodGet, id, "", "look up a training"), func(r io.Reader) error {
		d, err = decodeOwned(r)
		return err
	})
	return d, err
}

// lost says why an attempt is gone. Ray must answer as Ray once more: a proxy before a restarting head says 404 as well.
func (c *Client) lost(ctx context.Context, h rayjob.Handle) (rayjob.Observation, error) {
	v, err := c.readVersion(ctx)
	if err != nil {
		return rayjob.Observation{}, err
	}
	reason := "the Ray cluster no longer knows the training: its entry was deleted"
	if h.Session != "" && v.Session != h.Session {
		reason = "the Ray cluster was restarted and has forgotten the training"
		c.version.Forget() // what is submitted now belongs to the new session
	}
	return rayjob.Observation{Verdict: rayjob.Lost, Reason: reason}, nil
}

// poll lists all jobs once, for everybody. Reasons are taken over from the listing before, since Ray tells them again and
// again with the whole end of each log.
func (c *Client) poll(ctx context.Context, before map[string]rayjob.Observation) (map[string]rayjob.Observation, error) {
	jobs := map[string]rayjob.Observation{}
	err := c.do(ctx, call{method: http.MethodGet, path: "/api/jobs/", what: "list its jobs"}, func(r io.Reader) error {
		limited := &io.LimitedReader{R: r, N: maxListing}
		err := decodeListing(limited, func(d details) {
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
	c.noteTrouble(ctx, err)
	return jobs, err
}

// noteTrouble logs when the cluster stops and begins again to answer, and not every time that it does not.
func (c *Client) noteTrouble(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	text := ""
	if err != nil {
		text = err.Error()
	}
	c.mu.Lock()
	before := c.trouble
	c.trouble = text
	c.mu.Unlock()
	setting, isSetting := errors.AsType[*rayjob.SettingError](err)
	switch {
	case text == before:
	case isSetting:
		c.log.Error("Ray cannot be used, the jobs wait", zap.String("setting", setting.Setting), zap.Error(err))
	case err != nil:
		c.log.Warn("Ray cannot be asked, the jobs wait", zap.Error(err))
	default:
		c.log.Info("Ray answers again", zap.String("address", c.address))
	}
}

// judge is details.judge with one warning for each status that is not known.
func (c *Client) judge(d details) rayjob.Observation {
	obs, known := d.judge()
	if known {
		return obs
	}
	if status := rayjob.OneLine(d.Status, 40); c.warned.First(status) {
		c.log.Warn("Ray reports a status that is not known here, waiting on", zap.String("status", status), zap.String("ray_job", rayjob.OneLine(d.SubmissionID, 80)))
	}
	return obs
}
