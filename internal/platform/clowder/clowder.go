package clowder

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/ncsa/clowder-ray/internal/clowder"
	v1 "github.com/ncsa/clowder-ray/internal/clowder/v1"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/platform/ignore"
	"github.com/ncsa/clowder-ray/internal/registry"
	"github.com/ncsa/clowder-ray/internal/text"
)

// Platform is the platform of a Clowder of either version: it acts with the rights of the user whose key came with the job.
type Platform struct {
	client     *clowder.Client
	extractors platform.Extractors
	arrivals   arrivals
}

var _ platform.Platform = (*Platform)(nil)

// New returns the platform behind client.
func New(client *clowder.Client, extractors platform.Extractors) *Platform {
	return &Platform{client: client, extractors: extractors}
}

// session speaks for the user of the job with the Clowder that the job came from.
func (c *Platform) session(rec job.Record) (session, error) {
	if rec.Request.APIVersion == 1 {
		return v1.At(c.client, rec.Request.Host, rec.SecretKey)
	}
	return c.second(rec)
}

// second is session for a job of Clowder v2. Records from the time before Clowder v1 have no version or version 2.
func (c *Platform) second(rec job.Record) (*clowder.Session, error) {
	if rec.Request.APIVersion == 1 {
		return nil, job.Permanent(errors.New("Clowder v1 does not list jobs")) //nolint:staticcheck // a name
	}
	return c.client.At(rec.Request.Host, rec.SecretKey)
}

// Address is the configured address, or the one that the message names where it is one of those that are served.
func (c *Platform) Address(rec job.Record) (string, error) {
	s, err := c.session(rec)
	if err != nil {
		return "", err
	}
	return s.Address(), nil
}

// stageNews is the time between two statuses about a long download.
const stageNews = 10 * time.Second

// Stage downloads the files of the dataset.
func (c *Platform) Stage(ctx context.Context, rec job.Record, dir disk.Folder, say func(string)) ([]job.Input, error) {
	s, err := c.session(rec)
	if err != nil {
		return nil, err
	}
	files, err := s.Files(ctx, rec.Request.DatasetID)
	if err != nil {
		return nil, err
	}
	var ignored *ignore.Files
	if readsDataset(rec) {
		if ignored, err = ignoredOf(ctx, s, files, dir); err != nil {
			return nil, err
		}
	}
	if files, err = inputsOf(rec, files, ignored, say); err != nil {
		return nil, err
	}
	var total int64
	for _, f := range files {
		total += f.Size
	}
	say(fmt.Sprintf("Downloading %s (%s)", text.Count(len(files), "file"), text.Bytes(total)))
	last := time.Now()
	inputs, err := s.Stage(ctx, files, dir, func(p clowder.Progress) {
		if time.Since(last) >= stageNews {
			last = time.Now()
			say(fmt.Sprintf("Downloaded %d of %s (%s of %s)", p.Files, text.Count(p.TotalFiles, "file"),
				text.Bytes(p.Bytes), text.Bytes(p.TotalBytes)))
		}
	})
	if err != nil || c.extractors.Of(rec.Request).Kind != platform.Train {
		return inputs, err
	}
	return inputs, addLabels(ctx, s, rec.Settings.LabelFrom, inputs, dir, say)
}

// User asks Clowder whose key came with the job.
func (c *Platform) User(ctx context.Context, rec job.Record) (string, error) {
	s, err := c.session(rec)
	if err != nil {
		return "", err
	}
	return s.CheckKey(ctx)
}

// MayRead asks Clowder with the user's own key.
func (c *Platform) MayRead(ctx context.Context, rec job.Record, dataset string) (bool, error) {
	if dataset == registry.Local {
		return false, nil
	}
	s, err := c.session(rec)
	if err != nil {
		return false, err
	}
	_, err = s.Dataset(ctx, dataset)
	switch clowder.StatusOf(err) {
	case http.StatusForbidden, http.StatusNotFound:
		return false, nil
	default:
		return err == nil, err
	}
}

// CanManage asks Clowder who started the other job, and what the user of rec may do with the dataset.
func (c *Platform) CanManage(ctx context.Context, rec, other job.Record) (string, error) {
	s, err := c.session(rec)
	if err != nil {
		return "", err
	}
	me, err := s.CheckKey(ctx)
	if err != nil {
		return "", err
	}
	starter := "another user"
	if by, err := c.starter(ctx, rec, other); err != nil {
		return "", err
	} else if by != "" {
		starter = by
	}
	if starter == me {
		return me, nil
	}
	role, err := s.Role(ctx, rec.Request.DatasetID)
	if err != nil || role.CanEdit() {
		return me, err
	}
	return "", job.Permanent(fmt.Errorf("run %s was started by %s: only its owner and editors of the dataset may manage it", other.Run, starter))
}

// starter returns the e-mail address of the user who started another job of the same dataset, empty if nothing tells it. Clowder v1 says it
// in the message of the job only.
func (c *Platform) starter(ctx context.Context, rec, other job.Record) (string, error) {
	switch {
	case other.Request.APIVersion == 1:
		return strings.Join(other.Request.Notifies, ", "), nil
	case other.Request.JobID == "":
		return "", nil
	}
	s, err := c.second(rec)
	if err != nil {
		return "", err
	}
	j, err := s.Job(ctx, other.Request.JobID)
	if clowder.StatusOf(err) == http.StatusNotFound {
		return "", nil
	}
	return j.Creator.Email, err
}

// Known reads the job in Clowder. Clowder v1 shows the statuses of a job to nobody but the readers of its pages.
func (c *Platform) Known(ctx context.Context, rec job.Record) (platform.Known, error) {
	if rec.Request.JobID == "" || rec.Request.APIVersion == 1 {
		return platform.Known{}, nil
	}
	s, err := c.second(rec)
	if err != nil {
		return platform.Known{}, err
	}
	j, err := s.Job(ctx, rec.Request.JobID)
	if err != nil {
		return platform.Known{}, err
	}
	switch j.Status {
	case "SUCCEEDED", "ERROR", "SKIPPED":
		return platform.Known{Started: true, Ended: true}, nil
	case "CREATED":
		return platform.Known{}, nil
	default:
		return platform.Known{Started: true}, nil
	}
}
