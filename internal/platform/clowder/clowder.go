package clowder

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/ability"
	"github.com/ncsa/clowder-ray/internal/clowder/connect"
	"github.com/ncsa/clowder-ray/internal/clowder/versions"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/platform/clowder/label"
	"github.com/ncsa/clowder-ray/internal/platform/ignore"
	"github.com/ncsa/clowder-ray/internal/registry"
	"github.com/ncsa/clowder-ray/internal/text"
)

// Platform is the platform of Clowders of all versions: it acts with the rights of the user whose key came with the job.
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
func (c *Platform) session(rec job.Record) (versions.Session, error) {
	return versions.Of(rec.Request.APIVersion).At(c.client, rec.Request.Host, rec.SecretKey)
}

// jobs shows the user of the job what the Clowder of the job lists. The error about a Clowder that lists no jobs is permanent.
func (c *Platform) jobs(rec job.Record) (jobs, error) {
	s, err := c.session(rec)
	if err != nil {
		return nil, err
	}
	shown, ok := s.(jobs)
	if !ok {
		return nil, job.Permanent(errors.New("this Clowder does not list jobs"))
	}
	return shown, nil
}

// Abilities are those of the version of Clowder that sent the request.
func (c *Platform) Abilities(req job.Request) ability.Set { return versions.Of(req.APIVersion).Set }

// Origin is the setting with the address of the Clowder that sent the request, and the host in the request.
func (c *Platform) Origin(req job.Request) (configured, named string) {
	return c.client.Configured(versions.Of(req.APIVersion).Number), connect.Address(req.Host)
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
func (c *Platform) Stage(ctx context.Context, rec job.Record, dir disk.Folder, say platform.Say) ([]job.Input, []job.NotRead, error) {
	s, err := c.session(rec)
	if err != nil {
		return nil, nil, err
	}
	dataset, err := checkRights(ctx, s, rec.Request.DatasetID)
	if err != nil {
		return nil, nil, err
	}
	if err := noteLicence(ctx, s, dataset, say.Note); err != nil {
		return nil, nil, err
	}
	listed, err := s.List(ctx, rec.Request.DatasetID)
	if err != nil {
		return nil, nil, err
	}
	chosen, err := c.chosenOf(ctx, s, rec, slices.Clone(listed.Files))
	if err != nil {
		return nil, nil, err
	}
	files, results := listed.Files, resultsAmong(listed.Files)
	var ignored *ignore.Files
	var late []job.NotRead
	if readsDataset(rec) {
		if ignored, err = ignoredOf(ctx, s, files, dir); err != nil {
			return nil, nil, err
		}
		late = lateOf(listed.Arriving, results, ignored)
	}
	gone, err := goneOf(rec, listed.Gone)
	if err != nil {
		return nil, nil, err
	}
	if files, err = inputsOf(rec, files, results, ignored, say.Note); err != nil {
		return nil, nil, err
	}
	files = chosen.add(files)
	if err := checkLicence(ctx, s, files); err != nil {
		return nil, nil, err
	}
	var total int64
	for _, f := range files {
		total += f.Size
	}
	say.Passing(fmt.Sprintf("Downloading %s (%s)", text.Count(len(files), "file"), text.Bytes(total)))
	last := time.Now()
	inputs, err := s.Stage(ctx, files, dir, func(p clowder.Progress) {
		if time.Since(last) >= stageNews {
			last = time.Now()
			say.Passing(fmt.Sprintf("Downloaded %d of %s (%s of %s)", p.Files, text.Count(p.TotalFiles, "file"),
				text.Bytes(p.Bytes), text.Bytes(p.TotalBytes)))
		}
	})
	inputs, deleted, err := withoutGone(rec, chosen.chosen, inputs, err)
	chosen.tell(inputs)
	return inputs, slices.Concat(late, gone, deleted), err
}

// Label gives the files the labels that Clowder has, if the settings of the job ask for that.
func (c *Platform) Label(ctx context.Context, rec job.Record, inputs []job.Input, say func(string)) error {
	if rec.Settings.LabelFrom == "" {
		return nil
	}
	s, err := c.session(rec)
	if err != nil {
		return err
	}
	return label.Give(ctx, s, rec, c.extractors.Names(), inputs, say)
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

// starter returns the e-mail address of the user who started another job of the same dataset, empty if nothing tells it. A Clowder that shows
// no jobs says it in the message of the job only.
func (c *Platform) starter(ctx context.Context, rec, other job.Record) (string, error) {
	switch {
	case !c.Abilities(other.Request).ShowsJobs:
		return strings.Join(other.Request.Notifies, ", "), nil
	case other.Request.JobID == "":
		return "", nil
	}
	shown, err := c.jobs(rec)
	if err != nil {
		return "", err
	}
	j, err := shown.Job(ctx, other.Request.JobID)
	if clowder.StatusOf(err) == http.StatusNotFound {
		return "", nil
	}
	return j.Creator.Email, err
}

// Known reads the job in Clowder. Nothing is known of a job of a Clowder that shows no jobs.
func (c *Platform) Known(ctx context.Context, rec job.Record) (platform.Known, error) {
	if rec.Request.JobID == "" || !c.Abilities(rec.Request).ShowsJobs {
		return platform.Known{}, nil
	}
	shown, err := c.jobs(rec)
	if err != nil {
		return platform.Known{}, err
	}
	j, err := shown.Job(ctx, rec.Request.JobID)
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
